"""Derivatives by parameters, against finite differences at fixed keys and against mpmath."""

import mpmath
import numpy as np
import pytest

import tapeless
from tapeless import random
from tapeless.random.gamma_derivative import gamma_slope
from tests.api.random.jax_table import jax_random

KEY = np.array([0, 1], np.uint32)
X = np.array([1.5, 0.8, 2.5])
CASES = {
    "uniform": lambda x: random.uniform(KEY, (3,), None, -x, x * x),
    "truncated_normal": lambda x: random.truncated_normal(KEY, -x, x * x),
    "pareto": lambda x: random.pareto(KEY, x),
    "rayleigh": lambda x: random.rayleigh(KEY, x),
    "weibull_min": lambda x: random.weibull_min(KEY, x, x * x, (3,)),
    "lognormal": lambda x: random.lognormal(KEY, x),
    "double_sided_maxwell": lambda x: random.double_sided_maxwell(KEY, x, x * x),
    "triangular": lambda x: random.triangular(KEY, -x, 0.3 * x, x * x),
    "wald": lambda x: random.wald(KEY, x),
    "multivariate_normal": lambda x: random.multivariate_normal(KEY, x, np.diag(x) + 0.1),
}
OF_GAMMAS = {
    "gamma": lambda random, x: random.gamma(KEY, x),
    "beta": lambda random, x: random.beta(KEY, x, 2 * x),
    "t": lambda random, x: random.t(KEY, x),
}


@pytest.fixture(autouse=True)
def _keys_may_be_used_again():
    with random.report_reuse(False):
        yield


@pytest.mark.parametrize("name", CASES)
def test_by_finite_differences(name):
    f = CASES[name]
    direction, h = np.array([0.3, -0.2, 0.5]), 1e-6
    _, got = tapeless.jvp(f, (X,), (direction,))
    want = (f(X + h * direction) - f(X - h * direction)) / (2 * h)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["truncated_normal", "wald", "multivariate_normal"])
def test_backwards(name):
    f = CASES[name]
    weights = np.arange(1.0, 1.0 + np.size(f(X))).reshape(np.shape(f(X)))
    got = tapeless.grad(lambda x: np.sum(weights * f(x)))(X)
    want = [np.sum(weights * tapeless.jvp(f, (X,), (e,))[1]) for e in np.eye(3)]
    np.testing.assert_allclose(got, want, rtol=1e-10)


def quantile_slope(a, x):
    """dx/da where P(a, x) stays, in 40 digits; from the smaller of P and 1 - P."""
    with mpmath.workdps(40):
        a, x = mpmath.mpf(float(a)), mpmath.mpf(float(x))
        ends = (0, x) if x < a else (mpmath.inf, x)
        slope = mpmath.diff(lambda b: mpmath.gammainc(b, *ends, regularized=True), a)
        return float(-slope / (x ** (a - 1) * mpmath.exp(-x) / mpmath.gamma(a)))


@pytest.mark.parametrize("a", [0.05, 0.7, 1.0, 3.0, 30.0, 400.0])
def test_slope_of_gamma_numbers(a):
    x = a * np.array([0.3, 0.7, 1.0, 1.2, 1.8])
    got = gamma_slope(np.full(5, a), x)
    np.testing.assert_allclose(got, [quantile_slope(a, v) for v in x], rtol=1e-9)


def test_slope_of_gamma_numbers_at_zero():
    np.testing.assert_array_equal(gamma_slope(np.array([0.5]), np.array([0.0])), [0.0])


def test_gamma_numbers_have_that_slope():
    made, slope = tapeless.jvp(lambda a: random.gamma(KEY, a), (X,), (np.ones(3),))
    want = [quantile_slope(a, x) for a, x in zip(X, made, strict=True)]
    np.testing.assert_allclose(slope, want, rtol=1e-9)
    np.testing.assert_array_equal(made, random.gamma(KEY, X))


def test_gamma_backwards():
    got = tapeless.grad(lambda a: np.sum(random.gamma(KEY, a) ** 2))(X)
    made = random.gamma(KEY, X)
    want = [2 * x * quantile_slope(a, x) for a, x in zip(X, made, strict=True)]
    np.testing.assert_allclose(got, want, rtol=1e-9)


def test_logarithms_of_gamma_numbers_have_that_slope():
    made, slope = tapeless.jvp(lambda a: random.loggamma(KEY, a), (X,), (np.ones(3),))
    x = np.exp(made)
    want = [quantile_slope(a, b) / b for a, b in zip(X, x, strict=True)]
    np.testing.assert_allclose(slope, want, rtol=1e-9)


def test_dirichlet_vectors_still_add_up():
    _, slope = tapeless.jvp(lambda a: random.dirichlet(KEY, a), (X,), (np.ones(3),))
    assert np.abs(slope).max() > 1e-3
    np.testing.assert_allclose(np.sum(slope), 0, atol=1e-12)


@pytest.mark.parametrize("name", OF_GAMMAS)
def test_jax_agrees(name):
    theirs, f = jax_random(), OF_GAMMAS[name]
    if theirs is None:
        pytest.skip("jax is not installed")
    import jax  # noqa: PLC0415 (installed, as is known by now)

    want = jax.jvp(lambda x: f(theirs, x), (X,), (np.ones(3),))[1]
    got = tapeless.jvp(lambda x: f(random, x), (X,), (np.ones(3),))[1]
    np.testing.assert_allclose(got, want, rtol=1e-8)
