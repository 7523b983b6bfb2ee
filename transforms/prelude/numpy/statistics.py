"""Implements averages and deviations: functions of `statistics`."""

from __future__ import annotations

import math
import statistics
from typing import Any

__staged__ = True  # plain code: a staged run enters it


def mean(data: Any) -> Any:
    items = require_items(data, "mean")
    return sum(items) / len(items)


def fmean(data: Any, weights: Any = None) -> Any:
    items = require_items(data, "fmean")
    if weights is None:
        return math.fsum(items) / len(items)
    shares = list(weights)
    if len(shares) != len(items):
        raise statistics.StatisticsError("data and weights must be the same length")
    total = math.fsum([w * v for w, v in zip(shares, items, strict=True)])
    return total / math.fsum(shares)


def geometric_mean(data: Any) -> Any:
    items = require_items(data, "geometric_mean")
    if any(v <= 0 for v in items):
        raise statistics.StatisticsError(
            "geometric mean requires a non-empty dataset containing positive numbers"
        )
    return math.exp(fmean([math.log(v) for v in items]))


def harmonic_mean(data: Any, weights: Any = None) -> Any:
    items = require_items(data, "harmonic_mean")
    shares = [1] * len(items) if weights is None else list(weights)
    if len(shares) != len(items):
        raise statistics.StatisticsError("Number of weights does not match data size")
    if min(items) < 0:
        raise statistics.StatisticsError("harmonic mean does not support negative values")
    if min(items) == 0:
        return min(items)
    return sum(shares) / sum([w / v for w, v in zip(shares, items, strict=True)])


def median(data: Any) -> Any:
    items = sorted(require_items(data, "median"))
    half, odd = divmod(len(items), 2)
    return items[half] if odd else (items[half - 1] + items[half]) / 2


def median_low(data: Any) -> Any:
    items = sorted(require_items(data, "median_low"))
    return items[(len(items) - 1) // 2]


def median_high(data: Any) -> Any:
    items = sorted(require_items(data, "median_high"))
    return items[len(items) // 2]


def variance(data: Any, xbar: Any = None) -> Any:
    items = require_items(data, "variance", 2)
    return squares(items, xbar) / (len(items) - 1)


def pvariance(data: Any, mu: Any = None) -> Any:
    items = require_items(data, "pvariance")
    return squares(items, mu) / len(items)


def stdev(data: Any, xbar: Any = None) -> Any:
    return variance(data, xbar) ** 0.5


def pstdev(data: Any, mu: Any = None) -> Any:
    return pvariance(data, mu) ** 0.5


def require_items(data: Any, name: str, least: int = 1) -> Any:
    """The data as a list of enough items."""
    items = list(data)
    if len(items) < least:
        points = "one data point" if least == 1 else "two data points"
        raise statistics.StatisticsError(f"{name} requires at least {points}")
    return items


def squares(items: Any, center: Any) -> Any:
    """The sum of the squares of the distances from the center."""
    c = sum(items) / len(items) if center is None else center
    return sum([(v - c) ** 2 for v in items])


OURS = (
    *(mean, fmean, geometric_mean, harmonic_mean, median, median_low, median_high),
    *(variance, pvariance, stdev, pstdev),
)
PYTHON: dict[Any, Any] = {getattr(statistics, ours.__name__): ours for ours in OURS}
