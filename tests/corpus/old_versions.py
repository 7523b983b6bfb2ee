"""What an array held before a store, read after it: under the name of a copy that copies nothing
but numbers, in rows that hold several values, and where a loop returns what it overwrites."""

import numpy as np

from tests.corpus import program, uniform


@program(uniform(4))
def doubled_from_a_copy_by_a_product(x):
    s = 0.0
    for i in range(len(x)):
        old = x * 1.0
        x[i] = 2.0 * old[i]
        s += old[i] * x[i]
    return s


@program(uniform(4))
def zeroed_one_by_one(x):
    u, s = x, 0.0
    for i in range(3):
        un = u + 0
        un[i] = 0.0
        s += u[i] ** 2
        u = un
    return s


@program(uniform(4))
def read_of_the_array_around_an_inner_loop(x):
    a, s = x * 1.0, 0.0
    for _ in range(2):
        b = a + 0
        for j in range(len(x)):
            b[j] = b[j] * 0.5 + a[(j + 1) % len(x)]
            s += a[j] * b[j]
        a = b
    return s + np.sum(a**2)


@program(uniform(5))
def jacobi_beside_gauss_seidel(x):
    u = x - 0
    for _ in range(3):
        old = u * 1
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (old[i - 1] * old[i + 1]) + old[i] ** 2 * u[i - 1]
    return np.sum(u**2)


@program(uniform(4))
def rows_of_pairs(x):
    out = np.zeros((len(x), 2))
    for t in range(len(x)):
        out[t] = x[t] ** 2, 1.0
    return np.sum(out**2)


@program(uniform(4))
def columns_of_pairs(x):
    out = np.zeros((2, len(x)))
    for t in range(len(x)):
        out[:, t] = x[t] ** 2, x[t] ** 3
    return np.sum(out**2)


@program(uniform(4))
def rows_of_powers(x):
    z = np.zeros((len(x), 3))
    for i in range(len(x)):
        z[i] = [x[i] ** k for k in range(3)]
    return np.sum(z**2)


@program(np.array([1.0, 3.0]))
def newton_in_place_with_an_early_return(x):
    x = x.copy()
    for _ in range(20):
        step = (x**3 - 2) / (3 * x**2)
        x -= 0.5 * step
        if np.max(np.abs(step)) < 0.1:
            return x
    return x


@program(np.array([1.0, 3.0]))
def gauss_seidel_with_an_early_return(b):
    x = np.zeros(len(b))
    for _ in range(20):
        old = x.copy()
        x[0] = (b[0] + x[1] * b[1]) / 4
        x[1] = (b[1] + x[0] * b[0]) / 5
        if np.linalg.norm(x - old) < 1e-3:
            return x
    return x


@program(np.array([1.0, 3.0]))
def a_search_that_must_succeed(x):
    x = x.copy()
    k = 0
    while k < 50:
        step = (x**3 - 2) / (3 * x**2)
        x -= 0.5 * step
        if np.max(np.abs(step)) < 0.1:
            return x * k
        k += 1
    raise ValueError("no convergence")


def _capped(x):
    for i in range(len(x)):
        x[i] = x[i] * 2
        if x[i] > 1.5:
            return x
    return x


@program(uniform(4))
def stores_of_a_function_that_returns_early(x):
    x = x.copy()
    y = _capped(x)
    return np.sum(y**2) + np.sum(x)


@program(uniform(2))
def one_list_for_two_names_from_the_second_pass_on(x):
    xs, ys, s = [x[0], x[1]], [x[1], x[0]], 0.0
    for t in range(5):
        xs[0] = xs[0] * 1.5
        s = s + ys[0] ** 2
        new = [xs[1] + t, xs[0]]
        ys = new
        xs = new
    return s


@program(uniform(2))
def one_list_in_two_entries_of_a_dict(x):
    state, s = {"p": [x[0], x[1]], "q": [x[1], x[0]]}, 0.0
    for t in range(4):
        state["p"][0] = state["p"][0] * 1.5
        s = s + state["q"][0] ** 2
        new = [state["p"][1] + t, state["p"][0]]
        state["p"] = new
        state["q"] = new
    return s


@program(uniform(2))
def one_list_for_a_name_and_in_another_list(x):
    p, q, s = [x[0], x[1]], [[x[1], x[0]], 1.0], 0.0
    for t in range(4):
        p[0] = p[0] * 1.5
        s = s + q[0][0] ** 2
        new = [p[1] + t, p[0]]
        q = [new, s]
        p = new
    return s
