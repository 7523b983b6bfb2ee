"""Finds the size that a program computes by rounding a quotient of sizes in floating point.

int((n - k) / s + 1)      is      (n - k) // s + 1

A quotient of integers is rounded to the nearest number once, and what is added is an integer: the
whole part is that of the fraction, for all lengths that memory can have.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tapeless.transforms.core.builder import axis_length, current, defining_statement
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Literal
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.ternary import Ternary
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub, truediv
from tapeless.transforms.ops.primitives.comparisons_and_rounding import ceil, floor, trunc
from tapeless.transforms.ops.primitives.shapes import cast

DEPTH = 5  # of the formulas of lengths
LARGEST = 1 << 20  # of the numbers in the code: quotients by larger ones may be rounded to integers


ROUNDING = (floor, ceil, trunc)
ARITHMETIC = (cast, neg, truediv, mul, add, sub)


class Fraction(NamedTuple):
    """numerator / divisor, of which the divisor is a positive number."""

    numerator: Size
    divisor: int = 1


def rounded_size(rounding: Op, value: Atom) -> Size | None:
    """The size that a fraction of sizes is rounded to; None where the value is not one."""
    if not isinstance(value, Literal) and (fraction := _fraction(value)) is not None:
        return _round_fraction(rounding, fraction)
    return None


def _round_fraction(rounding: Op, fraction: Fraction) -> Size | None:
    n, divisor = fraction
    if divisor == 1:
        return n
    if rounding is trunc:
        sign = current().at_least(n, 0)
        if sign is Ternary.UNKNOWN:
            return None
        rounding = floor if sign is Ternary.TRUE else ceil
    return n // divisor if rounding is floor else -(-n // divisor)


def _fraction(value: Atom, depth: int = DEPTH) -> Fraction | None:
    """The fraction that a number is computed as, with one quotient at most."""
    if isinstance(value, Literal):
        return _of_literal(value.value)
    if value.type.shape:
        return None
    if value.type.dtype.kind in "iu":
        size = axis_length(value)
        return None if size is None else Fraction(size)
    let = defining_statement(value, *ROUNDING, *ARITHMETIC)
    if let is None or value.type.dtype != np.float64 or depth == 0:
        return None
    parts: list[Any] = []
    for a in let.args:
        parts.append(_fraction(a, depth - 1))
        if parts[-1] is None:
            return None
    if let.op in ROUNDING:
        size = _round_fraction(let.op, *parts)
        return None if size is None else Fraction(size)
    match let.op, parts:
        case op, [part] if op is cast:
            return part  # type: ignore[no-any-return]
        case op, [Fraction(n, d)] if op is neg:
            return Fraction(-n, d)
        case op, [Fraction(n, 1), Fraction(int(d), 1)] if op is truediv and d > 0:
            return Fraction(n, d)
        case op, [Fraction(n, d), Fraction(m, e)] if op is mul and _is_power_of_two(d * e):
            return Fraction(n * m, d * e)
        case op, [Fraction(n, d), Fraction(m, e)] if op in (add, sub) and 1 in (d, e):
            sign = 1 if op is add else -1
            return Fraction(n * e + m * d * sign, d * e)
    return None


def _of_literal(number: object) -> Fraction | None:
    """A number of the code with few binary digits, which products of sizes keep."""
    if type(number) not in (int, float) or not abs(number) <= LARGEST:  # type: ignore[arg-type]
        return None
    n, divisor = number.as_integer_ratio()  # type: ignore[attr-defined]
    return Fraction(n, divisor) if divisor <= LARGEST else None


def _is_power_of_two(n: int) -> bool:
    return n & (n - 1) == 0
