"""Linear recurrences: what running products change by, in linear time and exact beside zeros."""

import numpy as np
import pytest

from tapeless import grad, hessian, jit, jvp, vmap

RNG = np.random.default_rng(0)
LINES = {
    "one line": (RNG.normal(size=7), 0),
    "rows": (RNG.normal(size=(3, 5)), 1),
    "columns": (RNG.normal(size=(3, 5)), 0),
    "inner axis": (RNG.normal(size=(2, 4, 3)), 1),
    "zeros": (np.array([[2.0, 0.0, 3.0, 0.0, 1.5], [0.0, 1.0, 2.0, 3.0, 4.0]]), 1),
    "one element": (np.array([[2.0], [3.0]]), 1),
}


def weighted(axis):
    def f(x):
        y = np.cumprod(x, axis=axis)
        return np.sum(y * np.cos(np.arange(y.size)).reshape(y.shape))

    return f


def by_differences(f, x, step=1e-5):
    slope = np.empty_like(x)
    for k in np.ndindex(x.shape):
        moved = [x.copy() for _ in range(2)]
        moved[0][k] += step
        moved[1][k] -= step
        slope[k] = (f(moved[0]) - f(moved[1])) / (2 * step)
    return slope


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("compiled", [False, True])
def test_gradient_of_running_products(name, compiled):
    x, axis = LINES[name]
    f = weighted(axis)
    slope = (jit(grad(f)) if compiled else grad(f))(x)
    np.testing.assert_allclose(slope, by_differences(f, x), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["one line", "zeros"])
def test_second_derivative(name):
    x, axis = LINES[name]
    f = weighted(axis)
    rows = hessian(f)(x).reshape(x.size, x.size)
    for k in range(x.size):
        slope = by_differences(lambda z, k=k: grad(f)(z).ravel()[k], x).ravel()
        np.testing.assert_allclose(rows[k], slope, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(rows, rows.T, rtol=1e-10, atol=1e-12)


def test_batch():
    x = RNG.normal(size=(4, 6))
    each = vmap(lambda row: jvp(np.cumprod, (row,), (np.ones(6),))[1])(x)
    np.testing.assert_allclose(each, [jvp(np.cumprod, (r,), (np.ones(6),))[1] for r in x])


def test_no_elements():
    assert grad(weighted(0))(np.empty(0)).shape == (0,)
    assert jit(grad(weighted(1)))(np.empty((3, 0))).shape == (3, 0)


def test_what_is_not_used_does_not_spoil_the_slope():
    x = np.array([np.inf, 2.0, 3.0])
    moved = jit(lambda x: jvp(np.cumprod, (x,), (np.array([0.0, 0.0, 0.0]),))[1])(x)
    assert moved[0] == 0.0


def test_time_and_memory_are_linear():
    """A table of all products but one would have 4e10 numbers."""
    x = 1 + 1e-6 * RNG.normal(size=200_000)
    slope = jit(grad(lambda x: np.sum(np.cumprod(x))))(x)
    np.testing.assert_allclose(slope[-1], np.prod(x[:-1]), rtol=1e-9)
    np.testing.assert_allclose(slope[0], np.sum(np.cumprod(x)) / x[0], rtol=1e-9)
