"""Means of what a mask selects, where that is nothing."""

import numpy as np
import pytest

from tapeless import grad, jit, value_and_grad, vmap


@pytest.mark.parametrize("f", [np.mean, np.var, np.std, np.average, np.median])
@pytest.mark.parametrize("form", [lambda f: f, jit])
@pytest.mark.filterwarnings("ignore")
def test_the_derivative_of_nothing_is_zero(f, form):
    value, slope = form(value_and_grad(lambda x: f(x[x > 5])))(np.array([1.0, -2.0, 3.0]))
    assert np.isnan(value)
    np.testing.assert_array_equal(slope, np.zeros(3))
    value, slope = form(value_and_grad(lambda x: f(x[x > 0])))(np.array([1.0, -2.0, 3.0]))
    assert value == f(np.array([1.0, 3.0]))
    assert slope[1] == 0


@pytest.mark.parametrize("dtype", [float, np.float32, int, np.uint8])
@pytest.mark.parametrize("bound", [0, 2, 5])
def test_a_histogram_of_nothing_is_from_0_to_1(dtype, bound):
    x = np.array([1, 4, 3, 3], dtype)

    def f(x):
        return np.histogram(x[x > bound], bins=4)

    for form in (jit(f), lambda x: [part[0] for part in vmap(f)(x[None])]):
        for actual, expected in zip(form(x), f(x), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-6)
            assert actual.dtype == expected.dtype


def test_edges_of_a_histogram_have_a_derivative():
    def last_edges(x):
        return np.sum(np.histogram(x[x > 2], bins=4)[1][3:])

    x = np.array([1.0, 4.0, 3.0, 3.5])
    np.testing.assert_allclose(grad(last_edges)(x), [0, 1.75, 0.25, 0])
    np.testing.assert_array_equal(grad(last_edges)(x - 5), np.zeros(4))
