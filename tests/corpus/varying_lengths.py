"""Arrays that become shorter or longer from pass to pass, from call to call, from item to item."""

import numpy as np

from tests.corpus import normal, program, uniform


@program(np.linspace(0.0, 1.0, 5), 0.37)
def neville(xs, t):
    p = np.abs(xs - 0.4) ** 1.5
    for k in range(1, len(xs)):
        p = ((t - xs[k:]) * p[:-1] + (xs[:-k] - t) * p[1:]) / (xs[:-k] - xs[k:])
    return p[0] ** 2


@program(np.linspace(0.0, 1.0, 6), 0.37)
def newton_interpolation(xs, t):
    c, w = np.abs(xs - 0.3) ** 1.5, 1.0
    s = c[0]
    for k in range(1, len(xs)):
        c = (c[1:] - c[:-1]) / (xs[k:] - xs[:-k])
        w = w * (t - xs[k - 1])
        s = s + c[0] * w
    return s


@program(uniform(4, 2), 0.3)
def bezier(points, t):
    b = points.copy()
    while len(b) > 1:
        b = (1 - t) * b[:-1] + t * b[1:]
    return np.sum(b[0] ** 2)


@program(uniform(4, 2), 0.3)
def bezier_of_a_list(points, t):
    pts = [p for p in points]
    while len(pts) > 1:
        pts = [(1 - t) * a + t * b for a, b in zip(pts[:-1], pts[1:])]
    return np.sum(pts[0] ** 2)


@program(uniform(8))
def haar_wavelet(x):
    total = 0.0
    while len(x) > 1:
        a = (x[0::2] + x[1::2]) / 2
        d = (x[0::2] - x[1::2]) / 2
        total += np.sum(np.abs(d) ** 1.5)
        x = a
    return total + x[0] + np.sum(d) + np.sum(a) * len(d)


@program(uniform(3))
def doubled(x):
    y = x
    for _ in range(3):
        z = np.zeros(2 * len(y))
        z[::2] = y
        z[1::2] = np.roll(y, 1) * y
        y = z
    return np.sum(y**2)


@program(uniform(7))
def pairs_until_one_is_left(x):
    while x.shape[0] > 1:
        h = x.shape[0] // 2
        y = x[:h] * x[h : 2 * h]
        if x.shape[0] % 2:
            y = np.concatenate([y, x[-1:]])
        x = y
    return x[0]


@program(uniform(5))
def polynomial_from_roots(x):
    row, s = np.array([1.0]), 0.0
    for v in x:
        row = np.concatenate([[0.0], row]) * v + np.concatenate([row, [0.0]])
        s += row @ row
    return s


@program(np.array([3.0, 1.2, 0.5, 0.3, 0.1]))
def levinson_durbin(r):
    a, e = np.array([1.0]), r[0]
    for k in range(1, len(r)):
        reflection = -(a @ r[k:0:-1]) / e
        z = np.concatenate([a, np.zeros(1)])
        a = z + reflection * z[::-1]
        e = e * (1 - reflection**2)
    return np.sum(a**2) * e


@program(uniform(6))
def last_one_of_a_loop(x):
    for i in range(1, len(x)):
        b = x[:i] * 2
    return np.sum(b**2) + np.sum(np.ones(len(b)) * b)


@program(uniform(6))
def last_one_of_an_inner_loop(x):
    s = 0.0
    for i in range(1, len(x)):
        for j in range(i):
            b = x[j:i] * x[i]
        s += np.sum(b) * len(b)
    return s


@program(uniform(6))
def one_of_the_pass_before(x):
    s = 0.0
    for i in range(1, len(x)):
        if i > 1:
            s += np.sum(c * x[: len(c)])  # noqa: F821 (set in the pass before)
        c = x[:i] ** 2
    return s


@program(uniform(6))
def none_before_the_first_pass(x):
    before, s = None, 0.0
    for i in range(1, len(x)):
        now = x[:i] ** 2
        if before is not None:
            s += np.sum(now[: len(before)] * before)
        before = now
    return s


@program(uniform(6))
def exchanged(x):
    a, b = x, x[1:]
    for _ in range(3):
        a, b = b, a[:-1] * 2
    return np.sum(a**2) + np.sum(b**3) + np.sum(a[: len(b)] * b[: len(a)])


@program(uniform(6))
def the_longer_of_two(x):
    s = 0.0
    for i in range(1, len(x)):
        y, z = x[:i], x[i:]
        m = min(len(y), len(z))
        w = y if len(y) > len(z) else z
        s += np.sum(w[:m] * y[:m]) + w[-1] * len(w)
    return s


