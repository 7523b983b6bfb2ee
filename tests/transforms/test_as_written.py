"""jit(f, fastmath=False): products, quotients and sums are computed as they are written."""

import numpy as np
import pytest

from tapeless import grad, jit

X = np.array([1e308, 1.7e-308, 3.3, -0.1, 7.7])
Y = np.array([1.9, 0.3, 1.1, 1e-5, -3.0])

FUNCTIONS = (
    lambda x, y: x * (0.5 * y),
    lambda x, y: 0.1 * (3.0 * x) * y,
    lambda x, y: 3.0 * (x / 3.0) + y,
    lambda x, y: (0.7 * x) / 0.1 - y,
    lambda x, y: x / (0.3 * y),
    lambda x, y: (x + 0.1) + 0.2 - y,
    lambda x, y: 0.1 * x + 0.7 * x + y,
    lambda x, y: (y + 0.1 * x) + 0.6 * x,
    lambda x, y: y * y**2 + x * 0.25,
    lambda x, y: 0.1 * (x * np.sum(y)),
    lambda x, y: 2.0 * (1.0 / x) * y,
)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_bits_are_those_of_numpy(f):
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(jit(f, fastmath=False)(X, Y), f(X, Y))


def test_sums_of_multiples():
    def f(x):
        total = 0.0
        for v in x:
            total += v * 0.1
        return total, np.sum(0.1 * x)

    x = np.random.default_rng(0).normal(size=7)
    found, at_once = jit(f, fastmath=False)(x)
    assert (found, at_once) == (f(x)[0], f(x)[0])


def test_derivatives_too():
    def f(x, y):
        return np.sum(x * (0.5 * y))

    with np.errstate(all="ignore"):
        exact = jit(grad(f), fastmath=False)(X, Y)
    np.testing.assert_array_equal(exact, 0.5 * Y)
