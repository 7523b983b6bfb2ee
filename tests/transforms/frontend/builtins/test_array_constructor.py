"""`np.ndarray(shape, dtype)` makes an array to be filled, as np.empty does."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap

X = np.linspace(0.5, 1.5, 12).reshape(4, 3)
BYTES = np.array([1.0, 2.0, 3.0]).tobytes()


def energies(x, n):
    e = np.ndarray(n + 1, dtype=np.float64)
    e[0] = np.sum(x)
    for i in range(n):
        e[i + 1] = np.sum(x * i)
    return e


def columns(x, n):
    c = np.ndarray(x.shape, x.dtype)
    c[:, 0] = x[:, 0]
    for k in range(1, x.shape[1]):
        c[:, k] = x[:, k] * n + c[:, k - 1]
    return c


def of_integers(x, n):
    k = np.ndarray((3,), dtype=int)
    k[:] = n
    return k * x


def by_columns(x, n):
    c = np.ndarray(shape=x.shape, order="F")
    c[...] = x * n
    return c


def of_constants(x, n):
    table = np.ndarray((2,), buffer=BYTES, offset=8)
    return x * table[0] + isinstance(x, np.ndarray) * n


@pytest.mark.parametrize("function", [energies, columns, of_integers, by_columns, of_constants])
def test_values(function):
    wanted = function(X, 3)
    for got in (jit(function)(X, 3), vmap(function, (0, None))(X[None], 3)[0]):
        np.testing.assert_array_equal(got, wanted)
        assert got.dtype == wanted.dtype
    slope = grad(lambda x: np.sum(function(x, 3) ** 2))(X)
    step = 1e-6 * np.ones_like(X)
    ends = (np.sum(function(X + s * step, 3) ** 2) for s in (1, -1))
    assert np.isclose(np.sum(slope * step), (next(ends) - next(ends)) / 2, rtol=1e-6)
