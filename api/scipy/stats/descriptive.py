"""Computes means, moments, scores and correlations of samples, as scipy.stats does."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import betainc

from tapeless.numpy.array_functions import follow_arguments
from tapeless.scipy.stats.sample_statistics import check_nan_policy
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


def _floats_and_axis(a: Any, axis: Any) -> tuple[Any, Any]:
    """As an array of floats, and along which axis; None: all elements in one row."""
    a = np.asarray(a)
    a = a.astype(np.result_type(a, float)) if a.dtype.kind in "iub" else a
    return (np.ravel(a), 0) if axis is None else (a, axis)


@follow_arguments
def zmap(
    scores: Any, compare: Any, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate"
) -> Any:
    """The scores by the mean and the deviation of other numbers.

    scores, compare  arrays
    axis             of `compare`; None: of all elements
    ddof             what is subtracted from n in the variance

    Raises ValueError for another nan_policy than 'propagate'.

    >>> zmap(np.array([4.0]), np.array([1.0, 3.0]))
    array([2.])
    """
    check_nan_policy("zmap", nan_policy)
    compare, scores = np.asarray(compare), np.asarray(scores)
    mean = np.mean(compare, axis=axis, keepdims=True)
    return (scores - mean) / np.std(compare, axis=axis, ddof=ddof, keepdims=True)


@follow_arguments
def zscore(a: Any, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate") -> Any:
    """How many deviations each number lies above the mean. Arguments are those of `zmap`.

    >>> zscore(np.array([1.0, 3.0]))
    array([-1.,  1.])
    """
    return zmap(a, a, axis, ddof, nan_policy)


@follow_arguments
def gzscore(a: Any, *, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate") -> Any:
    """The same of the logarithms.

    >>> gzscore(np.array([1.0, 10.0, 100.0])).round(4)
    array([-1.2247,  0.    ,  1.2247])
    """
    return zscore(np.log(a), axis, ddof, nan_policy)


@follow_arguments
def gmean(
    a: Any,
    axis: Any = 0,
    dtype: Any = None,
    weights: Any = None,
    *,
    nan_policy: str = "propagate",
    keepdims: Any = False,
) -> Any:
    """The geometric mean: the exponential of the mean of logarithms.

    a         an array of positive numbers
    axis      along which is averaged; None: over all elements
    weights   of the numbers, of the shape of `a` or of the axis

    Raises ValueError for another nan_policy than 'propagate'.

    >>> float(gmean(np.array([1.0, 4.0])).round(12))
    2.0
    """
    return np.exp(_mean("gmean", np.log(np.asarray(a, dtype)), axis, weights, nan_policy, keepdims))


@follow_arguments
def hmean(
    a: Any,
    axis: Any = 0,
    dtype: Any = None,
    *,
    weights: Any = None,
    nan_policy: str = "propagate",
    keepdims: Any = False,
) -> Any:
    """The harmonic mean of positive numbers. Arguments are those of `gmean`.

    >>> float(hmean(np.array([1.0, 3.0])))
    1.5
    """
    return 1 / _mean("hmean", 1 / np.asarray(a, dtype), axis, weights, nan_policy, keepdims)


@follow_arguments
def pmean(
    a: Any,
    p: Any,
    *,
    axis: Any = 0,
    dtype: Any = None,
    weights: Any = None,
    nan_policy: str = "propagate",
    keepdims: Any = False,
) -> Any:
    """The mean of powers p, as a number. Other arguments are those of `gmean`; p is not 0.

    >>> float(pmean(np.array([1.0, 7.0]), 2))
    5.0
    """
    powers = np.asarray(a, dtype) ** float(p)
    return _mean("pmean", powers, axis, weights, nan_policy, keepdims) ** (1 / float(p))


def _mean(name: str, x: Any, axis: Any, weights: Any, nan_policy: str, keepdims: Any) -> Any:
    check_nan_policy(name, nan_policy)
    if weights is None:
        return np.mean(x, axis=axis, keepdims=keepdims)
    return np.average(x, axis=axis, weights=weights, keepdims=keepdims)


@follow_arguments
def moment(
    a: Any,
    order: Any = 1,
    axis: Any = 0,
    nan_policy: str = "propagate",
    *,
    center: Any = None,
    keepdims: Any = False,
) -> Any:
    """The mean of powers of the distances from the mean, or from `center`.

    order  a positive integer

    Raises ValueError for another nan_policy than 'propagate'.

    >>> float(moment(np.array([1.0, 3.0]), 2))
    1.0
    """
    check_nan_policy("moment", nan_policy)
    a, axis = _floats_and_axis(a, axis)
    middle = np.mean(a, axis=axis, keepdims=True) if center is None else center
    return np.mean((a - middle) ** order, axis=axis, keepdims=keepdims)


def _standardised_moment(a: Any, order: int, axis: Any, keepdims: Any) -> Any:
    """A moment by the power of the deviation; nan where this is that of rounding."""
    mean = np.mean(a, axis=axis, keepdims=keepdims)
    square = moment(a, 2, axis, keepdims=keepdims)
    flat = square <= (np.finfo(a.dtype).eps * mean) ** 2
    power = moment(a, order, axis, keepdims=keepdims)
    return np.where(flat, np.nan, power / np.where(flat, 1, square) ** (order / 2))


@follow_arguments
def skew(
    a: Any,
    axis: Any = 0,
    bias: bool = True,
    nan_policy: str = "propagate",
    *,
    keepdims: Any = False,
) -> Any:
    """The third moment by the deviation; nan where all numbers are equal.

    bias  False: what is expected of a normal distribution is taken into account

    Raises ValueError for another nan_policy than 'propagate'.

    >>> float(skew(np.array([0.0, 0.0, 3.0])).round(4))
    0.7071
    """
    check_nan_policy("skew", nan_policy)
    a, axis = _floats_and_axis(a, axis)
    n = a.shape[axis]
    skewness = _standardised_moment(a, 3, axis, keepdims)
    return skewness if bias else skewness * (((n - 1.0) * n) ** 0.5 / (n - 2.0))


@follow_arguments
def kurtosis(
    a: Any,
    axis: Any = 0,
    fisher: bool = True,
    bias: bool = True,
    nan_policy: str = "propagate",
    *,
    keepdims: Any = False,
) -> Any:
    """The fourth moment by the deviation; nan where all numbers are equal.

    fisher  whether the 3 of a normal distribution is subtracted
    bias    as for `skew`

    >>> float(kurtosis(np.array([0.0, 1.0])))
    -2.0
    """
    check_nan_policy("kurtosis", nan_policy)
    a, axis = _floats_and_axis(a, axis)
    n = a.shape[axis]
    excess = _standardised_moment(a, 4, axis, keepdims)
    if not bias:
        excess = ((n**2 - 1.0) * excess - 3 * (n - 1.0) ** 2) / ((n - 2.0) * (n - 3.0)) + 3
    return excess - 3 if fisher else excess


@follow_arguments
def variation(
    a: Any,
    axis: Any = 0,
    nan_policy: str = "propagate",
    ddof: int = 0,
    *,
    keepdims: Any = False,
) -> Any:
    """The deviation as a part of the mean.

    >>> float(variation(np.array([1.0, 3.0])))
    0.5
    """
    check_nan_policy("variation", nan_policy)
    a, axis = _floats_and_axis(a, axis)
    spread = np.std(a, axis=axis, ddof=ddof, keepdims=keepdims)
    return spread / np.mean(a, axis=axis, keepdims=keepdims)


@follow_arguments
def iqr(
    x: Any,
    axis: Any = None,
    rng: Any = (25, 75),
    scale: Any = 1.0,
    nan_policy: str = "propagate",
    interpolation: Any = "linear",
    keepdims: Any = False,
) -> Any:
    """The distance between two percentiles, `rng`, by `scale`.

    >>> float(iqr(np.arange(5.0)))
    2.0
    """
    check_nan_policy("iqr", nan_policy)
    scale = 1.3489795003921634 if scale == "normal" else scale
    ends = [np.percentile(x, q, axis=axis, method=interpolation, keepdims=keepdims) for q in rng]
    return (ends[1] - ends[0]) / scale


@follow_arguments
def median_abs_deviation(
    x: Any, axis: Any = 0, center: Any = None, scale: Any = 1.0, nan_policy: str = "propagate"
) -> Any:
    """The median of the distances from the median, by `scale`.

    Raises ValueError for another center.

    >>> float(median_abs_deviation(np.array([1.0, 2.0, 4.0])))
    1.0
    """
    check_nan_policy("median_abs_deviation", nan_policy)
    if center is not None:
        raise ArgumentError("median_abs_deviation: center is not supported", "leave it out")
    x, axis = _floats_and_axis(x, axis)
    scale = 0.6744897501960817 if scale == "normal" else scale
    return np.median(np.abs(x - np.median(x, axis=axis, keepdims=True)), axis=axis) / scale


class PearsonRResult(NamedTuple):
    """How two samples go together, and how likely as much is if they do not."""

    statistic: Any
    pvalue: Any

    @property
    def correlation(self) -> Any:
        return self.statistic


def pearsonr(
    x: Any, y: Any, *, alternative: str = "two-sided", method: Any = None, axis: int = 0
) -> PearsonRResult:
    """The correlation of two samples, and its p-value.

    x, y  arrays of one shape
    axis  along which the samples lie

    Raises ValueError for another alternative or method.

    >>> float(pearsonr(np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 4.0])).statistic.round(4))
    0.9286
    """
    if alternative != "two-sided" or method is not None:
        raise ArgumentError("pearsonr: only alternative='two-sided' without method is supported")
    x, axis = _floats_and_axis(x, axis)
    y, _ = _floats_and_axis(y, axis)
    n = x.shape[axis]
    x, y = (a - np.mean(a, axis=axis, keepdims=True) for a in (x, y))
    r = np.sum(x * y, axis=axis) / np.sqrt(np.sum(x * x, axis=axis) * np.sum(y * y, axis=axis))
    r = np.clip(r, -1.0, 1.0)
    half = n / 2 - 1
    return PearsonRResult(r, 2 * betainc(half, half, (1 - np.abs(r)) / 2))
