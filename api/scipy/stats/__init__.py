"""Provides densities, distributions and statistics of samples, as jax.scipy.stats does.

A distribution has the methods of SciPy's, as functions of x, its shapes, loc and scale.

>>> import numpy as np
>>> from tapeless import grad
>>> from tapeless.scipy.stats import gamma
>>> float(gamma.logpdf(2.0, 3.0).round(4))
-1.3069
>>> float(grad(lambda a: gamma.logpdf(2.0, a))(3.0).round(4))
-0.2296
"""

if not __name__.startswith("tapeless."):
    raise ImportError(f"import tapeless.scipy.stats instead of {__name__}")

import sys
from typing import Any

from tapeless.scipy.stats import dirichlet, multinomial, multivariate_normal
from tapeless.scipy.stats.continuous import (
    beta,
    cauchy,
    chi2,
    expon,
    gamma,
    gennorm,
    gumbel_l,
    gumbel_r,
    laplace,
    logistic,
    norm,
    pareto,
    t,
    truncnorm,
    uniform,
    vonmises,
    wrapcauchy,
)
from tapeless.scipy.stats.descriptive import (
    gmean,
    gzscore,
    hmean,
    iqr,
    kurtosis,
    median_abs_deviation,
    moment,
    pearsonr,
    pmean,
    skew,
    variation,
    zmap,
    zscore,
)
from tapeless.scipy.stats.discrete import bernoulli, betabinom, binom, geom, nbinom, poisson
from tapeless.scipy.stats.distribution_base import Family
from tapeless.scipy.stats.kde import gaussian_kde
from tapeless.scipy.stats.regression import linregress, spearmanr, theilslopes
from tapeless.scipy.stats.sample_statistics import mode, rankdata, sem

#: `import tapeless.scipy.stats.norm` works, as in JAX, where distributions are modules.
_families: Any = {name: value for name, value in globals().items() if isinstance(value, Family)}
sys.modules |= {f"{__name__}.{name}": value for name, value in _families.items()}

__all__ = [
    "bernoulli",
    "beta",
    "betabinom",
    "binom",
    "cauchy",
    "chi2",
    "dirichlet",
    "expon",
    "gamma",
    "gaussian_kde",
    "gennorm",
    "geom",
    "gmean",
    "gumbel_l",
    "gumbel_r",
    "gzscore",
    "hmean",
    "iqr",
    "kurtosis",
    "laplace",
    "linregress",
    "logistic",
    "median_abs_deviation",
    "mode",
    "moment",
    "multinomial",
    "multivariate_normal",
    "nbinom",
    "norm",
    "pareto",
    "pearsonr",
    "pmean",
    "poisson",
    "rankdata",
    "sem",
    "skew",
    "spearmanr",
    "t",
    "theilslopes",
    "truncnorm",
    "uniform",
    "variation",
    "vonmises",
    "wrapcauchy",
    "zmap",
    "zscore",
]
