"""The numbers are distributed as they should be, by the tests of Kolmogorov-Smirnov and of chi2."""

import numpy as np
import pytest
from scipy import stats

from tapeless import random

N = 4000
UNLIKELY = 1e-3  # the keys are fixed, so that a test that passes goes on to pass


def double_maxwell(x):
    return 0.5 + np.sign(x) * stats.maxwell.cdf(np.abs(x)) / 2


CONTINUOUS = {
    "uniform": (lambda k: random.uniform(k, (N,), None, -1.0, 3.0), stats.uniform(-1, 4).cdf),
    "normal": (lambda k: random.normal(k, (N,)), stats.norm.cdf),
    "truncated_normal": (
        lambda k: random.truncated_normal(k, -0.5, 2.0, (N,)),
        stats.truncnorm(-0.5, 2).cdf,
    ),
    "exponential": (lambda k: random.exponential(k, (N,)), stats.expon.cdf),
    "gumbel": (lambda k: random.gumbel(k, (N,)), stats.gumbel_r.cdf),
    "gumbel highest": (
        lambda k: random.gumbel(k, (N,), np.float32, "highest"),
        stats.gumbel_r.cdf,
    ),
    "laplace": (lambda k: random.laplace(k, (N,)), stats.laplace.cdf),
    "logistic": (lambda k: random.logistic(k, (N,)), stats.logistic.cdf),
    "cauchy": (lambda k: random.cauchy(k, (N,)), stats.cauchy.cdf),
    "pareto": (lambda k: random.pareto(k, 2.5, (N,)), stats.pareto(2.5).cdf),
    "rayleigh": (lambda k: random.rayleigh(k, 2.0, (N,)), stats.rayleigh(scale=2).cdf),
    "weibull_min": (
        lambda k: random.weibull_min(k, 2.0, 1.5, (N,)),
        stats.weibull_min(1.5, scale=2).cdf,
    ),
    "lognormal": (lambda k: random.lognormal(k, 0.7, (N,)), stats.lognorm(0.7).cdf),
    "maxwell": (lambda k: random.maxwell(k, (N,)), stats.maxwell.cdf),
    "double_sided_maxwell": (
        lambda k: random.double_sided_maxwell(k, 0.0, 1.0, (N,)),
        double_maxwell,
    ),
    "triangular": (
        lambda k: random.triangular(k, -1.0, 0.5, 2.0, (N,)),
        stats.triang(0.5, -1, 3).cdf,
    ),
    "wald": (lambda k: random.wald(k, 1.5, (N,)), stats.invgauss(1.5).cdf),
    "gamma": (lambda k: random.gamma(k, 0.6, (N,)), stats.gamma(0.6).cdf),
    "gamma large": (lambda k: random.gamma(k, 6.0, (N,)), stats.gamma(6).cdf),
    "loggamma": (lambda k: random.loggamma(k, 0.6, (N,)), stats.loggamma(0.6).cdf),
    "beta": (lambda k: random.beta(k, 2.0, 0.7, (N,)), stats.beta(2, 0.7).cdf),
    "chisquare": (lambda k: random.chisquare(k, 3.0, (N,)), stats.chi2(3).cdf),
    "f": (lambda k: random.f(k, 3.0, 5.0, (N,)), stats.f(3, 5).cdf),
    "t": (lambda k: random.t(k, 4.0, (N,)), stats.t(4).cdf),
    "generalized_normal": (
        lambda k: random.generalized_normal(k, 1.5, (N,)),
        stats.gennorm(1.5).cdf,
    ),
    "dirichlet": (
        lambda k: random.dirichlet(k, np.array([0.5, 1.0, 2.0]), (N,))[:, 0],
        stats.beta(0.5, 3).cdf,
    ),
    "ball": (
        lambda k: np.linalg.norm(random.ball(k, 3, 2.0, (N,)), axis=-1) ** 3,
        stats.uniform.cdf,
    ),
}

