"""Quantiles of any level and method, by sorting.

Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician 50 (1996).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import size_atom
from tapeless.transforms.core.language import Atom
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.arithmetic import add, mul, sub
from tapeless.transforms.ops.elementwise import maximum, minimum
from tapeless.transforms.ops.indexing import INDEX, get
from tapeless.transforms.ops.raising import raise_where
from tapeless.transforms.ops.reductions import merged
from tapeless.transforms.ops.selection import select
from tapeless.transforms.ops.shapes import cast, cast_to, move, reshape
from tapeless.transforms.ops.sorting import sort
from tapeless.transforms.ops.steps import (
    ceil,
    floor,
    greater,
    greater_equal,
    isnan,
    less,
    less_equal,
    logical_and,
    logical_not,
    rint,
)

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


def check_levels(q: Atom, most: float) -> None:
    """Raises NumPy's error for levels that are not from 0 to 1, or 100, when the program runs."""
    outside = logical_not(logical_and(greater_equal(q, 0), less_equal(q, most)))
    name = "Quantiles" if most == 1 else "Percentiles"
    raise_where(outside, ValueError, f"{name} must be in the range [0, {most:g}]")


def by_sorting(a: Atom, q: Atom, axes: tuple[int, ...], keepdims: bool, method: str) -> Any:
    """The quantiles at the levels q, whose axes come first."""
    if method not in CONTINUOUS and method not in CHOSEN and method != "midpoint":
        known = ", ".join([*CONTINUOUS, *CHOSEN, "midpoint"])
        raise UnsupportedError(f"np.quantile with method={method!r}", f"there are {known}")
    line, _, axis = merged(a, a, axes)
    ordered = move(sort(line, axis=axis), (axis,), (0,))
    made = _at(ordered, q, method)
    if a.type.dtype.kind == "f":
        made = select(isnan(get(ordered, -1)), a.type.dtype.type(np.nan), made)
    if keepdims:
        kept = tuple(1 if k in axes else n for k, n in enumerate(a.type.shape))
        made = reshape(made, shape=(*q.type.shape, *kept))
    return made


def _at(x: Atom, q: Atom, method: str) -> Any:
    """Elements of a sorted array, or what is between them."""
    last = size_atom(x.type.shape[0]) - 1
    if method in CHOSEN:
        return get(x, cast(CHOSEN[method](mul(q, last)), dtype=INDEX))
    start, end = CONTINUOUS.get(method, CONTINUOUS["linear"])
    place = sub(add(mul(last + 1, q), add(start, mul(q, 1 - start - end))), 1.0)
    place = minimum(maximum(place, 0.0), last)
    low = floor(place)
    below, above = (get(x, cast(minimum(k, last), dtype=INDEX)) for k in (low, low + 1.0))
    share = sub(place, low)
    if method == "midpoint":
        share = mul(0.5, cast(greater(share, 0), dtype=np.dtype(float)))
    level: Any = 0.5 if q.type.weak else q.type.dtype.type(0)
    share = cast_to(share, np.quantile(np.zeros(1, x.type.dtype), level).dtype)
    share = reshape(share, shape=(*q.type.shape, *(1,) * (x.type.ndim - 1)))
    return between(below, above, share)


def between(below: Atom, above: Atom, share: Atom) -> Any:
    """What is between two elements, from the nearer one, as NumPy."""
    gap = sub(above, below)
    up, down = add(below, mul(gap, share)), sub(above, mul(gap, sub(1, share)))
    return select(less(share, 0.5), up, down)
