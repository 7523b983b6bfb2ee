"""Rewrites sorting and searching of some hundred numbers as routines of kernels.

m = median(x)      becomes      y = copy(x); sort_in_place(y); m = (y[(n - 1) // 2] + y[n // 2]) / 2
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite import array_routines
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken
from tapeless.transforms.lowering.rewrite.scans import element, loop
from tapeless.transforms.ops.numerics import statistics
from tapeless.transforms.ops.numerics.calculus import interp
from tapeless.transforms.ops.numpy.flipping import flip
from tapeless.transforms.ops.numpy.histograms import digitize
from tapeless.transforms.ops.numpy.indexing import INDEX, get, take_along
from tapeless.transforms.ops.numpy.quantiles import MEDIAN, interpolate
from tapeless.transforms.ops.numpy.reductions import any_, merge_reduced_axes
from tapeless.transforms.ops.numpy.run_time_errors import raise_where, require_at_least
from tapeless.transforms.ops.numpy.sorting import (
    argsort,
    lexsort,
    partition,
    permute,
    searchsorted,
    sort,
)
from tapeless.transforms.ops.primitives import (
    arithmetic,
    comparisons_and_rounding,
    elementwise,
    selection,
)
from tapeless.transforms.ops.primitives.new_arrays import count_up, empty
from tapeless.transforms.ops.primitives.shapes import cast_to, copy, flatten, move, reshape
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, gather, update

LIMIT = 1024  # numbers, from which NumPy's sort is worth a call
Outs = tuple[Var, ...]
Line = Callable[[Atom], Any]
Search = Callable[[Atom, Atom], Any]


def map_lines(x: Atom, axis: int, out: Type, line: Line) -> Any:
    """What `line` makes of each line of an array along an axis."""
    if x.type.ndim == 1:
        return line(x)
    if x.type.ndim != 2:
        raise NotTaken
    other = 1 - axis

    def body(i: Any, y: Any) -> tuple[Any, ...]:
        key = (*(slice(None),) * other, Slot(0), *(slice(None),) * axis)
        return (update(y, line(element(x, i, other)), i, key=key[:2]),)

    return loop(x.type.shape[other], (empty(shape=out.shape, dtype=out.dtype),), body)[0]


def _line_sorted(x: Atom) -> Any:
    return array_routines.sort(copy(x))


def _line_order(x: Atom) -> Any:
    return array_routines.order(cast_to(count_up(x.type.shape[0]), INDEX), copy(x))


def order_lines(line: Line) -> Callable[..., Any]:
    def order(small: Any, outs: Outs, x: Atom, *, axis: int, **_: Any) -> Any:
        small.require_not_large(LIMIT, x.type.shape[axis])
        return map_lines(x, axis, outs[0].type, line)

    return order


def partition_lines(small: Any, outs: Outs, x: Atom, *, kth: Any, axis: int) -> Any:
    """Sorts each line: a place outside of it is NumPy's error."""
    n = x.type.shape[axis]
    for k in kth if isinstance(kth, tuple) else (kth,):
        require_at_least(n, max(k + 1, -k), ValueError, f"kth(={k}) out of bounds")
    return order_lines(_line_sorted)(small, outs, x, axis=axis)


def by_several_keys(small: Any, outs: Outs, *keys: Atom) -> Any:
    """The last key decides; of what is equal, the order by those before it stays."""
    if keys[0].type.ndim != 1:
        raise NotTaken
    small.require_not_large(LIMIT, keys[0].type.shape[0])
    places: Any = None
    for key in keys:
        in_order = key if places is None else gather(key, places, key=(Slot(0, True),))
        again = _line_order(in_order)
        places = again if places is None else gather(places, again, key=(Slot(0, True),))
    return places


def take_in_order(small: Any, outs: Outs, x: Atom, order: Atom, *, axis: int) -> Any:
    if x.type.ndim == 1:
        return gather(x, order, key=(Slot(0, True),))
    return take_along(x, order, axis)


def search_each(x: Atom, v: Atom) -> Any:
    return array_routines.searched(copy(x), v, after=True)


def search_sorted(small: Any, outs: Outs, x: Atom, v: Atom, *, side: str) -> Any:
    dtype = np.result_type(x.type.dtype, v.type.dtype)
    return array_routines.searched(
        copy(cast_to(x, dtype)), cast_to(v, dtype), after=side == "right"
    )


def quantile(
    small: Any, outs: Outs, x: Atom, *, q: float | None, axes: tuple[int, ...], keepdims: bool
) -> Any:
    out = outs[0].type
    if out.dtype.kind != "f":
        raise NotTaken
    line, _, axis = merge_reduced_axes(x, x, axes)
    n = line.type.shape[axis]
    small.require_not_large(LIMIT, n)
    if n == 0:
        raise NotTaken
    in_order = move(map_lines(line, axis, line.type, _line_sorted), (axis,), (0,))
    return reshape(of_ordered(cast_to(in_order, out.dtype), q, n), shape=out.shape)


