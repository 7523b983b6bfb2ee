"""jet: derivatives along curves, by the chain rule of higher order."""

import numpy as np
import pytest

import tapeless
from tapeless.experimental.jet import jet


def test_three_orders():
    x, v, a, b = 0.5, 1.2, -0.3, 0.7
    y, found = jet(lambda x: np.exp(2 * x), (x,), ((v, a, b),))
    expected = [2 * v, 4 * v**2 + 2 * a, 8 * v**3 + 12 * v * a + 2 * b]  # of Faa di Bruno
    np.testing.assert_allclose(y, np.exp(1.0))
    np.testing.assert_allclose(found, np.exp(1.0) * np.array(expected))
    coefficients = jet(lambda x: np.exp(2 * x), (x,), ((v, a / 2, b / 6),), factorial_scaled=False)
    np.testing.assert_allclose(np.array(coefficients[1]) * [1, 2, 6], found)


def test_trees_of_several_arguments_also_compiled():
    def f(x, y):
        return {"product": x * y, "sum": np.sum(x)}

    def second(x, y):
        return jet(f, (x, y), ((x, x), (1.0, 0.0)))[1]["product"][1]

    x = np.array([0.5, 2.0])
    np.testing.assert_allclose(second(x, 3.0), 3 * x + 2 * x)
    with tapeless.disable_jit():
        np.testing.assert_allclose(tapeless.jit(second)(x, 3.0), 5 * x)
    np.testing.assert_allclose(tapeless.grad(lambda y: np.sum(second(x, y)))(3.0), 2.5)


def test_terms_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="as many terms"):
        jet(np.add, (1.0, 2.0), ((1.0,), (1.0, 0.0)))
