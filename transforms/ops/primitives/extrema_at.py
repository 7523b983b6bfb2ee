"""Defines np.maximum.at and np.minimum.at of elements that may be named twice."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.arithmetic import truediv
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal
from tapeless.transforms.ops.primitives.index_keys import key_text
from tapeless.transforms.ops.primitives.new_arrays import zeros
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, cast, cast_to
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, read


def _infer(x: Atom, v: Atom, *rest: Atom, key: Any) -> Type:
    return Type(x.type.dtype, x.type.shape)


def _source(name: str) -> Any:
    def source(args: Atoms, params: Params) -> str:
        key = key_text(params["key"], 2)
        key = f"np.s_[{key}]" if ":" in key else f"({key})" if len(params["key"]) > 1 else key
        return f"np.{name}.at({{0}}, {key}, {{1}})"

    return source


def _jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """The mean of the tangents of all that attain the extreme, as of np.max."""
    (x, v, *rest), (x_dot, v_dot, *_), (out,) = primals, tangents, outs
    if (x_dot is None and v_dot is None) or not out.type.differentiable:
        return (None,)
    chosen = read(out, params["key"], tuple(rest))
    stays, enters = equal(x, out), equal(cast_to(v, out.type.dtype), chosen)
    hits = add_at(
        cast(stays, dtype=out.type.dtype), cast(enters, dtype=out.type.dtype), *rest, **params
    )
    total = zeros(shape=out.type.shape, dtype=out.type.dtype)
    if x_dot is not None:
        total = select(stays, x_dot, 0.0)
    if v_dot is not None:
        total = add_at(total, select(enters, v_dot, 0.0), *rest, **params)
    return (truediv(total, hits),)


maximum_at = Op("maximum_at", _infer, _source("maximum"), _jvp, inplace=True, costly=True)
minimum_at = Op("minimum_at", _infer, _source("minimum"), _jvp, inplace=True, costly=True)
