"""Defines np.where: for each element one of two values."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import broadcast
from tapeless.transforms.core.language import Atom, Literal, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives import scalar_forms
from tapeless.transforms.ops.primitives.dtypes import conform, result_dtype
from tapeless.transforms.ops.primitives.shapes import Atoms, Params


@functools.cache
def refuses_integers() -> bool:
    """Whether NumPy's `where` raises for integers of Python's that its dtype does not hold, as it
    does from 2.5 on; before, it takes their last bits."""
    try:
        np.where(True, np.uint8(0), 256)
    except OverflowError:
        return True
    return False


def _select_infer(test: Atom, a: Atom, b: Atom) -> Type:
    weak = all(t.type.weak for t in (test, a, b))
    branch = result_dtype(np.maximum, (a.type, b.type))  # the promotion of two values
    return Type(branch, broadcast(test.type.shape, a.type.shape, b.type.shape), weak)


def _select_jvp(primals: Atoms, tangents: Any, outs: tuple[Var, ...], params: Params) -> Any:
    _, a, b = tangents
    if a is None and b is None:
        return (None,)
    chosen = select(primals[0], 0.0 if a is None else a, 0.0 if b is None else b)
    return (conform(chosen, outs[0].type),)


def _select_transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    where_true = select(args[0], ct, 0.0) if linear[1] else None
    return (None, where_true, select(args[0], 0.0, ct) if linear[2] else None)


def _select_simplify(args: Atoms, params: Params) -> Atom | None:
    test, a, b = args
    if not isinstance(test, Literal):
        return None
    chosen, result = a if test.value else b, _select_infer(*args)
    if a.type == b.type or chosen.type == result:
        return chosen
    if isinstance(chosen, Literal) and not result.shape and result.dtype.kind == "f":
        return Literal(float(result.dtype.type(chosen.value)), result)
    return None


def _select_source(args: Atoms, params: Params) -> str:
    _, a, b = args
    scalar = not any(x.type.shape for x in args) and a.type.dtype == b.type.dtype
    return "{1} if {0} else {2}" if scalar else "np.where({0}, {1}, {2})"


select = Op(
    "select",
    _select_infer,
    _select_source,
    _select_jvp,
    _select_transpose,
    simplify=_select_simplify,
    elementwise=True,
    scalar=scalar_forms.CHOICE,
    finite="always",
    speculative=True,
    word="chosen",
)
