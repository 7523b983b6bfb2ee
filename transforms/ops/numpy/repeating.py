"""Defines the NumPy functions that repeat elements and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.numpy.indexing import get
from tapeless.transforms.ops.numpy.length_arguments import shape_of
from tapeless.transforms.ops.primitives.batch_rules import batch_along_axis
from tapeless.transforms.ops.primitives.joining import as_array, axis_of
from tapeless.transforms.ops.primitives.new_arrays import count_up
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    copy,
    flatten,
    front,
    linear,
    reshape,
    sum,
)


def _repeat_infer(x: Atom, *, repeats: Size, axis: int) -> Type:
    shape = list(x.type.shape)
    shape[axis] = shape[axis] * repeats
    return x.type.with_shape(tuple(shape))  # type: ignore[no-any-return]


def _repeat_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> Any:
    shape, axis = args[0].type.shape, params["axis"]
    wide = (*shape[: axis + 1], params["repeats"], *shape[axis + 1 :])
    return (sum(reshape(ct, shape=wide), axes=(axis + 1,), keepdims=False),)


def _repeat_source(args: Atoms, params: Params) -> str:
    return "np.repeat({0}, {repeats}" + (", axis={axis})" if args[0].type.ndim > 1 else ")")


repeat = linear(
    "repeat",
    _repeat_infer,
    _repeat_source,
    _repeat_transpose,
    costly=True,
    moves=True,
    batch=batch_along_axis,
)


repeat_counts = Op(
    "repeat_counts",
    lambda x, counts: Type(x.type.dtype, (dims.symbol("n", 0),)),
    "np.repeat({0}, {1})",
    costly=True,
)


def _repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    a = as_array(a)
    if axis is None or not a.type.ndim:
        axis = axis_of(0 if axis is None else axis, 1, truths=False)
        a = flatten(a)
    k = axis_of(axis, a.type.ndim, truths=False)
    counts = as_array(repeats)
    if not counts.type.shape:
        return repeat(a, repeats=size_of(counts), axis=k)
    where = repeat_counts(count_up(a.type.shape[k]), counts)
    return get(a, (*(slice(None),) * k, where))


def _tile_infer(x: Atom, *, reps: tuple[Size, ...]) -> Type:
    return Type(x.type.dtype, tuple(s * r for s, r in zip(x.type.shape, reps, strict=True)))


def _tile_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> Any:
    wide: list[Size] = []
    axes: list[int] = []
    for s, r in zip(args[0].type.shape, params["reps"], strict=True):
        if r != 1:
            axes.append(len(wide))
            wide.append(r)
        wide.append(s)
    return (sum(reshape(ct, shape=tuple(wide)), axes=tuple(axes), keepdims=False),)


tile = linear(
    "tile",
    _tile_infer,
    "np.tile({0}, {reps})",
    _tile_transpose,
    costly=True,
    moves=True,
    batch=lambda op, args, axes, params: (
        op(front(args[0], axes[0]), reps=(1, *params["reps"])),
        0,
    ),
)


def _tile(A: Any, reps: Any) -> Any:  # noqa: N803 (NumPy's)
    a, counts = as_array(A), shape_of(reps, truths=True)
    n = max(a.type.ndim, len(counts))
    a = reshape(a, shape=(1,) * (n - a.type.ndim) + a.type.shape)
    counts = (1,) * (n - len(counts)) + counts
    return copy(a) if all(r == 1 for r in counts) else tile(a, reps=counts)


NUMPY = {
    np.repeat: _repeat,
    np.tile: _tile,
}


METHODS = {
    "repeat": _repeat,
}
