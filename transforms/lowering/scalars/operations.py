"""Finds the scalar forms of statements; reductions, one element at a time.

sum(x)      becomes      total = 0.0, and for each element      total + x
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Let, Type
from tapeless.transforms.core.scalar_form import (
    FLOAT,
    ModuleNeeds,
    Operands,
    ScalarForm,
    literal,
    narrow,
)
from tapeless.transforms.ops.numpy.reductions import REDUCTIONS
from tapeless.transforms.ops.primitives.scalar_forms import fits
from tapeless.transforms.python_text.python_source import template

DTYPES = frozenset(
    map(
        np.dtype, ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"]
    )  # what Numba compiles well
)


def form_of(s: Let) -> ScalarForm | None:
    """The scalar form of the operation for the types of this statement, if there is one."""
    if s.op.scalar is None:
        return None
    types = [a.type for a in s.args] + [v.type for v in s.outs]
    if not all(isinstance(t, Type) and t.dtype in DTYPES for t in types):
        return None
    if not all(fits(a, s.outs[0].type.dtype) for a in s.args):
        return None  # NumPy raises
    return s.op.scalar.form_for(s)


def has_scalar_form(s: Let) -> bool:
    """Whether the operation has a scalar form for the types of this statement."""
    return form_of(s) is not None


def repeats(s: Let) -> bool:
    """Whether the text of an operation names an operand more than once."""
    form = form_of(s)
    return form is not None and form.repeats


def scalar_expression(s: Let, values: list[ast.expr], module: ModuleNeeds) -> ast.expr:
    """The value of the statement for operands with this text, in the dtype of its result."""
    if s.op in REDUCTIONS:  # of one number
        return Operands(s, values).convert_operand(0, s.outs[0].type.dtype)
    form = form_of(s)
    if form is None:
        raise KeyError(s.op.name)
    return form.write(s, values, module)


def identity(op: str, dtype: np.dtype[Any]) -> ast.expr:
    """What a reduction starts with."""
    if op in ("max", "min"):
        low = op == "max"
        if dtype.kind == "f":
            return literal(-np.inf if low else np.inf, dtype)
        if dtype.kind == "b":
            return literal(not low, dtype)
        limits = np.iinfo(dtype)
        return literal(limits.min if low else limits.max, dtype)
    first = {"sum": 0, "prod": 1, "any": False, "all": True}[op]
    return literal(float(first) if dtype == FLOAT else first, dtype)


def reduction_step(op: str, dtype: np.dtype[Any], holes: dict[str, ast.expr]) -> Any:
    """One more element {1} of a reduction {0}."""
    match op:
        case "max" | "min":
            sign = ">" if op == "max" else "<"
            if dtype.kind == "f":
                return template(f"{{1}} if {{1}} {sign} {{0}} or {{1}} != {{1}} else {{0}}", holes)
            return template(f"{{1}} if {{1}} {sign} {{0}} else {{0}}", holes)
        case "any" | "all":
            return template("{0} | {1}" if op == "any" else "{0} & {1}", holes)
    return narrow(template("{0} + {1}" if op == "sum" else "{0} * {1}", holes), dtype)
