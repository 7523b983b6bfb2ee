"""Computes trimmed and circular means, power transformations and t tests of samples, as scipy.stats
does.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import boxcox as box_cox
from scipy.special import entr, fdtrc, rel_entr, stdtr

from tapeless.transforms.errors import UnsupportedError

__staged__ = True  # plain NumPy code: a staged run enters it


class Outcome(NamedTuple):
    """What a test gives."""

    statistic: Any
    pvalue: Any


def _refuse(**options: Any) -> None:
    """Refuses options that are not those by default."""
    refused = [name for name, value in options.items() if value is not None]
    if refused:
        raise UnsupportedError(f"the option {refused[0]}=", "take the values out before")


def _sample(a: Any, axis: Any) -> tuple[Any, Any]:
    a = np.asarray(a)
    return (a.reshape(-1), 0) if axis is None else (a, axis)


# -- means and deviations; those of limits select elements


def tmean(a: Any, limits: Any = None, inclusive: Any = (True, True), axis: Any = None) -> Any:
    _refuse(limits=limits)
    return np.mean(a, axis=axis)


def tvar(
    a: Any, limits: Any = None, inclusive: Any = (True, True), axis: Any = 0, ddof: Any = 1
) -> Any:
    _refuse(limits=limits)
    return np.var(a, axis=axis, ddof=ddof)


def tstd(
    a: Any, limits: Any = None, inclusive: Any = (True, True), axis: Any = 0, ddof: Any = 1
) -> Any:
    return np.sqrt(tvar(a, limits, inclusive, axis, ddof))


def tsem(
    a: Any, limits: Any = None, inclusive: Any = (True, True), axis: Any = 0, ddof: Any = 1
) -> Any:
    a, axis = _sample(a, axis)
    return tstd(a, limits, inclusive, axis, ddof) / np.sqrt(a.shape[axis])


def trim_mean(a: Any, proportiontocut: Any, axis: Any = 0) -> Any:
    """The mean without so large a part of the elements at both ends."""
    a, axis = _sample(a, axis)
    n = a.shape[axis]
    cut = int(proportiontocut * n)
    if 2 * cut >= n:
        raise ValueError("Proportion too big.")
    ordered = np.moveaxis(np.sort(a, axis=axis), axis, 0)
    return np.mean(ordered[cut : n - cut], axis=0)


def gstd(a: Any, axis: Any = 0, ddof: Any = 1) -> Any:
    """The geometric standard deviation."""
    return np.exp(np.std(np.log(a), axis=axis, ddof=ddof))


def entropy(pk: Any, qk: Any = None, base: Any = None, axis: Any = 0) -> Any:
    """The entropy of probabilities, which need not add up to 1; with qk the relative one."""
    pk = np.asarray(pk)
    pk = 1.0 * pk / np.sum(pk, axis=axis, keepdims=True)
    if qk is None:
        total = np.sum(entr(pk), axis=axis)
    else:
        qk = np.asarray(qk)
        total = np.sum(rel_entr(pk, 1.0 * qk / np.sum(qk, axis=axis, keepdims=True)), axis=axis)
    return total if base is None else total / math.log(base)


# -- of angles


def _mean_direction(samples: Any, high: Any, low: Any, axis: Any) -> tuple[Any, Any]:
    """The mean of the points on a circle: sine and cosine."""
    angles = (np.asarray(samples) - low) * (2 * np.pi / (high - low))
    return np.mean(np.sin(angles), axis=axis), np.mean(np.cos(angles), axis=axis)


def circmean(samples: Any, high: Any = 2 * np.pi, low: Any = 0, axis: Any = None) -> Any:
    sine, cosine = _mean_direction(samples, high, low, axis)
    angle = np.arctan2(sine, cosine)
    return np.where(angle < 0, angle + 2 * np.pi, angle)[()] * (high - low) / (2 * np.pi) + low


def circvar(samples: Any, high: Any = 2 * np.pi, low: Any = 0, axis: Any = None) -> Any:
    sine, cosine = _mean_direction(samples, high, low, axis)
    return 1.0 - np.minimum(np.hypot(sine, cosine), 1.0)


def circstd(
    samples: Any, high: Any = 2 * np.pi, low: Any = 0, axis: Any = None, *, normalize: Any = False
) -> Any:
    sine, cosine = _mean_direction(samples, high, low, axis)
    length = np.minimum(np.hypot(sine, cosine), 1.0)
    angle = np.sqrt(-2 * np.log(length))
    return angle if normalize else angle * (high - low) / (2 * np.pi)


# -- transformations to normal samples, for a parameter that is given


def boxcox(x: Any, lmbda: Any = None, alpha: Any = None, optimizer: Any = None) -> Any:
    if lmbda is None:
        raise UnsupportedError("boxcox without lmbda=, which searches for it", "give lmbda")
    return box_cox(x, lmbda)


def boxcox_llf(lmb: Any, data: Any, *, axis: Any = 0) -> Any:
    """The logarithm of the likelihood of a parameter."""
    data = np.asarray(data)
    logs, n = np.log(data), data.shape[axis]
    moved = box_cox(data, lmb)
    return (lmb - 1) * np.sum(logs, axis=axis) - n / 2 * np.log(np.var(moved, axis=axis))


def yeojohnson(x: Any, lmbda: Any = None) -> Any:
    if lmbda is None:
        raise UnsupportedError("yeojohnson without lmbda=, which searches for it", "give lmbda")
    x = np.asarray(x)
    up = box_cox(np.where(x >= 0, x, 0.0) + 1, lmbda)
    down = -box_cox(np.where(x < 0, -x, 0.0) + 1, 2 - lmbda)
    return np.where(x >= 0, up, down)


# -- tests of means


def _of_t(t: Any, df: Any, alternative: str) -> Outcome:
    if alternative == "two-sided":
        return Outcome(t, 2 * stdtr(df, -np.abs(t)))
    if alternative not in ("less", "greater"):
        raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")
    return Outcome(t, stdtr(df, t if alternative == "less" else -t))


def ttest_1samp(a: Any, popmean: Any, axis: Any = 0, alternative: str = "two-sided") -> Outcome:
    a, axis = _sample(a, axis)
    n = a.shape[axis]
    error = np.sqrt(np.var(a, axis=axis, ddof=1) / n)
    return _of_t((np.mean(a, axis=axis) - popmean) / error, n - 1.0, alternative)


def ttest_rel(a: Any, b: Any, axis: Any = 0, alternative: str = "two-sided") -> Outcome:
    return ttest_1samp(np.asarray(a) - np.asarray(b), 0.0, axis, alternative)


def ttest_ind(
    a: Any,
    b: Any,
    *,
    axis: Any = 0,
    equal_var: bool = True,
    alternative: str = "two-sided",
    trim: Any = 0,
) -> Outcome:
    _refuse(trim=trim or None)
    (a, axis), (b, _) = _sample(a, axis), _sample(b, axis)
    n, m = a.shape[axis], b.shape[axis]
    v, w = np.var(a, axis=axis, ddof=1), np.var(b, axis=axis, ddof=1)
    if equal_var:
        df = n + m - 2.0
        error = np.sqrt(((n - 1) * v + (m - 1) * w) / df * (1 / n + 1 / m))
    else:
        of_a, of_b = v / n, w / m
        df = (of_a + of_b) ** 2 / (of_a**2 / (n - 1) + of_b**2 / (m - 1))
        error = np.sqrt(of_a + of_b)
    return _of_t((np.mean(a, axis=axis) - np.mean(b, axis=axis)) / error, df, alternative)


def f_oneway(*samples: Any, axis: Any = 0) -> Outcome:
    """Whether means of groups are equal."""
    groups = [_sample(s, axis)[0] for s in samples]
    axis = 0 if axis is None else axis
    sizes = [g.shape[axis] for g in groups]
    count = sum(sizes)
    means = [np.mean(g, axis=axis, keepdims=True) for g in groups]
    total = sum(n * m for n, m in zip(sizes, means, strict=True)) / count
    between = sum(
        np.squeeze(n * (m - total) ** 2, axis=axis) for n, m in zip(sizes, means, strict=True)
    )
    within = sum(np.sum((g - m) ** 2, axis=axis) for g, m in zip(groups, means, strict=True))
    df_between, df_within = len(groups) - 1.0, count - 1.0 * len(groups)
    ratio = between / df_between / (within / df_within)
    return Outcome(ratio, fdtrc(df_between, df_within, ratio))


FUNCTIONS: dict[str, Any] = {
    f.__name__: f
    for f in (
        *(tmean, tvar, tstd, tsem, trim_mean, gstd, entropy, circmean, circvar, circstd),
        *(boxcox, boxcox_llf, yeojohnson, ttest_1samp, ttest_rel, ttest_ind, f_oneway),
    )
}
