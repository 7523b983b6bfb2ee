"""Fits straight lines to samples, and correlates ranks, as scipy.stats does."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betainc, ndtri

from tapeless.numpy.array_functions import follow_arguments
from tapeless.scipy.stats.descriptive import PearsonRResult, pearsonr
from tapeless.scipy.stats.sample_statistics import check_nan_policy, rankdata
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


class LinregressResult(NamedTuple):
    """A line, how well samples follow it, and how exactly its slope is known."""

    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any


@follow_arguments
def linregress(x: Any, y: Any, alternative: str = "two-sided") -> LinregressResult:
    """The line through samples with the least squares of distances in y: slope, intercept,
    correlation, p-value of a slope of 0, and standard error of the slope.

    x, y  vectors

    Raises ValueError for another alternative.

    >>> linregress(np.arange(3.0), np.array([1.0, 3.0, 5.0])).slope
    np.float64(2.0)
    """
    if alternative != "two-sided":
        raise ArgumentError("linregress: only alternative='two-sided' is supported")
    x, y = np.asarray(x).astype(float), np.asarray(y).astype(float)  # as SciPy does
    freedom = operator.index(x.shape[0]) - 2
    off_x, off_y = x - np.mean(x), y - np.mean(y)
    spread_x, spread_y = np.sum(off_x * off_x), np.sum(off_y * off_y)
    slope = np.sum(off_x * off_y) / spread_x
    r = np.sum(off_x * off_y) / np.sqrt(spread_x * spread_y)
    intercept = np.mean(y) - slope * np.mean(x)
    if freedom == 0:
        return LinregressResult(slope, intercept, r, np.where(y[0] == y[1], 1.0, 0.0)[()], 0.0)
    rest = np.sum((off_y - slope * off_x) ** 2)
    chance = betainc(freedom / 2, 0.5, rest / spread_y)
    return LinregressResult(slope, intercept, r, chance, np.sqrt(rest / (freedom * spread_x)))


class TheilslopesResult(NamedTuple):
    """A line, and between which slopes its slope is likely to be."""

    slope: Any
    intercept: Any
    low_slope: Any
    high_slope: Any


@follow_arguments
def theilslopes(
    y: Any, x: Any = None, alpha: float = 0.95, method: str = "separate"
) -> TheilslopesResult:
    """The line whose slope is the median of those between any two points.

    y, x    vectors; x is 0, 1, 2, ... by default
    alpha   how likely the true slope is between the two that are returned
    method  where the line lies: 'separate': through the medians of x and y, 'joint': by the median
            of y - slope x

    Differentiable where no two slopes change places. Raises ValueError for another method. Source:
    P. K. Sen, J. Am. Stat. Assoc. 63 (1968).

    >>> theilslopes(np.array([1.0, 3.0, 5.0, 99.0, 9.0])).slope
    np.float64(2.0)
    """
    if method not in ("joint", "separate"):
        raise ArgumentError(f"theilslopes: method must be 'joint' or 'separate', not {method!r}")
    y = np.ravel(np.asarray(y).astype(float))
    n = operator.index(y.shape[0])
    x = np.arange(float(n)) if x is None else np.ravel(np.asarray(x).astype(float))
    if n < 2 or x.shape != y.shape:
        raise ArgumentError("theilslopes: x and y need the same length, of 2 or more")
    rise, run = y[:, np.newaxis] - y, x[:, np.newaxis] - x
    slopes = np.sort(rise[run > 0] / run[run > 0])
    slope = np.median(slopes)
    if method == "joint":
        intercept = np.median(y - slope * x)
    else:
        intercept = np.median(y) - slope * np.median(x)
    spread = np.sqrt((n * (n - 1) * (2 * n + 5) - _of_ties(x) - _of_ties(y)) / 18)
    off = ndtri(min(alpha, 1 - alpha) / 2) * spread
    count = slopes.shape[0]
    low = max(np.round((count + off) / 2).astype(int) - 1, 0)
    high = min(np.round((count - off) / 2).astype(int), count - 1)
    return TheilslopesResult(slope, intercept, slopes[low], slopes[high])


def _of_ties(x: Any) -> Any:
    """The sum of k (k - 1) (2 k + 5) over sets of k equal numbers."""
    k = np.sum(x[:, np.newaxis] == x, axis=1)
    return np.sum((k - 1) * (2 * k + 5))


@follow_arguments
def spearmanr(
    a: Any,
    b: Any = None,
    axis: int = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
) -> PearsonRResult:
    """The correlation of the ranks of two samples, and its p-value.

    a, b  vectors; or a is an array of two columns, or of two rows with axis 1

    Ranks change in steps: derivatives are 0. Raises ValueError for more samples, another
    alternative and another nan_policy.

    >>> float(spearmanr(np.array([1.0, 2.0, 9.0]), np.array([1.0, 7.0, 8.0])).statistic.round(12))
    1.0
    """
    check_nan_policy("spearmanr", nan_policy)
    if alternative != "two-sided":
        raise ArgumentError("spearmanr: only alternative='two-sided' is supported")
    if b is None:
        both = np.moveaxis(np.asarray(a), axis, -1)
        if both.ndim != 2 or operator.index(both.shape[0]) != 2:
            raise ArgumentError("spearmanr: two samples are supported", "call it for each pair")
        a, b = both[0], both[1]
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim != 1 or a.shape != b.shape:
        raise ArgumentError("spearmanr: samples must be vectors of one length")
    ranks = [rankdata(v) for v in (a, b)]
    r = pearsonr(ranks[0], ranks[1]).statistic
    r = np.where(np.isnan(np.sum(a) + np.sum(b)), np.nan, r)[()]
    half = operator.index(a.shape[0]) / 2 - 1
    return PearsonRResult(r, betainc(half, 0.5, (1 - r) * (1 + r)))
