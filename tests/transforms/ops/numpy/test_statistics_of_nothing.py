"""Means of what a mask selects, where that is nothing."""

import numpy as np
import pytest

from tapeless import jit, value_and_grad


@pytest.mark.parametrize("f", [np.mean, np.var, np.std, np.average])
@pytest.mark.parametrize("form", [lambda f: f, jit])
@pytest.mark.filterwarnings("ignore")
def test_the_derivative_of_nothing_is_zero(f, form):
    value, slope = form(value_and_grad(lambda x: f(x[x > 5])))(np.array([1.0, -2.0, 3.0]))
    assert np.isnan(value)
    np.testing.assert_array_equal(slope, np.zeros(3))
    value, slope = form(value_and_grad(lambda x: f(x[x > 0])))(np.array([1.0, -2.0, 3.0]))
    assert value == f(np.array([1.0, 3.0]))
    assert slope[1] == 0
