"""Defines cumulative sums, products and extrema."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.numpy.flipping import flip
from tapeless.transforms.ops.numpy.indexing import take_along
from tapeless.transforms.ops.numpy.recurrences import linear_recurrence, shift_on
from tapeless.transforms.ops.primitives.arithmetic import add, mul
from tapeless.transforms.ops.primitives.batch_rules import batch_along_axis
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal
from tapeless.transforms.ops.primitives.joining import (
    as_array,
    axes_of,
    axis_of,
    concatenate,
    reduced_axis,
)
from tapeless.transforms.ops.primitives.new_arrays import count_up, ones
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    cast_to,
    flatten,
    reshape,
)


def _cumulative(name: str, run: Any, function: str = "", **more: Any) -> Op:
    def infer(x: Atom, *, axis: int) -> Type:
        return Type(run(np.zeros((1,), x.type.dtype)).dtype, x.type.shape)

    def source(args: Atoms, params: Params) -> str:
        return f"np.{function or name}({{0}}" + (", axis={axis})" if args[0].type.ndim > 1 else ")")

    return Op(name, infer, source, costly=True, batch=batch_along_axis, **more)


def _cumsum_transpose(ct: Atom, args: Any, linear: Any, params: Params) -> tuple[Any, ...]:
    return (flip(cumsum(flip(ct, params["axis"]), **params), params["axis"]),)


def _cumsum_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    return (None if tangents[0] is None else cumsum(tangents[0], **params),)


def _cumprod_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    """y[k] = x[k] * y[k - 1] changes by what x[k] does, and by what y[k - 1] does."""
    if tangents[0] is None:
        return (None,)
    before = shift_on(outs[0], params["axis"], ones)
    return (linear_recurrence(primals[0], mul(before, tangents[0]), backwards=False, **params),)


def _running_jvp(op: Any) -> Any:
    """The tangent of the element that is the largest (smallest) so far."""

    def jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
        if tangents[0] is None:
            return (None,)
        (x,), axis = primals, params["axis"]
        n, ndim = x.type.shape[axis], x.type.ndim
        along = reshape(count_up(n), shape=tuple(n if k == axis else 1 for k in range(ndim)))
        where = cummax(select(equal(x, outs[0]), along, 0), axis=axis)
        return (take_along(tangents[0], where, axis),)

    return jvp


cumsum = _cumulative("cumsum", np.cumsum, jvp=_cumsum_jvp, transpose=_cumsum_transpose, running=add)
cumprod = _cumulative("cumprod", np.cumprod, jvp=_cumprod_jvp, running=mul)
cummax = _cumulative("cummax", np.maximum.accumulate, "maximum.accumulate")
cummin = _cumulative("cummin", np.minimum.accumulate, "minimum.accumulate")
cummax.jvp, cummin.jvp = _running_jvp(cummax), _running_jvp(cummin)
# The NumPy functions ---------------------------------------------------------------------------


def _one_axis(axis: Any, ndim: int) -> int:
    """The axis of `accumulate`, which takes elements in their order."""
    if ndim == 0 and axis in (None, 0, -1, (0,), (-1,)):
        raise TypeError("cannot accumulate on a scalar")
    axes = axes_of(axis, ndim)
    if len(axes) != 1:
        raise ValueError("accumulate does not allow multiple axes")
    return axes[0]


def run_along(op: Op, default: Any = None) -> Any:
    def run(a: Any, axis: Any = default, dtype: Any = None, out: Any = None) -> Any:
        a = as_array(a)
        axis = axis if default is None else _one_axis(axis, a.type.ndim)
        if dtype is not None:
            a = cast_to(a, np.dtype(dtype))
        if reduced_axis(axis, a.type.ndim) is None:
            a, axis = flatten(a), 0
        running = op(a, axis=axis_of(axis, a.type.ndim))
        return running if dtype is None else cast_to(running, np.dtype(dtype))

    return run


def _cumulative_array(op: Op, first: int) -> Any:
    def run(
        x: Any,
        /,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: bool = False,
    ) -> Any:
        x = as_array(x)
        x = reshape(x, shape=x.type.shape or (1,))
        if axis is None and x.type.ndim != 1:
            raise ValueError(
                "For arrays which have more than one dimension ``axis`` argument is required."
            )
        k = _one_axis(0 if axis is None else axis, x.type.ndim)
        running = run_along(op)(x, k, dtype)
        if not include_initial:
            return running
        shape = tuple(1 if j == k else s for j, s in enumerate(running.type.shape))
        begin = ones(shape=shape, dtype=running.type.dtype) * first
        return concatenate(begin, running, axis=k)

    return run


NUMPY = {
    np.cumsum: run_along(cumsum),
    np.cumprod: run_along(cumprod),
    np.cumulative_sum: _cumulative_array(cumsum, 0),
    np.cumulative_prod: _cumulative_array(cumprod, 1),
    np.add.accumulate: run_along(cumsum, 0),
    np.multiply.accumulate: run_along(cumprod, 0),
    np.maximum.accumulate: run_along(cummax, 0),
    np.minimum.accumulate: run_along(cummin, 0),
}
METHODS = {"cumsum": run_along(cumsum), "cumprod": run_along(cumprod)}
