"""Means, transformations and tests of samples: values are SciPy's, slopes those of differences."""

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient

stats = pytest.importorskip("scipy.stats", reason="SciPy is optional")

X = np.array([0.3, 1.2, 0.7, 2.1, 1.5, 0.4])
TABLE = np.array([[1.0, 0.5, 2.0], [0.2, 1.1, 0.9]])
PROGRAMS = {
    "tmean": lambda x: stats.tmean(x) + stats.tmean(np.outer(x, x), axis=0)[1],
    "tvar": lambda x: stats.tvar(x) + stats.tstd(x, ddof=0) + stats.tsem(x),
    "trim_mean": lambda x: stats.trim_mean(x, 0.2),
    "trim_mean of rows": lambda x: stats.trim_mean(np.outer(x, x), 0.2, axis=1),
    "gstd": lambda x: stats.gstd(x),
    "entropy": lambda x: stats.entropy(x) + stats.entropy(x, x[::-1] ** 2, base=2),
    "circmean": lambda x: stats.circmean(x) + stats.circmean(x * 100, high=360),
    "circvar": lambda x: stats.circvar(x) + stats.circstd(x) + stats.circstd(x, normalize=True),
    "boxcox": lambda x: stats.boxcox(x, 0.3) + stats.boxcox_llf(x[0], x),
    "yeojohnson": lambda x: stats.yeojohnson(x - 1, 0.3) + stats.yeojohnson(x - 1, 2.0),
    "ttest_1samp": lambda x: sum(stats.ttest_1samp(x, 0.5)),
    "ttest_rel": lambda x: sum(stats.ttest_rel(x, x**2, alternative="less")),
    "ttest_ind": lambda x: stats.ttest_ind(x, x[:4] ** 2).statistic,
    "ttest_ind of other variances": lambda x: sum(
        stats.ttest_ind(x, x[:4] ** 2, equal_var=False, alternative="greater")
    ),
    "ttest of rows": lambda x: stats.ttest_1samp(np.outer(x[:2], x), 0.5, axis=1).pvalue,
    "f_oneway": lambda x: sum(stats.f_oneway(x[:3], x[3:], x**2)),
    "f_oneway of rows": lambda x: stats.f_oneway(TABLE * x[0], TABLE**2, axis=1).statistic,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name):
    program = PROGRAMS[name]
    expected, got = program(X), tapeless.jit(program)(X)
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    assert np.shape(got) == np.shape(expected)
    weights = np.cos(np.arange(np.size(expected))).reshape(np.shape(expected))

    def total(x):
        return np.sum(weights * program(x))

    np.testing.assert_allclose(tapeless.grad(total)(X), gradient(total, X), rtol=1e-6, atol=1e-7)
    rows = np.stack([X, 1.1 * X])
    np.testing.assert_allclose(tapeless.vmap(program)(rows), [program(row) for row in rows])


@pytest.mark.parametrize(
    ("program", "match"),
    [
        (lambda x: stats.tmean(x, (0.5, 2.0)), "limits="),
        (lambda x: stats.boxcox(x)[0], "without lmbda="),
        (lambda x: stats.ttest_ind(x, x, trim=0.1).pvalue, "trim="),
    ],
)
def test_refusals(program, match):
    with pytest.raises(tapeless.TapelessError, match=match):
        tapeless.jit(program)(X)
