"""Rewrites operations that a library for GPUs lacks, or answers otherwise than NumPy, into others.

m = median(x)      becomes      y = sort(x); m = (y[(n - 1) // 2] + y[n // 2]) / 2

CuPy's own quantiles, for one, are numbers where NumPy's are nan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken
from tapeless.transforms.lowering.rewrite.scans import element, loop
from tapeless.transforms.lowering.rewrite.sorting import of_ordered
from tapeless.transforms.ops.numerics.statistics import nanquantile, quantile
from tapeless.transforms.ops.numpy.complex import round as round_to
from tapeless.transforms.ops.numpy.indexing import INDEX, along_axis, take_along
from tapeless.transforms.ops.numpy.logsumexp import logaddexp2_reduce, logaddexp_reduce
from tapeless.transforms.ops.numpy.quantiles import MEDIAN, interpolate
from tapeless.transforms.ops.numpy.reductions import (
    amax,
    count,
    left_of,
    mean,
    merge_reduced_axes,
    std,
    var,
)
from tapeless.transforms.ops.numpy.run_time_errors import require
from tapeless.transforms.ops.numpy.sorting import permute, sort
from tapeless.transforms.ops.primitives.arithmetic import add, floordiv, mul, sub, truediv
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    floor,
    isfinite,
    isnan,
    rint,
)
from tapeless.transforms.ops.primitives.elementwise import (
    conjugate,
    exp,
    exp2,
    log,
    log2,
    maximum,
    minimum,
    real,
    sqrt,
)
from tapeless.transforms.ops.primitives.extrema_at import maximum_at, minimum_at
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import cast_to, move, reshape
from tapeless.transforms.ops.primitives.shapes import sum as total_of
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, gather, read, update

Axes = tuple[int, ...]


def _quantile(out: Type, x: Atom, q: float | None, axes: Axes, keepdims: bool) -> Any:
    line, _, axis = merge_reduced_axes(x, x, axes)
    n = line.type.shape[axis]
    if out.dtype.kind != "f" or n == 0:
        raise NotTaken
    ordered = move(sort(line, axis=axis), (axis,), (0,))
    return reshape(of_ordered(cast_to(ordered, out.dtype), q, n), shape=out.shape)


def _nanquantile(out: Type, x: Atom, q: float | None, axes: Axes, keepdims: bool) -> Any:
    """Of elements in order, where those that are nan are last: they are not counted."""
    if x.type.dtype.kind != "f":
        return _quantile(out, x, q, axes, keepdims)
    line, _, axis = merge_reduced_axes(x, x, axes)
    if line.type.shape[axis] == 0:
        raise NotTaken
    holes = isnan(line)
    infinity = line.type.dtype.type(np.inf)
    ordered = cast_to(sort(select(holes, infinity, line), axis=axis), out.dtype)
    held = total_of(cast_to(equal(line, line), INDEX), axes=(axis,), keepdims=True)
    last = maximum(sub(held, 1), 0)
    if q is MEDIAN:
        low, high = floordiv(last, 2), floordiv(add(last, 1), 2)
        below, above = (take_along(ordered, k, axis) for k in (low, high))
        half = mul(add(below, above), out.dtype.type(0.5))
        value = select(equal(low, high), below, half)
    else:
        place = mul(q, last)
        low = cast_to(floor(place), INDEX)
        below, above = (take_along(ordered, k, axis) for k in (low, minimum(add(low, 1), last)))
        value = interpolate(below, above, cast_to(sub(place, low), out.dtype))
    value = select(equal(held, 0), out.dtype.type(np.nan), value)
    return reshape(value, shape=out.shape)


def _log_of_sum(power: Any, inverse: Any) -> Callable[..., Any]:
    def formula(out: Type, x: Atom, axes: Axes, keepdims: bool, name: str) -> Any:
        wide = cast_to(x, out.dtype)
        if any(wide.type.shape[k] == 0 for k in axes):
            raise NotTaken
        top = amax(wide, axes=axes, keepdims=True)
        shift = select(isfinite(top), top, out.dtype.type(0))
        total = total_of(power(sub(wide, shift)), axes=axes, keepdims=keepdims)
        return add(inverse(total), shift if keepdims else reshape(shift, shape=out.shape))

    return formula


def _extreme_at(choose: Any) -> Callable[..., Any]:
    """One element after the other, as an element may be named twice."""

    def formula(out: Type, x: Atom, v: Atom, *rest: Atom, key: tuple[Any, ...]) -> Any:
        lengths = {a.type.shape for a in rest}
        if len(lengths) != 1 or not all(isinstance(e, Slot) for e in key):
            raise NotTaken
        (shape,) = lengths
        if len(shape) != 1 or len(key) != x.type.ndim or v.type.ndim > 1:
            raise NotTaken
        if v.type.shape not in ((), (1,), shape):
            (n,), (count_given,) = shape, v.type.shape
            same = equal(atom_of_size(n), atom_of_size(count_given))
            require(same, ValueError, "array is not broadcastable to correct shape")

        def body(i: Any, y: Any) -> tuple[Any, ...]:
            place = [element(a, i, 0) for a in rest]
            offered = v if not v.type.shape else element(v, 0 if v.type.shape == (1,) else i, 0)
            chosen = cast_to(choose(read(y, key, tuple(place)), offered), out.dtype)
            return (update(y, chosen, *place, key=key),)

        return loop(shape[0], (x,), body)[0]

    return formula


def _mean(out: Type, x: Atom, axes: Axes, keepdims: bool) -> Any:
    total = total_of(x, axes=axes, keepdims=keepdims)
    return truediv(total, cast_to(count(x.type, axes), out.dtype))


def _var(out: Type, x: Atom, axes: Axes, keepdims: bool, ddof: Any) -> Any:
    if x.type.dtype.kind != "c":
        raise NotTaken
    centred = sub(x, _mean(x.type, x, axes, True))
    total = total_of(real(mul(centred, conjugate(centred))), axes=axes, keepdims=keepdims)
    return truediv(total, cast_to(left_of(count(x.type, axes), ddof), out.dtype))


def _round(out: Type, x: Atom, decimals: int) -> Any:
    """As NumPy, which scales by powers of ten."""
    if out.dtype.kind != "f":
        raise NotTaken
    scale = 10.0 ** abs(decimals)
    if decimals == 0:
        return rint(x)
    return truediv(rint(x * scale), scale) if decimals > 0 else rint(truediv(x, scale)) * scale


def _permute(out: Type, x: Atom, order: Atom, axis: int) -> Any:
    key, rest = along_axis(x, order, axis)
    return gather(x, *rest, key=key)


#: By the type of the result, the arguments and the parameters.
WITHOUT_LIBRARY: dict[Op, Callable[..., Any]] = {
    quantile: _quantile,
    nanquantile: _nanquantile,
    logaddexp_reduce: _log_of_sum(exp, log),
    logaddexp2_reduce: _log_of_sum(exp2, log2),
    maximum_at: _extreme_at(maximum),
    minimum_at: _extreme_at(minimum),
    permute: _permute,
    round_to: _round,
    mean: _mean,
    var: _var,
    std: lambda *args, **params: sqrt(_var(*args, **params)),
}