@program(uniform(8))
def shorter_in_two_ways(x):
    y = x
    while len(y) > 3:
        y = y[1:] * y[:-1] if len(y) % 2 else y[:-2] + y[2:]
    return np.sum(y**2)


@program(np.array([0.9, 0.1, 0.5, 0.7, 0.3, 0.8, 0.25]))
def trimmed_means(x):
    y, s = np.sort(x), 0.0
    while len(y) > 2:
        y = y[1:-1]
        s += np.mean(y) ** 2
    return s


@program(uniform(4))
def repeated_convolution(x):
    y = x
    for _ in range(3):
        y = np.convolve(y, x[:2])
    return np.sum(y**2)


# -- lists


@program(uniform(6))
def list_of_two_lengths(x):
    pts, b = [], x
    while len(b) > 2:
        c = b[1:] * b[:-1]
        pts.append(c)
        pts.append(b)
        b = c
    s = 0.0
    for p in pts:
        s += np.sum(p**2) * len(p)
    return s


@program(uniform(6))
def items_are_not_as_long_as_what_is_at_hand(x):
    pts, b = [], x
    while len(b) > 2:
        pts.append(b)
        b = b[1:] * b[:-1]
    c = pts[-1]
    return np.sum(pts[0][: len(c)] * c) + np.sum(pts[1]) * len(pts[1]) + np.sum(b)


@program(uniform(6))
def items_next_to_each_other(x):
    rows = []
    for i in range(len(x)):
        rows.append(x[: i + 1] * x[i])
    s = 0.0
    for i in range(1, len(x)):
        s += np.sum(rows[i][:-1] * rows[i - 1]) + np.sum(rows[i] * 2)
    return s


@program(uniform(5))
def joined_items(x):
    parts = [x[:2]]
    for i in range(2, len(x)):
        parts.append(np.concatenate([parts[-1], x[i : i + 1] * parts[-1][:1]]))
    return np.sum(np.concatenate(parts) ** 2)


@program(uniform(5, 2))
def joined_rows(a):
    parts = []
    for i in range(len(a)):
        parts.append(a[:i] * a[i])
    return np.vstack(parts) ** 2, np.hstack([p.sum(axis=0) for p in parts])


@program(uniform(2, 5))
def joined_columns(a):
    parts = []
    for i in range(a.shape[1]):
        parts.append(a[:, :i] * a[:, i : i + 1])
    return np.hstack(parts) ** 2, np.concatenate(parts, axis=1).sum(axis=0)


