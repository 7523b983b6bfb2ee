"""What loops keep on lists for backward loops: taken as often as it was put there."""

import numpy as np
import pytest

from tapeless import grad, hessian, jit, vmap

X = np.array([0.5, 1.0, 0.4])
N = np.array([6, 3, 2])
M = np.array([2, 3, 1])
BOUND = np.array([10.0, -1.0, 0.1])


def ends_of_ranges_and_breaks(x, n, m, bound):
    r = 0
    while r < m:
        for _ in range(n - r):
            x = np.sin(x) + 0.1 * x * x
            if x < bound:
                break
        r = r + 1
    return x


def a_loop_that_all_make_in_one_that_they_do_not(x, n, m, bound):
    y = np.array([x, x * x])
    for _ in range(m):
        k = 0
        while True:
            k += 1
            if k >= 4:
                break
            y = np.sin(np.cos(y))
    return np.sum(y)


def a_branch_that_all_take_in_a_loop_that_they_do_not(x, n, m, bound):
    for _ in range(m):
        r = 0
        while r < 5:
            if r % 2 == 0:
                for _ in range(r):
                    x = np.sin(x)
            r = r + 1
    return x


PROGRAMS = [
    ends_of_ranges_and_breaks,
    a_loop_that_all_make_in_one_that_they_do_not,
    a_branch_that_all_take_in_a_loop_that_they_do_not,
]


@pytest.mark.parametrize("form", [lambda f: f, jit])
@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f, form):
    rows = list(zip(X, N, M, BOUND, strict=True))
    slopes = [(f(x + 1e-6, *rest) - f(x - 1e-6, *rest)) / 2e-6 for x, *rest in rows]
    np.testing.assert_allclose(form(vmap(grad(f)))(X, N, M, BOUND), slopes, rtol=1e-7)


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives_and_batches_of_batches(f):
    args = X, N, M, BOUND
    slope = vmap(grad(f))
    bends = (slope(X + 1e-6, N, M, BOUND) - slope(X - 1e-6, N, M, BOUND)) / 2e-6
    np.testing.assert_allclose(vmap(hessian(f))(*args), bends, rtol=1e-6)
    twice = vmap(vmap(grad(f)))(*(np.stack([a, a[::-1]]) for a in args))
    np.testing.assert_allclose(twice, np.stack([slope(*args), slope(*args)[::-1]]), rtol=1e-12)
