"""Computes the exponential in LLVM's instructions, of one number or of a vector, to 1.1 ulp.

exp(x) = 2**n exp(r), with n the integer nearest to x / log(2), and a polynomial for exp(r). The
coefficients are those of the least relative error (found by Remez' method with 60 digits): 2**-58
of doubles, 2**-28 of floats.
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
    scalar,
    type_like,
)

#: Of the size of arguments: below, no power of two and no result is denormal, or overflows.
LIMIT = {SINGLE: 86.0, DOUBLE: 707.0}
#: Where all results are zero or infinite
ENDS = {SINGLE: (-105.0, 89.0), DOUBLE: (-747.0, 710.0)}
#: log(2) in parts, of which products of the first with n are exact
PARTS = {
    SINGLE: (0.693145751953125, 1.428606765330187e-06),
    DOUBLE: (0.6931471803691238, 1.9082149292705877e-10),
}
#: exp(r) = 1 + r + r r P(r)
POLYNOMIAL = {
    SINGLE: (
        0.4999999343207066,
        0.16666520400169382,
        0.04166839083778827,
        0.00836874503064419,
        0.0013814536219470385,
    ),
    DOUBLE: (
        0.5000000000000011,
        0.1666666666666641,
        0.04166666666652973,
        0.008333333333494914,
        0.0013888888943759381,
        0.00019841269505913955,
        2.480149295024481e-05,
        2.755758667694625e-06,
        2.7630306046279e-07,
        2.500005931748606e-08,
    ),
}
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