@program(uniform(6))
def work_list(x):
    q, s = [x], 0.0
    while q:
        v = q.pop()
        if len(v) > 1:
            q.append(v[: len(v) // 2] * 1.5)
            q.append(v[len(v) // 2 :] * v[0])
        else:
            s += v[0] ** 2
    return s


# -- functions


def _halves(x):
    if len(x) <= 2:
        return np.sqrt(np.sum(x**2) + 1)
    m = len(x) // 2
    return np.sqrt(_halves(x[:m]) * _halves(x[m:]) + x[0])


@program(uniform(7))
def halves(x):
    return _halves(x)


def _two_lengths(x, y):
    if len(x) < 2:
        return np.sum(x * y[: len(x)])
    return _two_lengths(x[1:] * x[:-1], y) + np.sum(x) + _two_lengths(x[2:], x[:-1])


@program(uniform(6))
def one_array_for_two_parameters(x):
    b, s = x, 0.0
    while len(b) > 3:
        s += _two_lengths(b, b)
        b = b[1:] * b[:-1]
    return s


def _fft(x):
    if len(x) == 1:
        return x
    e, o = _fft(x[::2]), _fft(x[1::2])
    w = np.cos(2 * np.pi * np.arange(len(x) // 2) / len(x))
    return np.concatenate([e + w * o, e - w * o])


@program(normal(8))
def by_halves(x):
    return _fft(x) ** 2


# -- lists whose items are replaced


def _tails(x):
    o = []
    for i in range(len(x)):
        o.append(x[i:] * x[i])
    return o


def _squares(o):
    return sum([np.sum(v**2) * (k + 1) for k, v in enumerate(o)])


@program(uniform(4))
def last_item_replaced(x):
    o = _tails(x)
    s = np.sum(o[-1])
    o[-1] = o[0] * 2.0
    return s + _squares(o)


@program(uniform(4))
def item_of_a_copied_list_replaced(x):
    o = _tails(x)
    p = list(o)
    p[-1] = p[0]
    return _squares(o) + _squares(p)


@program(uniform(4))
def items_exchanged(x):
    o = _tails(x)
    o[0], o[1] = o[1], o[0]
    return _squares(o)


@program(uniform(4))
def item_inserted_and_another_deleted(x):
    o = _tails(x)
    o.insert(1, x[:2] * x[1])
    del o[2]
    return _squares(o)


@program(uniform(4))
def items_replaced_by_the_next_ones(x):
    o = _tails(x)
    for i in range(len(x) - 1):
        o[i] = o[i + 1] * 2
    return _squares(o)


@program(uniform(4))
def kept_by_data_and_summed(x):
    out = []
    for v in x:
        if v > 0.8:
            out.append(v**2)
    return sum(out)


@program(uniform(4))
def array_of_the_present_length_in_each_pass(x):
    t = 0.0
    while len(x) > 1:
        g = np.zeros(len(x))
        for i in range(len(x)):
            g[i] = x[i] * i
        x = g[1:] + 0.2
        t += np.sum(x**2)
    return t


# -- parts of lists of unequal arrays


@program(uniform(4))
def parts_of_a_list(x):
    o = _tails(x)
    return _squares(o[1:]) + 2 * _squares(o[:-1]) + 3 * _squares(o[::2]), np.concatenate(o[::-1])


@program(uniform(4))
def neighbours_in_a_list(x):
    o, s = _tails(x), 0.0
    for a, b in zip(o, o[1:]):
        s += np.sum(a[1:] * b)
    return s


@program(uniform(4))
def first_ones_joined_at_the_end(x):
    o = _tails(x)
    while len(o) > 1:
        a, b = o.pop(0), o.pop(0)
        o.append(np.concatenate([a, b])[::2])
    return _squares(o)


@program(uniform(4))
def lists_joined_and_reversed(x):
    o = _tails(x) + _tails(x + 1)
    o.reverse()
    o.extend(_tails(x * 2))
    return _squares(o[2:])


@program(uniform(4))
def sorted_by_length(x):
    return _squares(sorted(_tails(x), key=len))


@program(uniform(8))
def wavelet_levels(x):
    out, a = [], x
    for _ in range(2):
        out.append(a[1::2] - a[::2])
        a = 0.5 * (a[::2] + a[1::2])
    out.append(a)
    return np.concatenate(out[::-1]) ** 2


@program(uniform(5))
def shortened_until_data_says(y):
    total = 0.0
    while len(y) > 1 and y[0] > 0.2:
        y = y[1:]
        total += y[0] ** 2 * len(y)
    return total


@program(uniform(5))
def returned_from_a_loop_that_shortens(y):
    total = 0.0
    while len(y) > 1:
        y = y[1:]
        if y[0] < 0.3:
            return total + y[-1]
        total += y[0] ** 2
    return total * y[0]


@program(uniform(6))
def zeros_as_long_as_what_a_mask_selects(y):
    total = 0.0
    for i in range(3):
        z = np.zeros(len(y[y > 0.3]))
        z = z + y[y > 0.3] * i
        total = total + np.sum(z**2)
    return total


@program(uniform(4))
def smallest_of_a_list_and_a_constant(x):
    total, i = 0.0, 0
    while i < 3:
        total = total + min([1.0] + [xi for xi in x * x if xi < 0.5]) ** 2 * x[i]
        i += 1
    return total


@program(uniform(5))
def stored_to_a_view_that_moves(x):
    v = x.copy()
    w = v
    while len(v) > 1:
        v = v[1:]
        v *= 0.9
    return np.sum(w * w)


@program(uniform(4, 4) + 3 * np.eye(4))
def factorised_in_a_view_that_shrinks(a):
    a = a.copy()
    b = a
    while len(b) > 1:
        b[1:, 0] /= b[0, 0]
        b[1:, 1:] -= np.outer(b[1:, 0], b[0, 1:])
        b = b[1:, 1:]
    return np.sum(a**2)


@program(uniform(3), uniform(4))
def one_of_two_that_are_not_as_long(a, b):
    a, b = a.copy(), b.copy()
    y = a if a[0] > b[-1] else b
    y *= 2
    return len(y) * np.sum(a) + np.sum(np.ones(len(y)) * y) + np.sum(b**2)


@program(uniform(8))
def halves_of_halves(x):
    parts, rest = [], x
    while np.sum(rest) > 0.5 and len(rest) > 1:
        k = len(rest) // 2
        parts.append(rest[:k])
        rest = rest[k:] * 0.9
    total = 0.0
    for i, p in enumerate(parts):
        total += np.sum(p**2) * (i + 1)
    return total
