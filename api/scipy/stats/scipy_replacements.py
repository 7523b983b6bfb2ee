"""Replaces the distributions of scipy.stats in functions that are staged by ours, which give the
same numbers and have derivatives.
"""

from __future__ import annotations

import functools
from typing import Any

from tapeless.scipy import stats
from tapeless.scipy.stats import location_tests, multivariate_normal_scipy, scipy_formulas
from tapeless.scipy.stats import multivariate_replacements as multivariate
from tapeless.scipy.stats.distribution_base import Continuous
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


#: The formula of ours by which a method is computed.
NEEDED = {
    "cdf": ("below",),
    "sf": ("above", "below"),
    "logcdf": ("log_below", "below"),
    "logsf": ("log_above", "above", "below"),
    "ppf": ("quantile",),
    "isf": ("upper_quantile", "quantile"),
}
#: Methods that take no x.
OF_PARAMETERS = frozenset(
    {"cov", "entropy", "mean", "median", "mode", "std", "stats", "support", "var"}
)


def standing_for(f: Any) -> Any:
    """Ours for a function of samples, for a method of a distribution of SciPy's, or for a
    distribution that is called, which fixes its parameters; None if there is none."""
    if getattr(f, "__name__", "") in SAMPLES:
        return getattr(stats, f.__name__)
    owner = getattr(f, "__self__", None)
    if owner is None and getattr(f, "__name__", "") in location_tests.FUNCTIONS:
        return location_tests.FUNCTIONS[f.__name__]
    if owner is None:
        return functools.partial(FrozenDistribution, f) if is_distribution(f) else None
    if hasattr(owner, "dist") and hasattr(owner, "kwds"):  # its parameters are fixed
        return _of_fixed(method(owner.dist, f.__name__), f.__name__, owner.args, owner.kwds)
    if _name(owner) in multivariate.FIXED:
        return multivariate.method_of_frozen(owner, f.__name__)
    return method(owner, f.__name__)


def _name(x: Any) -> str:
    return type(x).__name__


def is_distribution(dist: Any) -> bool:
    return _name(dist) in multivariate.DISTRIBUTIONS or scipy_formulas.family(dist) is not None


def method(dist: Any, name: str) -> Any:
    """A method of a distribution: by a formula of ours, or by SciPy's; None if there is none."""
    if _name(dist) in multivariate.DISTRIBUTIONS:
        return multivariate.DISTRIBUTIONS[_name(dist)].get(name)
    ours = getattr(stats, getattr(dist, "name", None) or "", None)
    if isinstance(ours, Continuous) and type(dist).__module__.startswith("scipy."):
        needed = NEEDED.get(name, ())
        if hasattr(ours, name) and (not needed or any(getattr(ours, n, None) for n in needed)):
            return getattr(ours, name)
    return getattr(scipy_formulas.family(dist), "bounds" if name == "support" else name, None)


def _of_fixed(method: Any, name: str, args: Any, kwargs: Any) -> Any:
    """A method of a distribution whose parameters are fixed."""
    if method is None:
        return None
    if name in OF_PARAMETERS:
        return functools.partial(_of_parameters, method, args, kwargs)
    return functools.partial(_call_frozen, method, args, kwargs)


def _call_frozen(method: Any, args: Any, kwargs: Any, *x: Any) -> Any:
    return method(*x, *args, **kwargs)


def _of_parameters(method: Any, args: Any, kwargs: Any, **more: Any) -> Any:
    return method(*args, **kwargs, **more)


class FrozenDistribution:
    """A distribution whose parameters are fixed: scipy.stats.norm(loc, scale)."""

    def __init__(self, dist: Any, *args: Any, **kwargs: Any) -> None:
        self.dist, self.args, self.kwds = dist, args, kwargs
        if _name(dist) == "multivariate_normal_gen":
            self.mean, self.cov = multivariate_normal_scipy.parameters(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        replacement = method(self.dist, name)
        if replacement is None:
            raise UnsupportedError(
                f".{name} of a distribution with parameters that depend on data",
                "compute it from them",
            )
        return _of_fixed(replacement, name, self.args, self.kwds)
