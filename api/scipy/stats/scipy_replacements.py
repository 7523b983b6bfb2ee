"""What stands for the distributions of scipy.stats in functions that are staged: ours, which give
the same numbers and have derivatives."""

from __future__ import annotations

import functools
from typing import Any

from tapeless.scipy import stats
from tapeless.scipy.stats import multivariate_normal_scipy
from tapeless.scipy.stats.distribution_base import Continuous, Discrete
from tapeless.transforms.errors import UnsupportedError

__staged__ = True  # plain NumPy code: a staged run enters it


#: Functions of samples, which take what SciPy's take.
SAMPLES = frozenset(
    [
        *("gmean", "gzscore", "hmean", "iqr", "kurtosis", "median_abs_deviation", "moment"),
        *("linregress", "pearsonr", "pmean", "sem", "skew", "variation", "zmap", "zscore"),
        *("spearmanr", "theilslopes"),
    ]
)


def standing_for(f: Any) -> Any:
    """Ours for a function of samples, for a method of a distribution of SciPy's, or for a
    distribution that is called, which fixes its parameters; None if there is none."""
    if getattr(f, "__name__", "") in SAMPLES:
        return getattr(stats, f.__name__)
    owner = getattr(f, "__self__", None)
    if owner is None:
        ours = _family(f)
        return None if ours is None else functools.partial(Frozen, ours)
    if hasattr(owner, "dist"):  # its parameters are fixed
        method = getattr(_family(owner.dist), f.__name__, None)
        fixed = functools.partial(_fixed, method, owner.args, owner.kwds)
        return None if method is None else fixed
    if _name(owner) == "multivariate_normal_frozen":
        method = multivariate_normal_scipy.METHODS.get(f.__name__)
        singular = owner.allow_singular
        return method and functools.partial(
            method, mean=owner.mean, cov=owner.cov, allow_singular=singular
        )
    return getattr(_family(owner), f.__name__, None)


def _name(x: Any) -> str:
    return type(x).__name__


def _family(dist: Any) -> Any:
    if _name(dist) == "multivariate_normal_gen":
        return multivariate_normal_scipy.normal
    family = getattr(stats, getattr(dist, "name", ""), None)
    return family if isinstance(family, (Continuous, Discrete)) else None


def _fixed(method: Any, args: Any, kwargs: Any, x: Any) -> Any:
    return method(x, *args, **kwargs)


class Frozen:
    """A distribution whose parameters are fixed: scipy.stats.norm(loc, scale)."""

    def __init__(self, family: Any, *args: Any, **kwargs: Any) -> None:
        self.family, self.args, self.kwargs = family, args, kwargs
        if family is multivariate_normal_scipy.normal:
            self.mean, self.cov = multivariate_normal_scipy.parameters(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise UnsupportedError(
            f".{name} of a distribution with parameters that depend on data", "compute it from them"
        )

    def pdf(self, x: Any) -> Any:
        return self.family.pdf(x, *self.args, **self.kwargs)

    def logpdf(self, x: Any) -> Any:
        return self.family.logpdf(x, *self.args, **self.kwargs)

    def pmf(self, k: Any) -> Any:
        return self.family.pmf(k, *self.args, **self.kwargs)

    def logpmf(self, k: Any) -> Any:
        return self.family.logpmf(k, *self.args, **self.kwargs)

    def cdf(self, x: Any) -> Any:
        return self.family.cdf(x, *self.args, **self.kwargs)

    def logcdf(self, x: Any) -> Any:
        return self.family.logcdf(x, *self.args, **self.kwargs)

    def sf(self, x: Any) -> Any:
        return self.family.sf(x, *self.args, **self.kwargs)

    def logsf(self, x: Any) -> Any:
        return self.family.logsf(x, *self.args, **self.kwargs)

    def ppf(self, q: Any) -> Any:
        return self.family.ppf(q, *self.args, **self.kwargs)

    def isf(self, q: Any) -> Any:
        return self.family.isf(q, *self.args, **self.kwargs)
