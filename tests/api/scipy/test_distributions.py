"""Distributions against SciPy's, their derivatives, and JAX's."""

import numpy as np
import pytest
import scipy.stats

from tapeless import check_grads, grad, jit, vmap
from tapeless.scipy import stats
from tapeless.transforms.errors import ArgumentTypeError, UnsupportedError
from tests.api.jax_peer import jax_or_skip

INSIDE = np.array([0.1, 0.3, 0.5, 0.7, 0.95])
LINE = np.array([-30.0, -4.0, -0.5, 0.3, 2.0, 25.0])
HALF = np.array([-1.0, 0.2, 0.9, 3.0, 40.0])
Q = np.array([1e-10, 0.2, 0.5, 0.9])
TAILS = ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf")
# Name: shapes, points, methods of points, methods of probabilities.
CONTINUOUS = {
    "norm": ((), LINE, TAILS, ("ppf", "isf")),
    "uniform": ((), np.array([-0.5, 0.2, 0.8, 1.5]), TAILS, ("ppf", "isf")),
    "expon": ((), HALF, TAILS, ("ppf", "isf")),
    "gamma": ((2.5,), HALF, TAILS, ()),
    "chi2": ((3.0,), HALF, TAILS, ()),
    "beta": ((2.0, 3.5), np.array([-0.5, 0.1, 0.5, 0.9, 1.5]), TAILS, ()),
    "cauchy": ((), LINE, TAILS, ("ppf", "isf")),
    "t": ((4.5,), LINE, TAILS[:2], ()),
    "laplace": ((), LINE, TAILS, ()),
    "logistic": ((), LINE, TAILS, ("ppf", "isf")),
    "gumbel_r": ((), np.array([-3.0, -0.5, 0.3, 2.0, 25.0]), TAILS, ("ppf",)),
    "gumbel_l": ((), np.array([-25.0, -2.0, -0.3, 0.5, 3.0]), TAILS, ("ppf",)),
    "pareto": ((2.5,), np.array([0.5, 1.2, 3.0, 50.0]), TAILS, ("ppf",)),
    "gennorm": ((1.7,), np.array([-3.0, -0.5, 0.3, 2.0]), TAILS[:4], ()),
    "vonmises": ((1.5,), np.array([-3.0, -0.5, 0.3, 2.0]), TAILS[:2], ()),
    "wrapcauchy": ((0.4,), np.array([-0.5, 0.3, 2.0, 6.0, 7.0]), TAILS[:2], ()),
    "truncnorm": ((-1.0, 2.0), np.array([-1.5, -0.5, 0.3, 1.9, 2.5]), TAILS, ()),
}
DISCRETE = {
    "bernoulli": ((0.3,), ("logpmf", "pmf", "cdf"), ("ppf",)),
    "binom": ((5, 0.3), ("logpmf", "pmf"), ()),
    "betabinom": ((5, 1.5, 2.0), ("logpmf", "pmf"), ()),
    "geom": ((0.3,), ("logpmf", "pmf"), ()),
    "nbinom": ((4, 0.3), ("logpmf", "pmf"), ()),
    "poisson": ((2.5,), ("logpmf", "pmf", "cdf"), ()),
}
COUNTS = np.array([-1, 0, 1, 2, 5, 6])
METHODS = [(n, m) for n, (_, _, ms, _) in CONTINUOUS.items() for m in ms]
QUANTILES = [(n, m) for n, (_, _, _, ms) in CONTINUOUS.items() for m in ms]


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_values(name, method):
    shapes, x, _, _ = CONTINUOUS[name]
    made = getattr(getattr(stats, name), method)(x, *shapes)
    with np.errstate(divide="ignore"):
        want = getattr(getattr(scipy.stats, name), method)(x, *shapes)
    np.testing.assert_allclose(made, want, rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize(("name", "method"), QUANTILES)
def test_quantiles(name, method):
    made = getattr(getattr(stats, name), method)(Q, *CONTINUOUS[name][0], 0.5, 2.0)
    want = getattr(getattr(scipy.stats, name), method)(Q, *CONTINUOUS[name][0], 0.5, 2.0)
    np.testing.assert_allclose(made, want, rtol=1e-9)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_location_and_scale(name):
    shapes, x, methods, _ = CONTINUOUS[name]
    for method in methods[::3]:
        made = getattr(getattr(stats, name), method)(2 * x + 0.5, *shapes, loc=0.5, scale=2.0)
        want = getattr(getattr(scipy.stats, name), method)(2 * x + 0.5, *shapes, 0.5, 2.0)
        np.testing.assert_allclose(made, want, rtol=1e-10)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_derivatives_of_densities(name):
    shapes, x, _, _ = CONTINUOUS[name]
    inner = x[1:-1] if stats.__dict__[name].support else x

    def density(x, shapes, loc, scale):
        return getattr(stats, name).logpdf(scale * x + loc + 1e-3, *shapes, loc, scale)

    check_grads(density, (inner, shapes, 0.3, 1.4), order=1)


@pytest.mark.parametrize(("name", "method"), [m for m in METHODS if m[1][-1] == "f"][::2])
def test_derivatives_at_the_ends(name, method):
    """What is outside of the support has the derivative 0, never nan."""
    shapes, x, _, _ = CONTINUOUS[name]
    slopes = grad(lambda x: np.sum(np.exp(getattr(getattr(stats, name), method)(x, *shapes))))(x)
    assert np.all(np.isfinite(slopes))


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_values(name):
    shapes, methods, quantiles = DISCRETE[name]
    for method in methods:
        made = getattr(getattr(stats, name), method)(COUNTS, *shapes)
        want = getattr(getattr(scipy.stats, name), method)(COUNTS, *shapes)
        np.testing.assert_allclose(made, want, rtol=1e-10)
        moved = getattr(getattr(stats, name), method)(COUNTS + 2, *shapes, loc=2)
        np.testing.assert_allclose(moved, made)
    for method in quantiles:
        made = getattr(getattr(stats, name), method)(Q, *shapes)
        np.testing.assert_allclose(made, getattr(getattr(scipy.stats, name), method)(Q, *shapes))


@pytest.mark.parametrize("name", DISCRETE)
def test_derivatives_of_discrete_ones(name):
    shapes = tuple(map(float, DISCRETE[name][0]))
    counts = COUNTS[1:3] if name == "bernoulli" else COUNTS[2:5]
    check_grads(lambda *s: getattr(stats, name).logpmf(counts, *s), shapes, order=1)


def test_entropy_of_poisson():
    mu = np.array([0.1, 3.0, 40.0, 99.0, 101.0, 1000.0])
    np.testing.assert_allclose(
        stats.poisson.entropy(mu), scipy.stats.poisson.entropy(mu), rtol=1e-8
    )
    check_grads(stats.poisson.entropy, (mu[:4],), order=1)


def test_far_tails_of_truncnorm():
    for a, b in [(5.0, 6.0), (-6.0, -5.0), (30.0, np.inf)]:
        x = np.array([a + 0.01, a + 0.5])
        for method in ("logpdf", "logcdf", "logsf"):
            want = getattr(scipy.stats.truncnorm, method)(x, a, b)
            got = getattr(stats.truncnorm, method)(x, a, b)
            np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-12)


