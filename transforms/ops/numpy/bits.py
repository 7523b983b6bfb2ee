"""Reinterprets the bits of an array as elements of another dtype: x.view(dtype).

np.array([1.0]).view(np.int64)      is      [4607182418800017408]

No derivative goes through integers, and floats that are made of them are refused. The parts of
complex numbers are beside each other, so that complex numbers are pairs of floats, and the other
way round.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let, Literal, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.scalar_form import ModuleNeeds, Operands, ScalarForm, convert
from tapeless.transforms.errors import NotDifferentiableError, UnsupportedError
from tapeless.transforms.ops.primitives.batch_rules import Axes, Batched, batch_elementwise
from tapeless.transforms.ops.primitives.elementwise import conjugate
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, cast_to, dtype_name, front
from tapeless.transforms.python_text.python_source import template

KINDS = "biufc"


def parts_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the floats that a number consists of."""
    return np.zeros((), dtype).real.dtype


def _jvp(primals: Atoms, tangents: Any, outs: Atoms, params: Params) -> Any:
    """Integers have no derivative; pairs of floats have that of the numbers they are."""
    (x,), (t,) = primals, tangents
    old, new = x.type.dtype, outs[0].type.dtype
    if t is None or new.kind not in "fc":
        return (None,)
    if parts_of(old) != parts_of(new):
        raise NotDifferentiableError(
            f"x.view(np.{new.name}) of floats of {old}: bits have no derivative",
            f"convert with x.astype(np.{new.name}), or stop_gradient(x).view(...)",
        )
    return (reinterpret(cast_to(t, old), new, outs[0].type.shape),)


def _transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> Any:
    """The cotangent of a complex number is the conjugate of that of its parts."""
    back = conjugate(ct) if ct.type.dtype.kind == "c" else ct
    cotangent = reinterpret(back, args[0].type.dtype, args[0].type.shape)
    return (conjugate(cotangent) if cotangent.type.dtype.kind == "c" else cotangent,)


def _put(base: Atom, new: Atom, rest: Atoms, params: Params) -> Any:
    return reinterpret(new, base.type.dtype, base.type.shape)


def _source(args: Atoms, params: Params) -> str:
    x = args[0].type
    number = "{0}" if x.shape else f"np.{x.dtype.name}({{0}})"
    return f"{number}.view({dtype_name(params['dtype'])})"


def _simplify(args: Atoms, params: Params) -> Atom | None:
    (x,) = args
    if isinstance(x, Literal):
        return atom(x.type.dtype.type(x.value).view(params["dtype"]))
    return x if x.type.dtype == params["dtype"] else None


def _scalar(s: Let, operands: Operands, module: ModuleNeeds) -> Any:
    """The bits of one number, which has to be one of NumPy's."""
    have, value = s.args[0].type.dtype, operands.convert_operand(0, s.args[0].type.dtype)
    scalar = value if isinstance(s.args[0], Literal) else convert(have, value)
    return template(f"{{0}}.view(np.{s.outs[0].type.dtype.name})", {"0": scalar})


def _of_numbers(s: Let) -> bool:
    """Truth values have no scalar form."""
    return all(v.type.dtype.kind != "b" for v in (*s.args, *s.outs))


bits = Op(
    "bits",
    lambda x, *, dtype: Type(dtype, x.type.shape),
    _source,
    _jvp,
    _transpose,
    put=_put,
    view=True,
    simplify=_simplify,
    batch=batch_elementwise,
    scalar=ScalarForm(_scalar, accepts=_of_numbers, exact=True),
)


def _resized_source(args: Atoms, params: Params) -> str:
    return f"np.ascontiguousarray({{0}}).view({dtype_name(params['dtype'])})"


def _resized_batch(op: Op, args: Atoms, axes: Axes, params: Params) -> Batched:
    return resized_bits(front(args[0], axes[0]), **params), 0


resized_bits = Op(
    "resized_bits",
    lambda x, *, dtype, last: Type(dtype, (*x.type.shape[:-1], last)),
    _resized_source,
    _jvp,
    _transpose,
    put=_put,
    view=True,
    batch=_resized_batch,
)


def reinterpret(x: Atom, dtype: np.dtype[Any], shape: tuple[Size, ...]) -> Any:
    """x as elements of a dtype; `shape` is that of the result."""
    if x.type.dtype.itemsize == dtype.itemsize:
        return bits(x, dtype=dtype)
    return resized_bits(x, dtype=dtype, last=shape[-1])


def _view(x: Any, dtype: Any) -> Any:
    x, new = as_array(x), np.dtype(dtype)
    old, shape = x.type.dtype, x.type.shape
    if new.kind not in KINDS or not new.isnative or (new.kind == "b" != old.kind):
        raise UnsupportedError(
            f"x.view({new}) of an array of {old}",
            "x.view(dtype) takes numbers in the byte order of the machine; `x != 0` makes truth "
            "values, and x.astype(dtype) converts",
        )
    wide, narrow = old.itemsize, new.itemsize
    if wide != narrow and not shape:
        raise ValueError(
            "Changing the dtype of a 0d array is only supported if the itemsize is unchanged"
        )
    if wide != narrow and wide % narrow == 0:
        shape = (*shape[:-1], shape[-1] * (wide // narrow))
    elif wide != narrow:
        if isinstance(shape[-1], int) and shape[-1] * wide % narrow:
            raise ValueError(
                "When changing to a larger dtype, its size must be a divisor of the total size in "
                "bytes of the last axis of the array."
            )
        shape = (*shape[:-1], shape[-1] * wide // narrow)
    return reinterpret(x, new, shape)


METHODS = {"view": _view}
