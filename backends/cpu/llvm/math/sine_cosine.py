"""Computes sine and cosine in LLVM's instructions, of one number or of a vector: doubles to 0.8
ulp, floats to 1.6, where SIMD libraries have errors of 2 to 4.

The method is that of FDLIBM (Sun Microsystems, 1993): the argument less the nearest multiple of
pi / 2, then a polynomial for either function on [-pi / 4, pi / 4]. Signs are put on in the end, so
-0.0 keeps its own. What only the other function needs, LLVM leaves out.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir

from tapeless.backends.cpu.llvm.math.formula_language import (
    ROUNDER,
    SINGLE,
    FormulaValue,
    constant,
    of_types,
    scalar,
    type_like,
)
from tapeless.transforms.lowering import elementary_functions as numbers

LIMIT = of_types(numbers.LARGE)  # of the size of arguments
#: pi / 2 in parts, and the polynomials of sine and cosine
PARTS, SINE, COSINE = (of_types(x) for x in (numbers.HALF_PI, numbers.SINE, numbers.COSINE))


class Signs:
    """The bits of an argument, and of the size that it has."""

    def __init__(self, builder: Any, argument: Any) -> None:
        self.builder, self.kind = builder, argument.type
        self.bits = 32 if scalar(self.kind) == SINGLE else 64
        self.integers = type_like(ir.IntType(self.bits), self.kind)
        self.given = builder.bitcast(argument, self.integers)
        every = self.number(2 ** (self.bits - 1) - 1)
        self.size = FormulaValue(builder, self.floats(builder.and_(self.given, every)))

    def number(self, n: int) -> Any:
        return constant(self.integers, n)

    def floats(self, bits: Any) -> Any:
        return self.builder.bitcast(bits, self.kind)

    def low_integer(self, rounded: FormulaValue) -> Any:
        """The integer at the end of a sum with ROUNDER."""
        return self.builder.bitcast(rounded.value, self.integers)

    def odd(self, n: Any) -> Any:
        last = self.builder.and_(n, self.number(1))
        return self.builder.icmp_unsigned("!=", last, self.number(0))

    def put(self, magnitude: Any, turns: Any, bit: int, like: bool) -> Any:
        """Changes the sign of what was found where a bit of `turns` is set, and, if it is to be
        like the argument's, where that is negative."""
        builder = self.builder
        there = builder.shl(turns, self.number(self.bits - 1 - bit))
        there = builder.xor(there, self.given) if like else there
        sign = builder.and_(there, self.number(2 ** (self.bits - 1)))
        return self.floats(builder.xor(builder.bitcast(magnitude, self.integers), sign))


def sine_and_cosine(builder: Any, argument: Any) -> tuple[Any, Any]:
    """Sine and cosine of numbers whose size is below LIMIT."""
    signs, kind = Signs(builder, argument), scalar(argument.type)
    rounded = signs.size.times(2 / math.pi, ROUNDER[kind])
    turns = signs.low_integer(rounded)
    y, tail = _reduced_by_half_turns(signs.size, rounded - ROUNDER[kind])
    sine, cosine = _near_zero(kind, y, tail)
    odd = signs.odd(turns)
    values = [builder.select(odd, *pair) for pair in ((cosine, sine), (sine, cosine))]
    after = builder.add(turns, signs.number(1))
    return signs.put(values[0], turns, 1, like=True), signs.put(values[1], after, 1, like=False)


def _reduced_by_half_turns(
    x: FormulaValue, k: FormulaValue
) -> tuple[FormulaValue, FormulaValue | None]:
    """x - k pi / 2: of doubles the sum of two."""
    kind = scalar(x.value.type)
    high, middle, low = PARTS[kind]
    first = k.times(-high, x)  # exact
    if kind == SINGLE:
        return k.times(-low, k.times(-middle, first)), None
    step = k * middle
    y = first - step
    return y, k.times(-low, first - y - step + k.times(-middle, step))


def _near_zero(kind: Any, y: FormulaValue, tail: FormulaValue | None) -> tuple[Any, Any]:
    """Sine and cosine of y + tail, where y is at most pi / 4."""
    z = y * y
    sine, cosine = z.polynomial(SINE[kind]), z.polynomial(COSINE[kind])
    near = z.times(-0.5, 1.0)
    if tail is None:
        return (y * z).times(sine, y).value, (z * z).times(cosine, near).value
    sine = y + (y * z).times(sine, z.times(tail * -0.5, tail))
    lost = z.times(-0.5, near * -1.0 + 1.0)
    cosine = near + (z * z).times(cosine, y.times(tail * -1.0, lost))
    return sine.value, cosine.value
