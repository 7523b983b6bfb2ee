"""Joins scalars and arrays to arrays: array, concatenate, stack."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom, join, static
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Literal, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.errors import ShapeError
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched
from tapeless.transforms.ops.primitives.new_arrays import FLOAT, full, zero
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    batch_size,
    cast,
    cast_to,
    dtype_name,
    repeat_batch,
    reshape,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import index, part


def _array_source(args: Any, params: Params) -> str:
    def nest(shape: tuple[int, ...], places: Any) -> Any:
        if not shape:
            return next(places)
        return "[" + ", ".join(nest(shape[1:], places) for _ in range(shape[0])) + "]"

    natural = np.result_type(*(a.type.dtype for a in args)) if args else FLOAT
    kind = f", dtype={dtype_name(params['dtype'])}" if params["dtype"] != natural else ""
    if 0 in params["shape"]:
        return f"np.zeros({{shape}}{kind})"
    return f"np.array({nest(params['shape'], (f'{{{k}}}' for k in itertools.count()))}{kind})"


def _array_jvp(primals: Any, tangents: Any, outs: Any, params: Params) -> Any:
    if all(t is None for t in tangents):
        return (None,)
    return (array(*(atom(0.0) if t is None else t for t in tangents), **params),)


def _array_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    places = itertools.product(*map(range, params["shape"]))
    return tuple(
        index(ct, key=place) if used else None for place, used in zip(places, linear, strict=True)
    )


def _array_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    size, dtype = batch_size(args, axes), params["dtype"]
    columns = [
        full(a, shape=(size,), dtype=dtype) if k is None else cast_to(a, dtype)
        for a, k in zip(args, axes, strict=True)
    ]
    return reshape(stack_op(*columns, axis=1), shape=(size, *params["shape"])), 0


array = Op(
    "array",
    lambda *elements, shape, dtype: Type(dtype, shape),
    _array_source,
    _array_jvp,
    _array_transpose,
    batch=_array_batch,
    speculative=True,
)


def _require_same_length(a: Size, b: Size) -> Size:
    if 1 in (a, b) and a != b:
        raise ShapeError(
            f"all axes but the joined one must have the same length: {a} and {b}",
            "join them along another axis, or cut or broadcast them to one length",
        )
    return join(a, b)


def _concatenate_infer(*pieces: Atom, axis: int) -> Type:
    types = [p.type for p in pieces]
    if any(t.ndim != types[0].ndim for t in types):
        raise ShapeError(
            "all arrays that are concatenated must have the same number of axes",
            "add an axis, as in x[None], or use np.vstack",
        )
    shape = list(types[0].shape)
    for t in types[1:]:
        for k in range(len(shape)):
            shape[k] = (
                shape[k] + t.shape[k] if k == axis else _require_same_length(shape[k], t.shape[k])
            )
    return Type(np.result_type(*(t.dtype for t in types)), tuple(shape))


def _stack_infer(*pieces: Atom, axis: int) -> Type:
    shape = list(pieces[0].type.shape)
    for p in pieces[1:]:
        if p.type.ndim != len(shape):
            raise ShapeError(
                "all arrays that are stacked must have the same shape",
                "join them with np.concatenate, or broadcast them to one shape",
            )
        shape = [_require_same_length(a, b) for a, b in zip(shape, p.type.shape, strict=True)]
    dtype = np.result_type(*(p.type.dtype for p in pieces))
    return Type(dtype, (*shape[:axis], len(pieces), *shape[axis:]))


def _source(name: str) -> Any:
    def source(args: Atoms, params: Params) -> str:
        places = ", ".join(f"{{{k}}}" for k in range(len(args)))
        axis = f", axis={params['axis']}" if params["axis"] else ""
        return f"np.{name}([{places}]{axis})"

    return source


def _jvp(op: Any) -> Any:
    def jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
        dtype = outs[0].type.dtype
        if all(t is None for t in tangents):
            return (None,)
        filled = [
            zero(Type(dtype, p.type.shape)) if t is None else cast_to(t, dtype)
            for p, t in zip(primals, tangents, strict=True)
        ]
        return (op(*filled, **params),)

    return jvp


def _concatenate_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    out, at = [], 0
    for a, used in zip(args, linear, strict=True):
        size = a.type.shape[params["axis"]]
        out.append(part(ct, params["axis"], at, at + size) if used else None)
        at = at + size
    return tuple(out)


def _stack_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    lead = (slice(None),) * params["axis"]
    return tuple(index(ct, key=(*lead, k)) if used else None for k, used in enumerate(linear))


def _joined_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    size = batch_size(args, axes)
    pieces = (repeat_batch(a, k, size) for a, k in zip(args, axes, strict=True))
    return op(*pieces, axis=params["axis"] + 1), 0


concatenate = Op(
    "concatenate",
    _concatenate_infer,
    _source("concatenate"),
    transpose=_concatenate_transpose,
    batch=_joined_batch,
    speculative=True,
)
stack_op = Op(
    "stack",
    _stack_infer,
    _source("stack"),
    transpose=_stack_transpose,
    batch=_joined_batch,
    speculative=True,
)
concatenate.jvp, stack_op.jvp = _jvp(concatenate), _jvp(stack_op)


# What NumPy makes arrays of --------------------------------------------------------------------


def as_array(x: Any, dtype: Any = None) -> Any:
    """An atom for what NumPy would turn into an array: nested lists of scalars or of arrays."""
    out = _as_array(x, dtype)
    same = dtype is None or out.type.dtype == np.dtype(dtype)
    return out if same else cast(out, dtype=np.dtype(dtype))


def _as_array(x: Any, wanted: Any = None) -> Any:
    if not isinstance(x, (list, tuple)):
        return atom(x)
    if any(a.type.shape for a in _leaves(x)):
        return stack([_as_array(e, wanted) for e in x])
    shape, leaves = _flatten_nested(x)
    dtype = np.result_type(*(a.type.dtype for a in leaves)) if leaves else FLOAT
    numbers = dtype.kind == "i" and wanted is not None and np.dtype(wanted).kind in "iufc"
    if numbers and all(a.type.weak or np.can_cast(a.type.dtype, wanted) for a in leaves):
        dtype = np.dtype(wanted)  # which refuses what it does not hold
    return array(*leaves, shape=shape, dtype=dtype)


def _leaves(x: Any) -> Iterator[Atom]:
    if isinstance(x, (list, tuple)):
        for e in x:
            yield from _leaves(e)
    else:
        yield atom(x)


def _flatten_nested(x: Any) -> tuple[tuple[int, ...], list[Atom]]:
    if not isinstance(x, (list, tuple)):
        return (), [atom(x)]
    pieces = [_flatten_nested(e) for e in x]
    if any(shape != pieces[0][0] for shape, _ in pieces):
        raise ValueError("setting an array element with a sequence: the rows differ in length")
    leaves = [a for _, piece_leaves in pieces for a in piece_leaves]
    return (len(x), *(pieces[0][0] if pieces else ())), leaves


def refuse_truth(
    value: Any, what: str = "an integer is required", error: type[Exception] = TypeError
) -> None:
    """Raises NumPy's error where an integer must be one, and no truth value."""
    if isinstance(value, (Var, Literal)):
        is_truth = value.type.dtype.kind == "b" and not value.type.shape
    else:
        is_truth = isinstance(value, (bool, np.bool_))
    if is_truth:
        raise error(what)


