"""Defines the values that formulas in LLVM's instructions are written with: numbers, and vectors of
numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from tapeless.transforms.dataclass import dataclass

SINGLE, DOUBLE = ir.FloatType(), ir.DoubleType()
#: A number of this size has no bits left for fractions: to add it is to round, and the last bits
#: of the sum are those of the integer.
ROUNDER = {SINGLE: 1.5 * 2**23, DOUBLE: 1.5 * 2**52}


@dataclass(frozen=True)
class FormulaValue:
    """A float, a double, or a vector of them, that formulas can be written with."""

    builder: Any
    value: Any

    def _combine(self, other: Any, operation: str) -> FormulaValue:
        return FormulaValue(
            self.builder, getattr(self.builder, operation)(self.value, self._operand(other))
        )

    def _operand(self, x: Any) -> Any:
        return x.value if isinstance(x, FormulaValue) else constant(self.value.type, x)

    def __add__(self, other: Any) -> FormulaValue:
        return self._combine(other, "fadd")

    def __sub__(self, other: Any) -> FormulaValue:
        return self._combine(other, "fsub")

    def __mul__(self, other: Any) -> FormulaValue:
        return self._combine(other, "fmul")

    def times(self, factor: Any, plus: Any) -> FormulaValue:
        """self * factor + plus, rounded once."""
        args = [self.value, self._operand(factor), self._operand(plus)]
        return FormulaValue(self.builder, intrinsic(self.builder, "fma", *args))

    def polynomial(self, coefficients: Sequence[float]) -> FormulaValue:
        total: Any = coefficients[-1]
        for c in coefficients[-2::-1]:
            total = self.times(total, c)
        return total  # type: ignore[no-any-return]


def of_types(numbers: Mapping[Any, Any]) -> dict[Any, Any]:
    """What there is for each dtype of NumPy, by types of LLVM."""
    return {SINGLE: numbers[np.dtype(np.float32)], DOUBLE: numbers[np.dtype(np.float64)]}


def scalar(kind: Any) -> Any:
    return kind.element if isinstance(kind, ir.VectorType) else kind


def type_like(kind: Any, like: Any) -> Any:
    """A type of numbers, of as many as another one has."""
    return ir.VectorType(kind, like.count) if isinstance(like, ir.VectorType) else kind


def constant(kind: Any, x: float) -> Any:
    if isinstance(kind, ir.VectorType):
        return ir.Constant(kind, [constant(kind.element, x)] * kind.count)
    return ir.Constant(kind, x)


def intrinsic(builder: Any, name: str, *args: Any) -> Any:
    """A function of LLVM's, of numbers or vectors of the same type."""
    kind = args[0].type
    lanes = f"v{kind.count}" if isinstance(kind, ir.VectorType) else ""
    name = f"llvm.{name}.{lanes}{scalar(kind).intrinsic_name}"
    signature = ir.FunctionType(kind, [kind] * len(args))
    existing = builder.module.globals.get(name)
    return builder.call(existing or ir.Function(builder.module, signature, name), args)
