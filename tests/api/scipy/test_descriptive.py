"""Means, moments, scores and correlations of samples by what SciPy gives; and derivatives."""

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import leaves

stats = pytest.importorskip("scipy.stats")

RNG = np.random.default_rng(8)
X = RNG.uniform(0.2, 2.0, (5, 4))
Y = RNG.uniform(0.2, 2.0, (5, 4))
WEIGHTS = RNG.uniform(0.2, 1.0, 4)

SMOOTH = {
    "zscore": lambda x: stats.zscore(x, axis=1, ddof=1),
    "zscore, of all": lambda x: stats.zscore(x, axis=None),
    "zmap": lambda x: stats.zmap(x, x[::-1] ** 2),
    "gzscore": stats.gzscore,
    "gmean": lambda x: stats.gmean(x, axis=None) + stats.gmean(x, 1, weights=WEIGHTS)[0],
    "hmean": lambda x: stats.hmean(x, axis=1, weights=WEIGHTS, keepdims=True),
    "pmean": lambda x: stats.pmean(x, 3, axis=-1),
    "moment": lambda x: stats.moment(x, 3, axis=1) + stats.moment(x, 2, axis=1, center=0.3),
    "skew": lambda x: stats.skew(x, axis=1, keepdims=True),
    "skew, not biased": lambda x: stats.skew(x, bias=False),
    "kurtosis": lambda x: stats.kurtosis(x, axis=None),
    "kurtosis, not biased": lambda x: stats.kurtosis(x, axis=1, bias=False, fisher=False),
    "variation": lambda x: stats.variation(x, axis=1, ddof=1),
    "iqr": lambda x: stats.iqr(x, axis=1, rng=(20, 70), scale="normal", keepdims=True),
    "median_abs_deviation": lambda x: stats.median_abs_deviation(x, axis=1, scale="normal"),
    "pearsonr": lambda x: np.stack(stats.pearsonr(x, Y, axis=1)),
    "pearsonr, by name": lambda x: stats.pearsonr(x[0], Y[0]).statistic,
    "linregress": lambda x: np.stack(stats.linregress(x[0], Y[0])),
    "linregress, of two": lambda x: np.stack(stats.linregress(x[0, :2], x[1, :2])[:2]),
    "theilslopes": lambda x: np.stack(stats.theilslopes(x[0], Y[0])[:3]),
    "theilslopes, joint": lambda x: np.stack(stats.theilslopes(x[0], alpha=0.6, method="joint")),
    "sem": lambda x: stats.sem(x, axis=1),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_values_and_derivatives(name):
    function = SMOOTH[name]
    expected = np.asarray(function(X))
    compiled = tapeless.jit(function)
    np.testing.assert_allclose(compiled(X), expected, rtol=1e-10, atol=1e-12)
    single = X.astype(np.float32)
    if name != "linregress, of two":  # SciPy keeps float32 since 1.18
        assert np.asarray(compiled(single)).dtype == np.asarray(function(single)).dtype
    both = tapeless.vmap(function)(np.stack([X, X**2]))
    np.testing.assert_allclose(both, [expected, function(X**2)], rtol=1e-10, atol=1e-12)
    tapeless.check_grads(function, (X,), order=2)


def test_correlation_of_ranks():
    ties = np.round(2 * X)
    for x in (X, ties):
        made = tapeless.jit(lambda x: np.stack(stats.spearmanr(x[0], Y[0])))(x)
        np.testing.assert_allclose(made, stats.spearmanr(x[0], Y[0]), rtol=1e-10)
        rows = tapeless.jit(lambda x: np.stack(stats.spearmanr(x[:2], axis=1)))(x)
        np.testing.assert_allclose(rows, stats.spearmanr(x[0], x[1]), rtol=1e-10)
    assert not tapeless.grad(lambda x: stats.spearmanr(x, Y[0]).statistic)(X[0]).any()


def test_slopes_of_ties():
    x, y = np.array([0.0, 1.0, 1.0, 2.0, 4.0, 5.0]), np.array([1.0, 1.0, 2.0, 0.0, 5.0, 5.0])
    made = tapeless.jit(stats.theilslopes)(y, x, 0.1)
    np.testing.assert_allclose(made, stats.theilslopes(y, x, 0.1), rtol=1e-12)


def test_samples_without_deviation():
    same = np.full(4, 0.1)
    for function in (stats.skew, stats.kurtosis):
        with np.errstate(all="ignore"):
            assert np.isnan(leaves(tapeless.jit(function)(same))[0])


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda x: stats.zscore(x, nan_policy="omit"), "nan_policy='omit'"),
        (lambda x: stats.median_abs_deviation(x, center=np.mean), "center is not supported"),
        (lambda x: stats.linregress(x[0], x[1], "less"), "alternative='two-sided'"),
        (lambda x: stats.spearmanr(x[0], x[1], alternative="less"), "alternative='two-sided'"),
        (lambda x: stats.spearmanr(np.stack([x[0]] * 3)), "two samples"),
        (lambda x: stats.theilslopes(x[0], method="other"), "'joint' or 'separate'"),
        (lambda x: stats.pearsonr(x[0], x[1], alternative="less"), "alternative='two-sided'"),
    ],
)
def test_what_is_refused(function, match):
    with pytest.raises(ValueError, match=match):
        tapeless.jit(function)(X)