def known_integer(value: Any, why: str) -> int:
    """An integer that decides what is computed; numbers of other kinds, and NumPy's truth values,
    are none."""
    if isinstance(value, Var) and not value.type.shape:
        if value.type.dtype.kind == "b" and not value.type.weak:
            raise TypeError("'numpy.bool' object cannot be interpreted as an integer")
        if value.type.dtype.kind in "fc":
            kind = value.type.dtype.type
            name = type(kind(0).item()).__name__ if value.type.weak else f"numpy.{kind.__name__}"
            raise TypeError(f"'{name}' object cannot be interpreted as an integer")
    return operator.index(static(value, why))


def axis_of(axis: Any, ndim: int, truths: bool = True) -> int:
    """An axis, from the front; some functions of NumPy take no truth value of Python's for it."""
    if not truths:
        refuse_truth(axis, "an integer is required for the axis")
    k = known_integer(axis, "an axis must be known")
    if not -ndim <= k < ndim:
        raise np.exceptions.AxisError(k, ndim)
    return k % ndim


def reduced_axis(axis: Any, ndim: int) -> Any:
    """The axis of a reduction: NumPy's take a number for an array of one element there."""
    return None if ndim == 0 and axis in (0, -1) else axis


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes, each once, as numbers from the front."""
    axes = each_axis_of(axis, ndim)
    if len(set(axes)) < len(axes):
        raise ValueError("repeated axis")
    return axes


def each_axis_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes of which one may be given twice, for functions that take them one after the other."""
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, Var) and axis.type.shape:
        axis = static(axis, "axes must be known")
    many = axis if isinstance(axis, (tuple, list, np.ndarray)) else (axis,)
    return tuple(axis_of(k, ndim) for k in many)


def concatenate_arrays(arrays: Any, axis: int) -> Any:
    return concatenate(*map(as_array, arrays), axis=axis)


def stack(arrays: Any, axis: Any = 0) -> Any:
    pieces = [as_array(a) for a in arrays]
    if not pieces:
        raise ValueError("need at least one array to stack")
    dtype = np.result_type(*(p.type.dtype for p in pieces))
    pieces = [cast_to(p, dtype) for p in pieces]
    return stack_op(*pieces, axis=axis_of(axis, pieces[0].type.ndim + 1))