def of_ordered(x: Atom, q: float | None, n: Size) -> Any:
    """A quantile of `n` elements in order along the first axis: those that are nan are last."""
    value = _middle(x, n) if q is MEDIAN else _interpolate(x, q, n)
    return selection.select(
        comparisons_and_rounding.isnan(get(x, -1)), x.type.dtype.type(np.nan), value
    )


def _middle(x: Atom, n: Size) -> Any:
    last = atom_of_size(n)
    low, high = arithmetic.floordiv(last - 1, 2), arithmetic.floordiv(last, 2)
    below, above = get(x, low), get(x, high)
    half = arithmetic.mul(arithmetic.add(below, above), x.type.dtype.type(0.5))
    return selection.select(comparisons_and_rounding.equal(low, high), below, half)


def _interpolate(x: Atom, q: float, n: Size) -> Any:
    last = atom_of_size(n) - 1
    place = arithmetic.mul(q, last)
    low = cast_to(comparisons_and_rounding.floor(place), INDEX)
    below, above = get(x, low), get(x, elementwise.minimum(low + 1, last))
    return interpolate(below, above, cast_to(arithmetic.sub(place, low), x.type.dtype))


def search_all(small: Any, outs: Outs, x: Atom, v: Atom, *, side: str) -> Any:
    """The places of all values at once: of fewer than there are to search among, NumPy finds them
    in less time than it takes to look at all of these."""
    shape = v.type.shape
    if not shape:
        raise NotTaken
    small.require_as_many(dims.product(shape), x.type.shape[0])
    v = v if len(shape) == 1 else copy(flatten(v))
    dtype = np.result_type(x.type.dtype, v.type.dtype)
    search = array_routines.search_after if side == "right" else array_routines.search_before
    places = empty(shape=v.type.shape, dtype=INDEX)
    places = search(places, *(small.whole_array(cast_to(a, dtype)) for a in (x, v)))
    return places if len(shape) == 1 else reshape(places, shape=shape)


def put_in_bins(small: Any, outs: Outs, x: Atom, bins: Atom, *, right: bool) -> Any:
    """Which of the bins each element is in: their edges may fall, too."""
    first, second = get(bins, slice(None, -1)), get(bins, slice(1, None))
    falls = any_(comparisons_and_rounding.greater(first, second), axes=(0,), keepdims=False)
    rises = any_(comparisons_and_rounding.less(first, second), axes=(0,), keepdims=False)
    both = comparisons_and_rounding.logical_and(falls, rises)
    message = "bins must be monotonically increasing or decreasing"
    raise_where(both, ValueError, message)
    edges = selection.select(falls, flip(bins, 0), bins)
    places = search_all(small, outs, edges, x, side="left" if right else "right")
    n = atom_of_size(bins.type.shape[0])
    return selection.select(falls, arithmetic.sub(n, places), places)


def interpolate_all(small: Any, outs: Outs, x: Atom, xp: Atom, fp: Atom) -> Any:
    return interpolate_rows(small, outs, x, xp, fp, partial(search_all, small, (), side="right"))


def interpolate_rows(
    small: Any, outs: Outs, x: Atom, xp: Atom, fp: Atom, search: Search = search_each
) -> Any:
    n = xp.type.shape[0]
    if outs[0].type.dtype.kind != "f" or not dims.at_least(n, 2):
        raise NotTaken
    x, xp, fp = (cast_to(a, np.dtype(float)) for a in (x, xp, fp))
    place = search(xp, x)
    i = elementwise.minimum(elementwise.maximum(place - 1, 0), atom_of_size(n) - 2)
    x0, x1, f0, f1 = get(xp, i), get(xp, i + 1), get(fp, i), get(fp, i + 1)
    slope = arithmetic.truediv(arithmetic.sub(f1, f0), arithmetic.sub(x1, x0))
    value = arithmetic.add(arithmetic.mul(slope, arithmetic.sub(x, x0)), f0)
    back = arithmetic.add(arithmetic.mul(slope, arithmetic.sub(x, x1)), f1)  # as NumPy, of infinity
    flat = selection.select(comparisons_and_rounding.equal(f0, f1), f0, back)
    back = selection.select(comparisons_and_rounding.isnan(back), flat, back)
    value = selection.select(comparisons_and_rounding.isnan(value), back, value)
    value = selection.select(comparisons_and_rounding.equal(x, x0), f0, value)
    value = selection.select(
        comparisons_and_rounding.greater_equal(x, get(xp, -1)), get(fp, -1), value
    )
    value = selection.select(comparisons_and_rounding.less(x, get(xp, 0)), get(fp, 0), value)
    return selection.select(comparisons_and_rounding.isnan(x), x, value)


ORDERING: dict[Op, Callable[..., Any]] = {
    sort: order_lines(_line_sorted),
    partition: partition_lines,
    argsort: order_lines(_line_order),
    lexsort: by_several_keys,
    permute: take_in_order,
    searchsorted: search_sorted,
    statistics.quantile: quantile,
    interp: interpolate_rows,
}
#: What kernels do in less time than NumPy also where it is called once.
SEARCHING: dict[Op, Callable[..., Any]] = {
    searchsorted: search_all,
    interp: interpolate_all,
    digitize: put_in_bins,
}
