"""Defines np.pad: by constants, ramps, elements of the array, or what sums these up."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom, atom_of_size, current, size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Literal, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.ops.numpy.cast_rules import (
    as_elements,
    cast_for_store,
    check_bounds,
    leaves,
)
from tapeless.transforms.ops.numpy.creation import NUMPY as CREATION
from tapeless.transforms.ops.numpy.flipping import flip
from tapeless.transforms.ops.numpy.indexing import get
from tapeless.transforms.ops.numpy.length_arguments import size_given
from tapeless.transforms.ops.numpy.quantiles import middle
from tapeless.transforms.ops.numpy.reductions import amax, amin, mean
from tapeless.transforms.ops.numpy.run_time_errors import require_at_least
from tapeless.transforms.ops.primitives.arithmetic import mul, sub
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched
from tapeless.transforms.ops.primitives.comparisons_and_rounding import rint
from tapeless.transforms.ops.primitives.joining import as_array, axis_of, concatenate
from tapeless.transforms.ops.primitives.new_arrays import ones
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    broadcast_to,
    cast_to,
    front,
    linear,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import part


def _pad_infer(x: Atom, *, before: tuple[Size, ...], after: tuple[Size, ...]) -> Type:
    sizes = zip(x.type.shape, before, after, strict=True)
    return Type(x.type.dtype, tuple(s + b + a for s, b, a in sizes))


def _pad_source(args: Atoms, params: Params) -> str:
    pairs = [f"({{before[{k}]}}, {{after[{k}]}})" for k in range(args[0].type.ndim)]
    widths = pairs[0] if len(pairs) == 1 else f"({', '.join(pairs)})"
    return f"np.pad({{0}}, {widths})"


def _pad_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> Any:
    for k, (n, start) in enumerate(zip(args[0].type.shape, params["before"], strict=True)):
        ct = part(ct, k, start, start + n)
    return (ct,)


def _pad_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    x = front(args[0], axes[0])
    return op(x, before=(0, *params["before"]), after=(0, *params["after"])), 0


pad = linear(
    "pad", _pad_infer, _pad_source, _pad_transpose, costly=True, moves=True, batch=_pad_batch
)


pad_index = Op(
    "pad_index",
    lambda n, *, width, mode: Type(np.dtype(int), (size_of(n) + width[0] + width[1],)),
    lambda args, params: (
        f"np.pad(np.arange({{0}}), ({{width[0]}}, {{width[1]}}), {params['mode']!r})"
    ),
    costly=True,
)


OTHER_MODES = ("constant", "empty", "linear_ramp")
GATHERED = ("edge", "reflect", "symmetric", "wrap")
Widths = tuple[tuple[Size, Size], ...]


def _pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    a = as_array(array)
    if not a.type.shape:
        return a
    widths = _widths(pad_width, a.type.ndim)
    if mode == "constant" and set(kwargs) <= {"constant_values"}:
        return _constant(a, widths, kwargs.get("constant_values", 0))
    if mode == "empty" and not kwargs:
        return _constant(a, widths, 0)
    if mode == "linear_ramp" and set(kwargs) <= {"end_values"}:
        return _ramp(a, widths, _pairs(kwargs.get("end_values", 0), a.type.ndim))
    if mode in STATISTICS and all(length is None for length in kwargs.values()):
        return _statistic(a, widths, STATISTICS[mode])
    odd = mode in ("reflect", "symmetric") and kwargs.pop("reflect_type", "even") == "odd"
    if not callable(mode) and mode not in (*GATHERED, *STATISTICS, *OTHER_MODES):
        raise ValueError(f"mode '{mode}' is not supported")
    if mode not in GATHERED or kwargs:
        raise UnsupportedError(
            f"np.pad with mode={mode!r} and these options",
            "pad with np.concatenate, by parts of the array",
        )
    for k, width in enumerate(widths):
        if width != (0, 0):
            a = _odd(a, k, width, mode) if odd else _gather_padded(a, k, width, mode)
    return a


def _gather_padded(a: Atom, axis: int, width: tuple[Size, Size], mode: str) -> Any:
    where = pad_index(a.type.shape[axis], width=width, mode=mode)
    return get(a, (*(slice(None),) * axis, where))


def _odd(a: Atom, axis: int, width: tuple[Size, Size], mode: str) -> Any:
    """What lies beyond an edge is mirrored at it in value, too."""
    (before, after), n = width, a.type.shape[axis]
    if not all(current().at_least(n - (mode == "reflect"), w).certain for w in width):
        raise UnsupportedError("np.pad by odd reflections wider than the array", "pad twice")
    even = _gather_padded(a, axis, width, mode)
    front, back = part(even, axis, 0, before), part(even, axis, before + n, before + n + after)
    first, last = part(a, axis, 0, 1), part(a, axis, n - 1, n)
    return concatenate(sub(mul(2, first), front), a, sub(mul(2, last), back), axis=axis)


def _constant(a: Atom, widths: Widths, values: Any) -> Any:
    before, after = (tuple(w[side] for w in widths) for side in (0, 1))
    if isinstance(values, (list, tuple)) or as_array(values).type.shape:
        return _constants(a, widths, _pairs(values, a.type.ndim))
    padded, value = pad(a, before=before, after=after), as_array(values)
    if isinstance(value, Literal) and value.value == 0:
        return padded
    inside = pad(ones(shape=a.type.shape, dtype=np.dtype(bool)), before=before, after=after)
    return select(inside, padded, _element(value, a.type.dtype))


def _element(value: Atom, dtype: np.dtype[Any]) -> Any:
    """A value that is stored to the sides: unsigned integers wrap around, others must fit."""
    if isinstance(value, Literal):
        value = atom(np.asarray(value.value)[()])
    held = as_elements(CREATION[np.asarray](value), dtype)
    for number in leaves(held):
        check_bounds(number, dtype)
    return cast_to(cast_for_store(held, dtype), dtype)


def _constants(a: Atom, widths: Widths, pairs: list[Any]) -> Any:
    """Each side filled with a value of its own, axis by axis."""
    for k, (width, values) in enumerate(zip(widths, pairs, strict=True)):
        sides = [
            broadcast_to(_element(value, a.type.dtype), shape=_side(a, k, size))
            for size, value in zip(width, values, strict=True)
        ]
        a = concatenate(sides[0], a, sides[1], axis=k)
    return a


def _side(a: Atom, axis: int, size: Size) -> tuple[Size, ...]:
    return (*a.type.shape[:axis], size, *a.type.shape[axis + 1 :])


def _ramp(a: Atom, widths: Widths, pairs: list[Any]) -> Any:
    """From the end values to the edges, in equal steps."""
    for k, (width, ends) in enumerate(zip(widths, pairs, strict=True)):
        lead, n = (slice(None),) * k, a.type.shape[k]
        ramps = [
            CREATION[np.linspace](
                end, get(a, (*lead, edge)), atom_of_size(size), False, dtype=a.type.dtype, axis=k
            )
            for end, edge, size in zip(ends, (0, atom_of_size(n) - 1), width, strict=True)
        ]
        a = concatenate(ramps[0], a, flip(ramps[1], k), axis=k)
    return a


def _statistic(a: Atom, widths: Widths, of: Any) -> Any:
    """The largest, smallest, mean or median element along each axis."""
    dtype = a.type.dtype
    for k, width in enumerate(widths):
        value = of(a, k)
        value = cast_to(rint(value) if dtype.kind in "iu" else value, dtype)
        sides = [broadcast_to(value, shape=_side(a, k, size)) for size in width]
        a = concatenate(sides[0], a, sides[1], axis=k)
    return a


STATISTICS = {
    "maximum": lambda a, k: amax(a, axes=(k,), keepdims=True),
    "minimum": lambda a, k: amin(a, axes=(k,), keepdims=True),
    "mean": lambda a, k: mean(a, axes=(k,), keepdims=True),
    "median": lambda a, k: middle(a, (k,), True),
}


def _widths(pad_width: Any, ndim: int) -> Widths:
    """How many elements come before and after each axis."""
    if isinstance(pad_width, dict):
        by_axis = {axis_of(k, ndim): w for k, w in pad_width.items()}
        pad_width = [by_axis.get(k, 0) for k in range(ndim)]
        pad_width = [w if isinstance(w, (list, tuple)) else (w, w) for w in pad_width]
    sizes = [tuple(map(size_given, pair)) for pair in _pairs(pad_width, ndim)]
    for n in itertools.chain(*sizes):
        if not current().not_negative(n):
            require_at_least(n, 0, ValueError, "index can't contain negative values")
    return tuple((before, after) for before, after in sizes)


def _pairs(pairs: Any, ndim: int) -> list[Any]:
    """What is given for both sides of each axis: one value, a pair for all axes, or a pair each."""
    if not isinstance(pairs, (list, tuple)):
        value = as_array(pairs)
        pairs = [get(value, k) for k in range(2)] if value.type.shape == (2,) else [value]
        if value.type.ndim > 1:
            raise UnsupportedError("np.pad with an array of pairs", "give it as a list of tuples")
    if not isinstance(pairs[0], (list, tuple)):
        pairs = [tuple(pairs)]
    if len(pairs) not in (1, ndim) or any(len(pair) > 2 for pair in pairs):
        raise ValueError("np.pad needs one value, a pair, or a pair for each axis")
    return [(as_array(p[0]), as_array(p[-1])) for p in (pairs * ndim if len(pairs) == 1 else pairs)]


NUMPY = {
    np.pad: _pad,
}
