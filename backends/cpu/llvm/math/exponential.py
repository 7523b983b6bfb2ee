"""Computes the exponential in LLVM's instructions, of one number or of a vector, to 1.1 ulp.

exp(x) = 2**n exp(r), with n the integer nearest to x / log(2), and a polynomial for exp(r).
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir

from tapeless.backends.cpu.llvm.math.formula_language import (
    DOUBLE,
    ROUNDER,
    SINGLE,
    FormulaValue,
    constant,
    of_types,
    scalar,
    type_like,
)
from tapeless.transforms.lowering import elementary_functions as numbers

#: Of the size of arguments: below, no power of two and no result is denormal, or overflows.
LIMIT = {SINGLE: 86.0, DOUBLE: 707.0}
#: Where all results are zero or infinite
ENDS = {SINGLE: (-105.0, 89.0), DOUBLE: (-747.0, 710.0)}
#: log(2) in parts, and the polynomial of the exponential
PARTS, POLYNOMIAL = (of_types(x) for x in (numbers.LOG_2, numbers.EXPONENTIAL))
#: The bits after the exponent, and the bits of 1.0
FRACTION = {SINGLE: 23, DOUBLE: 52}
ONE = {SINGLE: 127 << 23, DOUBLE: 1023 << 52}


def exp_below_limit(builder: Any, argument: Any) -> Any:
    """exp of numbers whose size is below LIMIT."""
    exp_r, rounded, _ = _exp_of_reduced(builder, argument)
    integers = _integers(argument)
    power = builder.shl(builder.bitcast(rounded.value, integers), _fraction(argument))
    sum_ = builder.add(builder.bitcast(exp_r.value, integers), power)
    return builder.bitcast(sum_, argument.type)


def exp_of_any(builder: Any, argument: Any) -> Any:
    """exp of any numbers: by two powers of two, of which each is one that there is."""
    kind, x = scalar(argument.type), argument
    for sign, end in zip("<>", ENDS[kind], strict=True):
        limit = constant(x.type, end)
        x = builder.select(builder.fcmp_ordered(sign, x, limit), limit, x)
    result, _, n = _exp_of_reduced(builder, x)
    half = n.times(0.5, ROUNDER[kind])
    rest = n - (half - ROUNDER[kind])
    for part in (half, rest + ROUNDER[kind]):
        result = result * _power(builder, part.value)
    return result.value


def _exp_of_reduced(builder: Any, argument: Any) -> tuple[FormulaValue, FormulaValue, FormulaValue]:
    """exp(r), the sum of n and ROUNDER, and n."""
    kind, x = scalar(argument.type), FormulaValue(builder, argument)
    rounded = x.times(1 / math.log(2), ROUNDER[kind])
    n = rounded - ROUNDER[kind]
    high, low = PARTS[kind]
    r = n.times(-low, n.times(-high, x))
    return r.times(r.times(r.polynomial(POLYNOMIAL[kind]), 1.0), 1.0), rounded, n


def _power(builder: Any, rounded: Any) -> FormulaValue:
    """2**n, of the sum of n and ROUNDER."""
    bits = builder.shl(builder.bitcast(rounded, _integers(rounded)), _fraction(rounded))
    unit = constant(bits.type, ONE[scalar(rounded.type)])
    return FormulaValue(builder, builder.bitcast(builder.add(bits, unit), rounded.type))


def _integers(x: Any) -> Any:
    return type_like(ir.IntType(32 if scalar(x.type) == SINGLE else 64), x.type)


def _fraction(x: Any) -> Any:
    return constant(_integers(x), FRACTION[scalar(x.type)])
