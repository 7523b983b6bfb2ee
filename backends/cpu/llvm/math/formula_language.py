"""What formulas in LLVM's instructions are written with: numbers, and vectors of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from tapeless.transforms.dataclass import dataclass

SINGLE, DOUBLE = ir.FloatType(), ir.DoubleType()
#: A number of this size has no bits left for fractions: to add it is to round, and the last bits
#: of the sum are those of the integer.
ROUNDER = {SINGLE: 1.5 * 2**23, DOUBLE: 1.5 * 2**52}


@dataclass(frozen=True)
class Value:
    """A float, a double, or a vector of them, that formulas can be written with."""

    builder: Any
    value: Any

    def _with(self, other: Any, operation: str) -> Value:
        return Value(self.builder, getattr(self.builder, operation)(self.value, self._of(other)))

    def _of(self, x: Any) -> Any:
        return x.value if isinstance(x, Value) else constant(self.value.type, x)

    def __add__(self, other: Any) -> Value:
        return self._with(other, "fadd")

    def __sub__(self, other: Any) -> Value:
        return self._with(other, "fsub")

    def __mul__(self, other: Any) -> Value:
        return self._with(other, "fmul")

    def times(self, factor: Any, plus: Any) -> Value:
        """self * factor + plus, rounded once."""
        args = [self.value, self._of(factor), self._of(plus)]
        return Value(self.builder, intrinsic(self.builder, "fma", *args))

    def polynomial(self, coefficients: Sequence[float]) -> Value:
        total: Any = coefficients[-1]
        for c in coefficients[-2::-1]:
            total = self.times(total, c)
        return total  # type: ignore[no-any-return]


def scalar(kind: Any) -> Any:
    return kind.element if isinstance(kind, ir.VectorType) else kind


def shaped(kind: Any, like: Any) -> Any:
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
    known = builder.module.globals.get(name)
    return builder.call(known or ir.Function(builder.module, signature, name), args)