COUNTS = {
    "randint": (lambda k: random.randint(k, (N,), 2, 9), stats.randint(2, 9).pmf),
    "bernoulli": (lambda k: random.bernoulli(k, 0.3, (N,)), stats.bernoulli(0.3).pmf),
    "rademacher": (lambda k: random.rademacher(k, (N,)), lambda x: 0.5 * (np.abs(x) == 1)),
    "poisson": (lambda k: random.poisson(k, 3.5, (N,)), stats.poisson(3.5).pmf),
    "poisson large": (lambda k: random.poisson(k, 14.0, (N,)), stats.poisson(14).pmf),
    "binomial": (lambda k: random.binomial(k, 10, 0.3, (N,)), stats.binom(10, 0.3).pmf),
    "binomial large": (lambda k: random.binomial(k, 60, 0.6, (N,)), stats.binom(60, 0.6).pmf),
    "geometric": (lambda k: random.geometric(k, 0.3, (N,)), stats.geom(0.3).pmf),
    "categorical": (
        lambda k: random.categorical(k, np.log(np.array([0.2, 0.3, 0.5])), shape=(N,)),
        lambda x: np.array([0.2, 0.3, 0.5])[x.astype(int)],
    ),
    "choice": (
        lambda k: random.choice(k, 3, (N,), p=np.array([0.2, 0.3, 0.5])),
        lambda x: np.array([0.2, 0.3, 0.5])[x.astype(int)],
    ),
    "permutation": (
        lambda k: np.array([random.permutation(s, 4)[0] for s in random.split(k, 800)]),
        lambda x: np.full(x.shape, 0.25),
    ),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name):
    draw, cdf = CONTINUOUS[name]
    assert stats.kstest(draw(random.key(11)), cdf).pvalue > UNLIKELY


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    draw, pmf = COUNTS[name]
    made = draw(random.key(12))
    values, found = np.unique(made, return_counts=True)
    expected = pmf(values.astype(float)) * len(made)
    often = expected > 8
    rare_found, rare = found[~often].sum(), len(made) - expected[often].sum()
    chi2 = np.sum((found - expected)[often] ** 2 / expected[often])
    chi2 += (rare_found - rare) ** 2 / rare if rare > 1 else 0
    assert np.all(expected > 0)
    assert stats.chi2(often.sum() - (rare <= 1)).sf(chi2) > UNLIKELY


def test_multinomial_counts_add_up():
    p = np.array([0.2, 0.3, 0.5])
    made = random.multinomial(random.key(1), 50, p, shape=(2000, 3))
    np.testing.assert_array_equal(made.sum(axis=-1), 50)
    error = 5 * np.sqrt(50 * p * (1 - p) / 2000)
    assert np.all(np.abs(made.mean(axis=0) - 50 * p) < error)


def test_multivariate_normal_has_its_covariance():
    mean, cov = np.array([1.0, -2.0]), np.array([[2.0, 1.0], [1.0, 3.0]])
    for method in ("cholesky", "svd", "eigh"):
        made = random.multivariate_normal(random.key(5), mean, cov, (20000,), method=method)
        np.testing.assert_allclose(made.mean(axis=0), mean, atol=0.06)
        np.testing.assert_allclose(np.cov(made.T), cov, atol=0.12)


def test_orthogonal_matrices_are_orthogonal():
    q = random.orthogonal(random.key(5), 4, (3,))
    np.testing.assert_allclose(
        np.swapaxes(q, -1, -2) @ q, np.broadcast_to(np.eye(4), q.shape), atol=1e-14
    )
    u = random.orthogonal(random.key(5), 3, (), np.complex128)
    np.testing.assert_allclose(u.conj().T @ u, np.eye(3), atol=1e-14)


def test_split_keys_are_independent():
    made = np.stack([random.normal(k, (2000,)) for k in random.split(random.key(8), 8)])
    correlation = np.corrcoef(made) - np.eye(8)
    assert np.abs(correlation).max() < 5 / np.sqrt(2000)


def test_without_replacement_each_comes_once():
    made = random.choice(random.key(3), 3000, (3000,), replace=False)
    np.testing.assert_array_equal(np.sort(made), np.arange(3000))
    scores = random.categorical(random.key(4), np.zeros(5), shape=(5,), replace=False)
    np.testing.assert_array_equal(np.sort(scores), np.arange(5))
