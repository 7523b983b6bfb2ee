"""Defines logarithms of sums of powers: `np.logaddexp.reduce` and its twin with base 2."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.language import Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.arithmetic import mul, sub
from tapeless.transforms.ops.primitives.batch_rules import reducing
from tapeless.transforms.ops.primitives.comparisons_and_rounding import isinf
from tapeless.transforms.ops.primitives.elementwise import exp, exp2, logaddexp, logaddexp2
from tapeless.transforms.ops.primitives.joining import as_array, axes_of, reduced_axis
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    broadcast_to,
    cast_to,
    keep_reduced_axes,
    reduction_infer,
    sum,
)


def _source(args: Atoms, params: Params) -> str:
    axes, ndim = params["axes"], args[0].type.ndim
    along = axes[0] if len(axes) == 1 else None if len(axes) == ndim else axes
    axis = "" if along == 0 else f", axis={along}"
    keep = ", keepdims=True" if params["keepdims"] else ""
    return f"np.{params['name']}.reduce({{0}}{axis}{keep})"


def _jvp(power: Op) -> Any:
    """The mean of the tangents, weighted by power(x - y); all weights are 0 where y is -inf."""

    def jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
        if tangents[0] is None:
            return (None,)
        top = keep_reduced_axes(
            select(isinf(outs[0]), 0.0, outs[0]), primals[0].type, params["axes"]
        )
        share = power(sub(primals[0], top))
        return (sum(mul(tangents[0], share), axes=params["axes"], keepdims=params["keepdims"]),)

    return jvp


def _reduction(add: Op, power: Op) -> Op:
    infer = reduction_infer(add.ufunc.reduce)
    return Op(f"{add.name}_reduce", infer, _source, _jvp(power), costly=True, batch=reducing)


logaddexp_reduce = _reduction(logaddexp, exp)
logaddexp2_reduce = _reduction(logaddexp2, exp2)


def _reduce(op: Op, add: Op) -> Any:
    def reduce(
        a: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        a = as_array(a)
        kind = op.infer(a, axes=(), keepdims=False, name=add.name).dtype if dtype is None else dtype
        a = cast_to(a, np.dtype(kind))
        if where is not None and where is not True:
            a = select(broadcast_to(as_array(where), shape=a.type.shape), a, -np.inf)
        axes = axes_of(reduced_axis(axis, a.type.ndim), a.type.ndim)
        total = op(a, axes=axes, keepdims=bool(keepdims), name=add.name) if axes else a
        return (
            total if initial is None else add(total, cast_to(as_array(initial), total.type.dtype))
        )

    return reduce


NUMPY: dict[Any, Any] = {
    np.logaddexp.reduce: _reduce(logaddexp_reduce, logaddexp),
    np.logaddexp2.reduce: _reduce(logaddexp2_reduce, logaddexp2),
}
