"""Minima of functions whose minima are known."""

import numpy as np
import pytest

from tapeless import grad, vmap
from tapeless.scipy.optimize import minimize
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def quartic(x, a, b):
    return np.sum((x - a) ** 4 + b * (x - a) ** 2)


@pytest.mark.parametrize(
    ("fun", "start", "place"),
    [
        (rosenbrock, [-1.2, 1.0], [1.0, 1.0]),
        (rosenbrock, [0.0] * 5, [1.0] * 5),
        (himmelblau, [1.0, 1.0], [3.0, 2.0]),
        (lambda x: np.sum((x + 1) ** 2), [5.0], [-1.0]),
    ],
)
def test_minima(fun, start, place):
    found = minimize(fun, np.array(start), method="BFGS")
    np.testing.assert_allclose(found.x, place, atol=1e-5)
    assert found.success
    assert found.status == 0
    assert np.abs(found.jac).max() <= 1e-5
    np.testing.assert_allclose(found.jac, grad(fun)(found.x))
    assert 0 < found.nit <= found.nfev == found.njev


def test_arguments_and_options():
    found = minimize(quartic, np.zeros(2), (np.array([1.0, 2.0]), 3.0), method="bfgs", tol=1e-9)
    np.testing.assert_allclose(found.x, [1.0, 2.0], atol=1e-9)
    np.testing.assert_allclose(found.hess_inv @ np.ones(2), np.ones(2) / 6, rtol=0.2)
    short = minimize(rosenbrock, np.zeros(5), method="BFGS", options={"maxiter": 2})
    assert (short.status, short.nit, bool(short.success)) == (1, 2, False)


def test_a_function_without_a_minimum():
    found = minimize(lambda x: x[0], np.zeros(1), method="BFGS")
    assert not found.success
    assert found.status == 5


def test_inside_of_transformations():
    def place(a):
        return minimize(quartic, np.zeros(2), (a, 1.0), method="BFGS").x

    starts = np.array([[1.0, 2.0], [-3.0, 0.5]])
    np.testing.assert_allclose(vmap(place)(starts), starts, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: minimize(rosenbrock, np.zeros(2), method="CG"), ArgumentError, "'BFGS'"),
        (
            lambda: minimize(rosenbrock, np.zeros(2), 3.0, method="BFGS"),
            ArgumentTypeError,
            "must be a tuple",
        ),
        (lambda: minimize(rosenbrock, 1.0, method="BFGS"), ArgumentError, "must have one axis"),
        (
            lambda: minimize(rosenbrock, np.zeros(2), method="BFGS", options={"xtol": 1}),
            ArgumentError,
            "no option 'xtol'",
        ),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
