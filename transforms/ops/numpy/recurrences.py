"""Defines linear recurrences of first order along an axis: y[k] = a[k] * y[k - 1] + b[k].

What products of all elements up to each one change by is such a recurrence, in linear time and
exact also where factors are zero (G. E. Blelloch, "Prefix Sums and Their Applications", 1990).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.arithmetic import add, mul
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched
from tapeless.transforms.ops.primitives.joining import concatenate
from tapeless.transforms.ops.primitives.new_arrays import zeros
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, repeat_batch
from tapeless.transforms.ops.primitives.slices_and_gathers import index

FORWARD = '''
def linear_recurrence(a, b, axis=0):
    """y along an axis, where y[k] = a[k] * y[k - 1] + b[k]."""
    a, y = np.moveaxis(a, axis, 0), np.moveaxis(b.copy(), axis, 0)
    for k in range(1, len(y)):
        y[k] += a[k] * y[k - 1]
    return np.moveaxis(y, 0, axis)
'''
BACKWARD = '''
def linear_recurrence_backwards(a, b, axis=0):
    """y along an axis, where y[k] = a[k + 1] * y[k + 1] + b[k]."""
    a, y = np.moveaxis(a, axis, 0), np.moveaxis(b.copy(), axis, 0)
    for k in reversed(range(len(y) - 1)):
        y[k] += a[k + 1] * y[k + 1]
    return np.moveaxis(y, 0, axis)
'''


def _source(args: Atoms, params: Params) -> tuple[str, str]:
    backwards = "_backwards" if params["backwards"] else ""
    axis = f", axis={params['axis']}" if params["axis"] else ""
    text = f"linear_recurrence{backwards}({{0}}, {{1}}{axis})"
    return text, BACKWARD if backwards else FORWARD


def _infer(a: Atom, b: Atom, *, axis: int, backwards: bool) -> Type:
    return Type(np.result_type(a.type.dtype, b.type.dtype), b.type.shape)


def _jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    a_dot, b_dot = tangents
    axis, backwards = params["axis"], params["backwards"]
    if a_dot is not None:
        if backwards:
            moved = shift_back(mul(a_dot, outs[0]), axis)
        else:
            moved = mul(a_dot, shift_on(outs[0], axis, zeros))
        b_dot = moved if b_dot is None else add(b_dot, moved)
    return (None if b_dot is None else linear_recurrence(primals[0], b_dot, **params),)


def _transpose(ct: Atom, args: Any, linear: Any, params: Params) -> tuple[Any, ...]:
    other_way = {**params, "backwards": not params["backwards"]}
    return (None, linear_recurrence(args[0], ct, **other_way))


def _batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    size = next(x.type.shape[k] for x, k in zip(args, axes, strict=True) if k is not None)
    stacks = (repeat_batch(x, k, size) for x, k in zip(args, axes, strict=True))
    return op(*stacks, **{**params, "axis": params["axis"] + 1}), 0


def shift_on(x: Atom, axis: int, first: Op) -> Any:
    """Each element in the place of the next one, and zeros or ones, as `first` makes, before."""
    return concatenate(
        _edge_of_lines(x, axis, first), _part_of_lines(x, axis, slice(None, -1)), axis=axis
    )


def shift_back(x: Atom, axis: int) -> Any:
    """Each element in the place of the one before, and zeros after."""
    return concatenate(
        _part_of_lines(x, axis, slice(1, None)), _edge_of_lines(x, axis, zeros), axis=axis
    )


def _edge_of_lines(x: Atom, axis: int, new: Op) -> Any:
    """One element of each line, none of lines that have none."""
    shape = tuple(1 if k == axis else n for k, n in enumerate(x.type.shape))
    return new(shape=shape, dtype=x.type.dtype)


def _part_of_lines(x: Atom, axis: int, kept: slice) -> Any:
    return index(x, key=(*(slice(None),) * axis, kept))


linear_recurrence: Op = Op(
    "linear_recurrence", _infer, _source, _jvp, _transpose, costly=True, batch=_batch
)
