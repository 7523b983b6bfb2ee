"""Functions that Numba compiles are entered as the Python code that they are made of."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap

numba = pytest.importorskip("numba")
X = np.array([0.5, 1.5, -2.0])


@numba.njit
def square(x):
    return x * x


@numba.njit(parallel=True)
def total(a, start=1.0):
    for i in numba.prange(len(a)):
        start += square(a[i])
    return start


@numba.vectorize
def bent(x, y):
    return x * y + 1 if x > 1 else y


def test_they_are_staged_alone_and_inside_of_others():
    assert jit(square)(3.0) == 9.0
    assert jit(lambda x: square(x) + 1)(3.0) == 10.0
    assert jit(total)(X) == total(X)
    assert jit(lambda x: total(x, start=2.0))(X) == total(X, 2.0)
    assert "for i in range(" in jit(total).source(X)


def test_derivatives_and_batches():
    np.testing.assert_allclose(grad(total)(X), 2 * X)
    np.testing.assert_allclose(jit(grad(total))(X), 2 * X)
    np.testing.assert_allclose(vmap(square)(X), X**2)


def test_what_goes_over_elements():
    np.testing.assert_array_equal(jit(lambda x: bent(x, 2.0))(X), bent(X, 2.0))
    np.testing.assert_array_equal(grad(lambda x: np.sum(bent(x, 2.0)))(X), [0.0, 2.0, 0.0])
