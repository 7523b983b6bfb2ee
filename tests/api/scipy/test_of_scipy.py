"""The distributions of scipy.stats in functions that are staged."""

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient

stats = pytest.importorskip("scipy.stats", reason="SciPy is optional")

X = np.array([0.3, 1.2, 0.7])
COV = np.array([[2.0, 0.3], [0.3, 1.0]])
MEAN = np.array([0.1, 0.2])
POINTS = np.array([[0.5, 0.4], [-1.0, 0.3], [0.2, 0.1]])
FLAT = np.ones((2, 2))
PRIOR = stats.gamma(2.0, scale=0.5)
CLOUD = stats.multivariate_normal(MEAN, COV)


def with_parameters_of_data(x):
    made = stats.norm(x[0], scale=x[1])
    return made.logpdf(x) + made.cdf(x) + made.logsf(x) + made.ppf(0.3)


def of_vectors(x):
    cov = COV * x[1] + np.diag(x[:2])
    made = stats.multivariate_normal(x[:2], cov)
    return made.logpdf(POINTS) + made.pdf(x[1:]) + made.mean[0] * made.cov[0, 1]


DENSITIES = [
    lambda x: stats.norm.pdf(x),
    lambda x: stats.norm.cdf(x, loc=x[0], scale=2),
    lambda x: stats.t.logpdf(x, 3.0) + stats.beta.pdf(x / 2, 2.0, 3.0),
    lambda x: PRIOR.logpdf(x) + stats.expon(0.1).pdf(x),
    lambda x: stats.poisson.logpmf(2, x) + stats.binom(5, x / 2).pmf(3),
    with_parameters_of_data,
    lambda x: CLOUD.pdf(x[:2]),
    of_vectors,
    lambda x: stats.multivariate_normal.logpdf(x, x[0], x[1]),
    lambda x: stats.multivariate_normal.pdf(x[:2], MEAN, x[:2]),
    lambda x: stats.multivariate_normal.logpdf(x[:2], MEAN, COV * x[0], allow_singular=True),
    lambda x: stats.multivariate_normal.logpdf(MEAN + x[0], MEAN, FLAT, allow_singular=True),
    lambda x: stats.multivariate_normal.logpdf(POINTS, MEAN, FLAT, allow_singular=True),
]


@pytest.mark.parametrize("density", DENSITIES)
def test_values(density):
    expected = density(X)
    got = tapeless.jvp(density, (X,), (X,))[0]
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    assert np.shape(got) == np.shape(expected)
    rows = np.stack([X, X + 0.1])
    np.testing.assert_allclose(tapeless.vmap(density)(rows), [density(x) for x in rows], rtol=1e-9)


@pytest.mark.parametrize("density", [with_parameters_of_data, DENSITIES[-2]])
def test_compiled(density):
    np.testing.assert_allclose(tapeless.jit(density)(X), density(X), rtol=1e-12)


@pytest.mark.parametrize("density", DENSITIES[:-1])
def test_derivatives(density):
    slope = tapeless.grad(lambda x: np.sum(density(x)))(X)
    expected = gradient(lambda x: np.sum(density(x)), X, 1e-6)
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda x: stats.norm(x).rvs(3), r"\.rvs of a distribution"),
        (lambda x: stats.levy_stable.pdf(x, 2.0, 0.1), "no rule"),
        (lambda x: stats.rankdata(x), "no rule"),
    ],
)
def test_what_has_no_stand_in(function, match):
    with pytest.raises(tapeless.TapelessError, match=match):
        tapeless.jit(function)(X)
