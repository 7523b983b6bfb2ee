"""Variables that stand for one array or another, by data: a store goes where NumPy puts it."""

import numpy as np

from tests.corpus import program

UP, DOWN = np.array([0.7, -0.4, 1.3]), np.array([-0.7, 0.4, -1.3])
SQUARE = np.array([[0.3, -0.8, 1.1], [0.9, 0.4, -0.6], [-1.2, 0.7, 0.5]])


@program(DOWN)
@program(UP)
def alias_or_copy(x):
    if x[0] > 0:
        y = x
    else:
        y = x.copy()
    y[0] = x[2] ** 2
    return x * x * y


@program(DOWN)
@program(UP)
def one_row_or_another(x):
    m = np.outer(x, x)
    row = m[1] if x[0] > 0 else m[2]
    row[0] = x[2] ** 2
    row *= x[1]
    return m


@program(DOWN)
@program(UP)
def one_part_or_another(x):
    y = 2 * x
    part = y[1:] if x[0] > 0 else y[:-1]
    part[0] = x[2] ** 2
    return y * y


@program(DOWN)
@program(UP)
def names_share_on_one_side(x):
    if x[0] > 0:
        a = x * 2
        b = a[1:]
    else:
        a = x * 3
        b = x[1:] * 1.0
    b[0] = 5 * x[0]
    return np.sum(a * x) + b[1]


@program(DOWN)
@program(UP)
def nested_choices(x):
    a, b = x * 1, x * 2
    if x[0] > 0:
        t = a if x[1] > 0 else b * 3
        u = t
    else:
        t, u = b, a
    t[0] = x[1] * 7
    u[1] += t[0]
    return np.sum(a * b * x) + np.sum(t * u)


@program(DOWN)
@program(UP)
def set_on_one_side(x):
    y = x * 1.0
    if x[0] > 0:
        w = y
    if x[0] > 0:
        w[0] = 5.0 * x[1]
    return y * y


@program(DOWN, 3)
@program(UP, 3)
def copied_in_some_passes(x, n):
    v = x
    w = v
    for i in range(n):
        if x[i] > 0.5:
            v = v.copy()
        else:
            v[i] = x[0] * 2
    return v * v + w


@program(UP, 3)
def target_of_each_pass(x, n):
    a, b = x * 1, x * 2
    for i in range(n):
        t = a if x[i] > 0 else b
        t[0] += x[1]
        t[1] *= 2
    return a * b * x


@program(UP, 4)
def copied_in_a_while_loop(x, n):
    a = x * 1
    b = a
    k = 0
    while k < n and a[0] < 10:
        a[0] += b[1] ** 2
        if x[1] < 0 and k == 1:
            a = a.copy()
        b[2] *= 1.1
        k += 1
    return a * b * x


@program(UP)
def loop_rebinds_what_it_runs_over(x):
    v = x
    for k, e in enumerate(v):
        v[v > 0.3] += e
        if e < 0:
            v = np.sin(v)
        v[k] *= 1.5
    return v


@program(SQUARE)
def last_row_of_a_loop(m):
    m = m * 1.0
    for weight, row in zip(m[0], m, strict=True):
        pass
    row[0] = weight**2
    return m * m


@program(SQUARE)
def rows_in_a_list_are_written(m):
    m = m * 1.0
    rows = []
    for row in m:
        rows.append(row)
    rows[1][0] = 3 * m[0, 0]
    for row in rows:
        row *= m[2, 2]
    return m * m


@program(SQUARE, 3)
def list_of_arrays_by_data(m, n):
    a, b = m[0] * 1, m[1] * 2
    both = [a, b]
    for i in range(n):
        if m[2, i] > 0.6:
            both[0] = both[1]
        both[0][1] += m[2, i]
    return np.sum(a * b) + np.sum(both[0] ** 2)


@program(UP, 0)
@program(UP, 2)
def alias_until_the_loop_runs(x, n):
    y = x * 1
    z = y
    for _ in range(n):
        y = y * 2
    y[0] = 3 * x[1]
    return z * z + y


@program(SQUARE, 3)
def view_of_itself_in_a_loop(m, n):
    m = m.copy()
    for i in range(n):
        for _ in range(2):
            m = m[::1]
        m[i] = m[i - 1] ** 2
    return m


@program(DOWN)
@program(UP)
def stored_by_ufunc_and_add_at(x):
    a, b = x * 1, x * 2
    t = a if x[0] > 0 else b
    np.multiply(t, x[1], out=t)
    np.add.at(t, [0, 0, 2], x[2])
    t.T[...] += a
    return a * b


@program(0.3, 3, wrt=(0,))
def a_loop_gives_another_list(x, n):
    """After a pass `c` is `b`, so that a store to one is seen in the other."""
    b, c = [x * 3, x], [x, x * x]
    for _ in range(n):
        c = b
    c[0] = 2 * x * x
    return b[0] + 10 * c[0] + 100 * c[1]


@program(0.3, 0, wrt=(0,))
def a_loop_of_no_passes_gives_no_other_list(x, n):
    b, c = [x * 3, x], [x, x * x]
    for _ in range(n):
        c = b
    c[0] = 2 * x * x
    return b[0] + 10 * c[0] + 100 * c[1]
