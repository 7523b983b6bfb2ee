"""Computes quantiles of any level and method, by sorting.

Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician 50 (1996).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.core.language import Atom
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.numpy.cumulative import cumsum
from tapeless.transforms.ops.numpy.indexing import INDEX, get
from tapeless.transforms.ops.numpy.reductions import merge_reduced_axes
from tapeless.transforms.ops.numpy.run_time_errors import require
from tapeless.transforms.ops.numpy.sorting import argsort, searchsorted, sort
from tapeless.transforms.ops.primitives.arithmetic import add, floordiv, mod, mul, sub, truediv
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    ceil,
    equal,
    floor,
    greater,
    greater_equal,
    isnan,
    less,
    less_equal,
    logical_and,
    rint,
)
from tapeless.transforms.ops.primitives.elementwise import maximum, minimum
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import cast, cast_to, flatten, move, reshape

#: In the place of a level: the median, which is the mean of two elements in the middle. To a
#: quantile, infinities next to it count as well.
MEDIAN = None
#: Where a quantile is between elements: n q + a + q (1 - a - b) - 1.
CONTINUOUS = {
    "linear": (1.0, 1.0),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
#: An element, of those on both sides of where "linear" is.
CHOSEN = {"lower": floor, "higher": ceil, "nearest": rint}


def _closest(place: Atom) -> Any:
    """Of two elements that are equally near, that at the even place, where the first is at 1."""
    low = floor(place - 1.5)
    even = logical_and(equal(place - 1.5, low), equal(mod(low, 2), 1))
    return select(even, low, low + 1.0)


#: An element, by n q.
STEPS = {"inverted_cdf": lambda place: ceil(place - 1.0), "closest_observation": _closest}
#: Where elements are averaged, too.
ENDS = {**CONTINUOUS, "averaged_inverted_cdf": (0.0, 1.0)}


def check_levels(q: Atom, most: float) -> None:
    """Raises NumPy's error for levels that are not from 0 to 1, or 100, when the program runs."""
    inside = logical_and(greater_equal(q, 0), less_equal(q, most))
    name = "Quantiles" if most == 1 else "Percentiles"
    require(inside, ValueError, f"{name} must be in the range [0, {most:g}]")


def by_sorting(a: Atom, q: Atom, axes: tuple[int, ...], keepdims: bool, method: str) -> Any:
    """The quantiles at the levels q, whose axes come first."""
    methods = [*CONTINUOUS, *CHOSEN, *STEPS, "averaged_inverted_cdf", "midpoint"]
    if method not in methods:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {methods}")
    line, _, axis = merge_reduced_axes(a, a, axes)
    ordered = move(sort(line, axis=axis), (axis,), (0,))
    quantiles = _element_at_share(ordered, q, method)
    if a.type.dtype.kind == "f":
        quantiles = select(isnan(get(ordered, -1)), a.type.dtype.type(np.nan), quantiles)
    if keepdims:
        kept = tuple(1 if k in axes else n for k, n in enumerate(a.type.shape))
        quantiles = reshape(quantiles, shape=(*q.type.shape, *kept))
    return quantiles


def weighted_quantile(a: Atom, q: Atom, weights: Atom, axis: Any, method: str) -> Any:
    """The first element up to which the weights of all are at least a share q of their sum."""
    if method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    if a.type.ndim != 1 and (axis is not None or weights.type.ndim != a.type.ndim):
        raise UnsupportedError("quantiles with weights= along an axis", "loop over the other axes")
    require(greater_equal(weights, 0), ValueError, "Weights must be non-negative.")
    a, weights = flatten(a), flatten(weights)
    order = argsort(a, axis=0)
    total = cumsum(get(weights, order), axis=0)
    shares = truediv(total, get(total, -1))
    shares = select(equal(shares, 0), -1.0, shares)  # what weighs nothing is no quantile
    place = minimum(searchsorted(shares, q, side="left"), atom_of_size(a.type.shape[0]) - 1)
    return get(get(a, order), place)


def middle(a: Atom, axes: tuple[int, ...], keepdims: bool) -> Any:
    """The median; complex numbers are ordered by their real parts, then by the others."""
    line, _, axis = merge_reduced_axes(a, a, axes)
    if a.type.dtype.kind not in "fc":
        line = cast(line, dtype=np.dtype(float))
    ordered = move(sort(line, axis=axis), (axis,), (0,))
    n = atom_of_size(ordered.type.shape[0])
    low, high = (get(ordered, floordiv(n - k, 2)) for k in (1, 0))
    last = get(ordered, -1)
    medians = select(isnan(last), last, mul(0.5, add(low, high)))
    kept = tuple(1 if k in axes else n for k, n in enumerate(a.type.shape))
    return reshape(medians, shape=kept) if keepdims else medians


def _element_at_share(x: Atom, q: Atom, method: str) -> Any:
    """Elements of a sorted array, or what is between them."""
    last = atom_of_size(x.type.shape[0]) - 1
    if method in CHOSEN:
        return get(x, cast(CHOSEN[method](mul(q, last)), dtype=INDEX))
    if method in STEPS:
        return get(x, cast(maximum(STEPS[method](mul(q, last + 1)), 0.0), dtype=INDEX))
    start, end = ENDS.get(method, CONTINUOUS["linear"])
    place = sub(add(mul(last + 1, q), add(start, mul(q, 1 - start - end))), 1.0)
    averaged = method == "averaged_inverted_cdf"
    place = minimum(place if averaged else maximum(place, 0.0), last)
    low, high = floor(place), floor(place) + 1.0
    if averaged:
        low, high = maximum(low, 0.0), maximum(high, 0.0)
    below, above = (get(x, cast(minimum(k, last), dtype=INDEX)) for k in (low, high))
    share = sub(place, low)
    if method == "midpoint":
        share = mul(0.5, cast(greater(share, 0), dtype=np.dtype(float)))
    if averaged:
        share = select(equal(share, 0), 0.5, 1.0)
    level: Any = 0.5 if q.type.weak else q.type.dtype.type(0)
    share = cast_to(share, np.quantile(np.zeros(1, x.type.dtype), level).dtype)
    share = reshape(share, shape=(*q.type.shape, *(1,) * (x.type.ndim - 1)))
    return interpolate(below, above, share)


def interpolate(below: Atom, above: Atom, share: Atom) -> Any:
    """What is between two elements, from the nearer one, as NumPy."""
    gap = sub(above, below)
    up, down = add(below, mul(gap, share)), sub(above, mul(gap, sub(1, share)))
    return select(less(share, 0.5), up, down)
