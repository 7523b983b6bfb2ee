"""Defines the positions of extrema: np.argmax and its kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.numpy.indexing import INDEX
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched, axis_in_batch
from tapeless.transforms.ops.primitives.joining import as_array, axis_of, reduced_axis
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, front, reduced_shape, reshape


def _arg_source(name: str) -> Any:
    def source(args: Atoms, params: Params) -> str:
        axis = "" if params["axis"] is None else f", axis={params['axis']}"
        return f"np.{name}({{0}}{axis}" + (", keepdims=True)" if params["keepdims"] else ")")

    return source


def _arg_infer(x: Atom, *, axis: int | None, keepdims: bool) -> Type:
    axes = tuple(range(x.type.ndim)) if axis is None else (axis,)
    return Type(INDEX, reduced_shape(x.type.shape, axes, keepdims))


def _arg_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    axis, keepdims = params["axis"], params["keepdims"]
    if axis is not None:
        places = op(args[0], axis=axis_in_batch(axis, axes[0]), keepdims=keepdims)
        return places, axes[0] - (not keepdims and axis < axes[0])
    x = front(args[0], axes[0])
    size, *inner = x.type.shape
    flat_ones = reshape(x, shape=(size, dims.product(inner)))
    places = op(flat_ones, axis=1, keepdims=False)
    return reshape(places, shape=(size, *(1,) * len(inner))) if keepdims else places, 0


argmax, argmin, nanargmax, nanargmin = (
    Op(name, _arg_infer, _arg_source(name), costly=True, batch=_arg_batch)
    for name in ("argmax", "argmin", "nanargmax", "nanargmin")
)


def _arg(op: Op) -> Any:
    def reduce(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        a = as_array(a)
        axis = reduced_axis(axis, a.type.ndim)
        k = None if axis is None else axis_of(axis, a.type.ndim, truths=False)
        place = op(a, axis=k, keepdims=bool(keepdims))
        if not place.type.shape:  # parts that begin or end there have a length then
            place.size = dims.symbol("n", 0, place, upper=dims.product(a.type.shape) - 1)
        return place

    return reduce


NUMPY = {
    np.argmax: _arg(argmax),
    np.argmin: _arg(argmin),
    np.nanargmax: _arg(nanargmax),
    np.nanargmin: _arg(nanargmin),
}
METHODS = {"argmax": _arg(argmax), "argmin": _arg(argmin)}
