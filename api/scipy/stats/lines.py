"""The straight line that fits samples best, as scipy.stats.linregress has it."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betainc

from tapeless.numpy.functions import followed
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


class LinregressResult(NamedTuple):
    """A line, how well samples follow it, and how exactly its slope is known."""

    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any


@followed
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
    left = operator.index(x.shape[0]) - 2
    off_x, off_y = x - np.mean(x), y - np.mean(y)
    spread_x, spread_y = np.sum(off_x * off_x), np.sum(off_y * off_y)
    slope = np.sum(off_x * off_y) / spread_x
    r = np.sum(off_x * off_y) / np.sqrt(spread_x * spread_y)
    intercept = np.mean(y) - slope * np.mean(x)
    if left == 0:
        return LinregressResult(slope, intercept, r, np.where(y[0] == y[1], 1.0, 0.0)[()], 0.0)
    rest = np.sum((off_y - slope * off_x) ** 2)
    chance = betainc(left / 2, 0.5, rest / spread_y)
    return LinregressResult(slope, intercept, r, chance, np.sqrt(rest / (left * spread_x)))