def test_nan_stays():
    assert np.isnan(stats.gamma.logpdf(np.nan, 2.0))
    assert np.isnan(stats.uniform.cdf(np.nan))
    assert np.isnan(stats.bernoulli.ppf(1.5, 0.3))


def test_under_jit_and_vmap():
    def total(x, a):
        return stats.norm.logpdf(x, a) + stats.laplace.logpdf(x, a) + stats.logistic.logpdf(x, a)

    want = total(LINE, 0.5)
    np.testing.assert_allclose(jit(total)(LINE, 0.5), want, rtol=1e-12)
    np.testing.assert_allclose(vmap(total, (0, None))(LINE, 0.5), want, rtol=1e-12)
    slopes = vmap(grad(stats.gamma.logpdf, argnums=1), (0, None))(INSIDE, 2.0)
    np.testing.assert_allclose(slopes, np.log(INSIDE) - (1 - np.euler_gamma), rtol=1e-12)


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_all_methods_that_jax_has(name):
    peer = getattr(pytest.importorskip("jax.scipy.stats", reason="needs JAX"), name)
    formulas = {"cdf": "below", "ppf": "quantile", "entropy": "uncertainty"}
    for method in [n for n in dir(peer) if n[0] != "_" and n != "isf"]:
        assert getattr(getattr(stats, name), formulas.get(method, method)) is not None


@pytest.mark.parametrize("name", ["norm", "truncnorm", "wrapcauchy", "vonmises", "gennorm"])
def test_jaxs_values(name):
    peer = getattr(jax_or_skip().scipy.stats, name)
    shapes, x, _, _ = CONTINUOUS[name]
    made = getattr(stats, name).logpdf(x, *shapes)
    np.testing.assert_allclose(made, peer.logpdf(x, *shapes), rtol=1e-10)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: stats.gamma.logpdf(1.0), ArgumentTypeError, "gamma takes x, a, loc, scale"),
        (lambda: stats.norm.logpdf(1.0, mean=2.0), ArgumentTypeError, "mean is missing or not"),
        (lambda: stats.norm.logpdf(1.0, 1.0, 2.0, 3.0), ArgumentTypeError, "more were given"),
        (lambda: stats.vonmises.cdf(1.0, 2.0), UnsupportedError, "vonmises has no cdf here"),
        (lambda: stats.binom.ppf(0.1, 2, 0.3), UnsupportedError, "binom has no ppf here"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
