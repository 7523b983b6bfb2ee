"""Moves signs outwards through what only moves or chooses elements.

b = (-x)[1:]                                 becomes      b = -x[1:]
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.builder import defining_statement
from tapeless.transforms.core.language import Let
from tapeless.transforms.ops.primitives.arithmetic import mul, neg, sub
from tapeless.transforms.ops.primitives.comparisons_and_rounding import logical_not
from tapeless.transforms.ops.primitives.constant_folding import is_number
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.optimize.algebra.facts import (
    Uses,
    coefficient_and_value,
    is_float,
    is_read_once,
    operand_of_negation,
)


def sign_outside(s: Let, uses: Uses) -> Any:
    inner = operand_of_negation(s.args[0])
    return None if inner is None else neg(s.op(inner, *s.args[1:], **s.params))


def signs_of_sign(s: Let, uses: Uses) -> Any:
    (a,) = s.args
    if (x := operand_of_negation(a)) is not None:
        return x
    if not is_read_once(a, uses) or not is_float(a):
        return None
    c, x = coefficient_and_value(a)
    if x is not a:
        return mul(-c, x)
    let = defining_statement(a, sub)
    return None if let is None else sub(*let.args[::-1])


def sign_of_chosen(s: Let, uses: Uses) -> Any:
    """where(c, -a, 0) is -where(c, a, 0)."""
    test, a, b = s.args
    if is_number(b, 0) and (x := operand_of_negation(a)) is not None:
        return neg(select(test, x, b))
    if is_number(a, 0) and (x := operand_of_negation(b)) is not None:
        return neg(select(test, a, x))
    return None


def chosen_twice(s: Let, uses: Uses) -> Any:
    """where(c, where(c, a, x), where(c, y, b)) is where(c, a, b)."""
    test, *sides = s.args
    inner = [defining_statement(a, select) for a in sides]
    a, b = (
        side if let is None or let.args[0] is not test else let.args[k]
        for k, (side, let) in enumerate(zip(sides, inner, strict=True), 1)
    )
    if [a, b] == sides:
        return None
    if inner[0] is not None and (a, b) == inner[0].args[1:]:
        return sides[0]
    return select(test, a, b) if select.infer(test, a, b) == s.outs[0].type else None


def sign_of_compared(s: Let, uses: Uses) -> Any:
    """-x != 0 is x != 0."""
    a, b = s.args
    x = operand_of_negation(a) if is_number(b, 0) else None
    return None if x is None else s.op(x, b)


def not_twice(s: Let, uses: Uses) -> Any:
    let = defining_statement(s.args[0], logical_not)
    return let.args[0] if let is not None and let.args[0].type.dtype.kind == "b" else None
