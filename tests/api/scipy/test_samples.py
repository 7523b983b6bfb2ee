"""Vectors, samples and density estimates against SciPy."""

import numpy as np
import pytest
import scipy.stats

from tapeless import check_grads, random, vmap
from tapeless.scipy import stats
from tapeless.transforms.errors import ArgumentError

RNG = np.random.default_rng(0)
MEAN, COV = RNG.standard_normal(3), np.cov(RNG.standard_normal((3, 10)))
X = RNG.standard_normal((4, 3))
ALPHA = np.array([1.5, 2.0, 0.7])
PARTS = RNG.dirichlet(ALPHA, 4).T
SAMPLE = RNG.standard_normal((2, 20))
TIES = np.array([[3, 1, 3, 2, 1], [5, 5, 5, 5, 1]])


def test_multivariate_normal():
    peer = scipy.stats.multivariate_normal(MEAN, COV)
    np.testing.assert_allclose(stats.multivariate_normal.logpdf(X, MEAN, COV), peer.logpdf(X))
    np.testing.assert_allclose(stats.multivariate_normal.pdf(X[0], MEAN, COV), peer.pdf(X[0]))
    one = stats.multivariate_normal.logpdf(0.3, 1.0, 2.0)
    np.testing.assert_allclose(one, scipy.stats.norm.logpdf(0.3, 1.0, np.sqrt(2)))
    many = stats.multivariate_normal.logpdf(X, X[::-1], np.stack([COV] * 4))
    for k, one in enumerate(many):
        want = scipy.stats.multivariate_normal.logpdf(X[k], X[3 - k], COV)
        np.testing.assert_allclose(one, want)
    same = stats.multivariate_normal.logpdf(X, np.full(3, 0.5), 2.0)
    np.testing.assert_allclose(same, scipy.stats.norm.logpdf(X, 0.5, np.sqrt(2)).sum(1))


def test_derivatives_of_multivariate_normal():
    def density(x, mean, root):
        return stats.multivariate_normal.logpdf(x, mean, root @ root.T + np.eye(3))

    check_grads(density, (X, MEAN, COV), order=1)
    made = vmap(stats.multivariate_normal.logpdf, (0, None, None))(X, MEAN, COV)
    np.testing.assert_allclose(made, stats.multivariate_normal.logpdf(X, MEAN, COV))


def test_dirichlet():
    want = scipy.stats.dirichlet.logpdf(PARTS, ALPHA)
    np.testing.assert_allclose(stats.dirichlet.logpdf(PARTS, ALPHA), want)
    np.testing.assert_allclose(stats.dirichlet.logpdf(PARTS[:2], ALPHA), want)
    np.testing.assert_allclose(stats.dirichlet.pdf(PARTS[:, 0], ALPHA), np.exp(want[0]))
    assert stats.dirichlet.logpdf(np.array([0.5, 0.2, 0.2]), ALPHA) == -np.inf
    check_grads(lambda a: stats.dirichlet.logpdf(PARTS, a), (ALPHA,), order=1)


def test_multinomial():
    p, x = np.array([0.2, 0.3, 0.5]), np.array([[1, 2, 3], [0, 0, 6], [1, 1, 1]])
    want = scipy.stats.multinomial.logpmf(x, 6, p)
    np.testing.assert_allclose(stats.multinomial.logpmf(x, 6, p), want)
    np.testing.assert_allclose(stats.multinomial.pmf(x[0], 6, p), np.exp(want[0]))
    check_grads(lambda p: stats.multinomial.logpmf(x[:2], 6, p), (p,), order=1)


@pytest.mark.parametrize("axis", [0, 1, None])
def test_modes(axis):
    made, want = stats.mode(TIES, axis), scipy.stats.mode(TIES, axis)
    np.testing.assert_array_equal(made.mode, want.mode)
    np.testing.assert_array_equal(made.count, want.count)
    kept = stats.mode(TIES, 1, keepdims=True)
    assert kept.mode.tolist() == [[1], [5]]


@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_ranks(method, axis):
    made = stats.rankdata(TIES, method, axis=axis)
    np.testing.assert_array_equal(made, scipy.stats.rankdata(TIES, method, axis=axis))


def test_ranks_under_vmap():
    want = stats.rankdata(TIES, axis=1)
    np.testing.assert_array_equal(vmap(stats.rankdata)(TIES), want)


def test_standard_errors():
    for axis in (0, 1, None):
        want = scipy.stats.sem(SAMPLE, axis)
        np.testing.assert_allclose(stats.sem(SAMPLE, axis), want)
    assert stats.sem(SAMPLE, 1, 0, keepdims=True).shape == (2, 1)
    check_grads(lambda a: stats.sem(a, 1), (SAMPLE,), order=1)


@pytest.mark.parametrize("bw_method", [None, "silverman", 0.7, lambda kde: 0.5])
def test_density_estimates(bw_method):
    weights, points = RNG.random(20), RNG.standard_normal((2, 5))
    made = stats.gaussian_kde(SAMPLE, bw_method, weights)
    want = scipy.stats.gaussian_kde(SAMPLE, bw_method, weights)
    np.testing.assert_allclose(made(points), want(points))
    np.testing.assert_allclose(made.logpdf(points), want.logpdf(points))
    np.testing.assert_allclose(made.covariance, want.covariance)
    overlap = made.integrate_gaussian(MEAN[:2], COV[:2, :2])
    np.testing.assert_allclose(overlap, want.integrate_gaussian(MEAN[:2], COV[:2, :2]))
    np.testing.assert_allclose(made.integrate_kde(made), want.integrate_kde(want))


def test_density_estimates_of_numbers():
    made, want = stats.gaussian_kde(SAMPLE[0]), scipy.stats.gaussian_kde(SAMPLE[0])
    np.testing.assert_allclose(made.pdf(X[0]), want.pdf(X[0]))
    np.testing.assert_allclose(made.integrate_box_1d(-1, 0.5), want.integrate_box_1d(-1, 0.5))
    drawn = made.resample(random.key(0), (4000,))
    assert drawn.shape == (1, 4000)
    assert np.mean(drawn) == pytest.approx(np.mean(SAMPLE[0]), abs=0.06)
    check_grads(lambda s, x: stats.gaussian_kde(s).logpdf(x), (SAMPLE[0], X[0]), order=1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: stats.multivariate_normal.logpdf(X, MEAN, COV[:2]), "a row and a column"),
        (lambda: stats.multivariate_normal.logpdf(X, MEAN, COV, True), "allow_singular"),
        (lambda: stats.dirichlet.logpdf(PARTS[:1], ALPHA), "a proportion for each"),
        (lambda: stats.mode(TIES, nan_policy="omit"), "take out the nans"),
        (lambda: stats.rankdata(TIES, "median"), "method must be one of"),
        (lambda: stats.gaussian_kde(SAMPLE, "wide"), "'scott', 'silverman'"),
        (lambda: stats.gaussian_kde(SAMPLE, weights=np.ones(3)), "there are 20 samples"),
        (lambda: stats.gaussian_kde(SAMPLE)(np.ones(3)), "columns of an array"),
        (lambda: stats.gaussian_kde(SAMPLE).integrate_box_1d(0, 1), "is for numbers"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ArgumentError) as caught:
        call()
    assert words in str(caught.value)
