"""Products of different dtypes, sums of complex exponentials, and bounds that are met."""

import numpy as np
import pytest

import tapeless
from tapeless import lax

ROWS = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("a", "b", "made"),
    [("f4", "f8", "f8"), ("i8", "f4", "f4"), ("i4", "i8", "i8"), ("c8", "f4", "c8")],
)
def test_products_take_the_dtype_that_jax_takes(a, b, made):
    x, y = ROWS.astype(a), ROWS.T.astype(b)
    found = tapeless.vmap(lambda x: lax.dot(x, y))(x)
    assert found.dtype == lax.dot(x, y).dtype == made
    np.testing.assert_allclose(found, ROWS @ ROWS.T)


def test_cumlogsumexp_of_complex_numbers():
    z = np.array([1 + 2j, 0.3 - 1j, 2])
    expected = np.log(np.cumsum(np.exp(z)))  # imaginary parts from -pi to pi
    np.testing.assert_allclose(lax.cumlogsumexp(z), expected)
    _, found = tapeless.jvp(lax.cumlogsumexp, (z,), (np.array([1, 1j, 0]),))
    slope = np.cumsum(np.exp(z) * np.array([1, 1j, 0])) / np.cumsum(np.exp(z))
    np.testing.assert_allclose(found, slope)


@pytest.mark.parametrize(
    ("at", "slopes"),
    [
        ((1.0, 1.0, 2.0), (0, 0, 0)),
        ((1.0, 2.0, 2.0), (0, 0, 0)),
        ((1.0, 1.5, 2.0), (0, 1, 0)),
        ((2.0, 1.0, 2.0), (1, 0, 0)),
        ((1.0, 3.0, 2.0), (0, 0, 1)),
    ],
)
def test_the_derivative_of_clamp_is_that_of_jax(at, slopes):
    assert tapeless.grad(lambda a, x, b: lax.clamp(a, x, b), (0, 1, 2))(*at) == slopes
