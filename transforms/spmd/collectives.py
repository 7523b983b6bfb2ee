"""Defines collectives, operations in which the elements of a named axis take part together, as one
element sees them.

All are linear but for the extrema. The derivative is that of the sum of what all elements return:
the transpose of a sum over all is a sum over all, of a gather a scatter.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.arithmetic import truediv
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched, axis_in_batch
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal
from tapeless.transforms.ops.primitives.new_arrays import no_tangent
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, cast, linear

INT = np.dtype(int)


def _text(name: str) -> str:
    """How programs show it; the map over its axis writes something else."""
    return f"lax.{name}({{0}})"


def taking_part(params: Params) -> Size:
    """How many elements take part together."""
    groups = params["groups"]
    return params["axis"].size if groups is None else len(groups[0])


def _batch_like_value(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    """Of what does the same to all parts of a value, under another axis."""
    return op(*args, **params), axes[0]


def _sum_infer(x: Atom, *, axis: Any, groups: Any) -> Type:
    return Type(np.sum(np.ones((1,), x.type.dtype)).dtype, x.type.shape)


psum: Op = linear(
    "psum",
    _sum_infer,
    _text("psum"),
    lambda ct, args, linear, params: (psum(ct, **params),),
    costly=True,
    batch=_batch_like_value,
)


def _extremum_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    """The mean of the tangents of all elements that attain it, as of np.max."""
    if tangents[0] is None:
        return (None,)
    attained = equal(primals[0], outs[0])
    hits = psum(cast(attained, dtype=outs[0].type.dtype), **params)
    return (truediv(psum(select(attained, tangents[0], 0.0), **params), hits),)


pmax, pmin = (
    Op(
        name,
        lambda x, *, axis, groups: Type(x.type.dtype, x.type.shape),
        _text(name),
        _extremum_jvp,
        costly=True,
        batch=_batch_like_value,
    )
    for name in ("pmax", "pmin")
)


# -- gather and scatter: `dim` is the axis that is made, or vanishes


def _gather_infer(x: Atom, *, axis: Any, groups: Any, dim: int) -> Type:
    n = taking_part({"axis": axis, "groups": groups})
    return Type(x.type.dtype, (*x.type.shape[:dim], n, *x.type.shape[dim:]))


def _gather_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    dim = params["dim"]
    at = dim + (dim > axes[0])  # a new axis before the batch moves it
    return op(*args, **{**params, "dim": at}), axes[0] + (dim <= axes[0])


all_gather: Op = linear(
    "all_gather",
    _gather_infer,
    _text("all_gather"),
    lambda ct, args, linear, params: (psum_scatter(ct, **params),),
    costly=True,
    batch=_gather_batch,
)


def _scatter_infer(x: Atom, *, axis: Any, groups: Any, dim: int) -> Type:
    shape = x.type.shape
    return Type(_sum_infer(x, axis=axis, groups=groups).dtype, (*shape[:dim], *shape[dim + 1 :]))


def _scatter_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    at = axis_in_batch(params["dim"], axes[0])
    return op(*args, **{**params, "dim": at}), axes[0] - (at < axes[0])


psum_scatter: Op = linear(
    "psum_scatter",
    _scatter_infer,
    _text("psum_scatter"),
    lambda ct, args, linear, params: (all_gather(ct, **params),),
    costly=True,
    batch=_scatter_batch,
)


# -- exchanges: along `split` each element has something for each; it gets that along `concat`


def exchanged_shape(shape: tuple[Size, ...], split: int, concat: int) -> tuple[Size, ...]:
    result_shape = list(shape)
    result_shape.insert(concat, result_shape.pop(split))
    return tuple(result_shape)


def _exchange_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    split = axis_in_batch(params["split"], axes[0])
    result_axis = axes[0] - (split < axes[0])  # where the batch is, without the axis that is split
    concat = params["concat"] + (params["concat"] > result_axis)
    return op(*args, **{**params, "split": split, "concat": concat}), result_axis + (
        concat <= result_axis
    )


all_to_all: Op = linear(
    "all_to_all",
    lambda x, *, axis, groups, split, concat: x.type.with_shape(
        exchanged_shape(x.type.shape, split, concat)
    ),
    _text("all_to_all"),
    lambda ct, args, linear, params: (
        all_to_all(ct, **{**params, "split": params["concat"], "concat": params["split"]}),
    ),
    costly=True,
    batch=_exchange_batch,
)
ppermute: Op = linear(
    "ppermute",
    lambda x, *, axis, groups, perm: Type(x.type.dtype, x.type.shape),
    _text("ppermute"),
    lambda ct, args, linear, params: (
        ppermute(ct, **{**params, "perm": tuple((j, i) for i, j in params["perm"])}),
    ),
    costly=True,
    batch=_batch_like_value,
)
axis_index = Op(
    "axis_index",
    lambda *, axis, groups: Type(INT),
    "lax.axis_index()",
    no_tangent,
    batch=_batch_like_value,
)
