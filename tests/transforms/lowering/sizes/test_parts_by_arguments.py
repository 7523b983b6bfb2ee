"""Lengths of parts that integer arguments say: a derivative reads the parts to which its function
stores, and all of its loops are kernels."""

import warnings

import numpy as np
import pytest

from tapeless import grad, jit

X = np.linspace(0.5, 2.0, 49).reshape(7, 7)


def columns(x, n):
    y = np.zeros(x.shape)
    for j in range(1, n - 1):
        y[1 : n - 1, j] = 0.5 * y[1 : n - 1, j - 1] + x[j, 2:n] / x[1 : n - 1, j]
    return np.sum(y**2)


def rows_downwards(x, n):
    y = x.copy()
    for i in range(n - 2, 0, -1):
        y[i, 1 : n - 1] = np.sin(x[i, 1 : n - 1]) * y[i + 1, 1 : n - 1]
    return np.sum(y)


def swept_in_place(x, n):
    x = x * 1.0
    for _ in range(3):
        for j in range(1, n - 1):
            x[0 : n - 2, j] = x[1 : n - 1, j] * x[0 : n - 2, j - 1]
    return np.sum(x)


def of_two_lengths(x, n, m):
    y = np.zeros(x.shape)
    for _ in range(2):
        y[1:n, 2:m] = y[1:n, 2:m] * x[1:n, 2:m] + x[0 : n - 1, 0 : m - 2]
    return np.sum(y)


def every_second(x, n):
    y = np.zeros(x.shape)
    for j in range(1, n):
        y[1:n:2, j] += x[1:n:2, j] * x[1:n:2, j - 1] + y[1:n:2, j - 1]
    return np.sum(y)


CASES = {
    "columns": (columns, (7,)),
    "columns of a corner": (columns, (5,)),
    "rows": (rows_downwards, (7,)),
    "in place": (swept_in_place, (6,)),
    "two lengths": (of_two_lengths, (6, 5)),
    "steps": (every_second, (7,)),
}


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_kernels(case):
    f, sizes = CASES[case]
    slope = jit(grad(f))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = slope(X.copy(), *sizes)
    np.testing.assert_allclose(got, by_differences(f, sizes), rtol=1e-6, atol=1e-7)
    assert "Python: loop" not in str(slope.explain(X, *sizes))


def test_other_lengths_later():
    slope = jit(grad(columns))
    slope(X.copy(), 7)
    np.testing.assert_allclose(slope(X, 4), by_differences(columns, (4,)), rtol=1e-6, atol=1e-7)
    with pytest.raises((IndexError, ValueError)):
        slope(X, 9)
    with pytest.raises((IndexError, ValueError)):
        columns(X, 9)


def by_differences(f, sizes, step=1e-6):
    slopes = np.empty(X.shape)
    for at in np.ndindex(X.shape):
        above, below = X.copy(), X.copy()
        above[at] += step
        below[at] -= step
        slopes[at] = (f(above, *sizes) - f(below, *sizes)) / (2 * step)
    return slopes
