"""Compiles integers that a driver computes of lengths, and tests of them.

len(x) - 2 >= s1[0]      becomes      %1 = sub %n, 2; %2 = icmp sge %1, %m

What goes beyond 64 bits is left to Python.
"""

from __future__ import annotations

import ast
from typing import Any

from tapeless.backends.cpu.driver.argument_checks import ObjectParts, UnpackedArguments
from tapeless.backends.cpu.llvm.ir.c_api_builder import WORD
from tapeless.backends.cpu.llvm.ir.values import LlvmUnsupportedError

CHECKED = {ast.Add: "sadd", ast.Sub: "ssub", ast.Mult: "smul"}
ORDER = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


class SizeWriter(UnpackedArguments):
    """`names` are what variables hold."""

    def __init__(self, module: Any, symbol: str, missed: Any) -> None:
        super().__init__(module, symbol, missed)
        self.names: dict[str, Any] = {}

    def value(self, e: ast.expr) -> Any:
        """An object, an integer, or a Python tuple of these."""
        raise NotImplementedError

    def size(self, e: ast.expr) -> Any:
        return self.number(self.value(e))

    def number(self, x: Any) -> Any:
        """An integer of 64 bits."""
        if isinstance(x, ObjectParts):
            if x.parts is not None or x.shape is not None or x.kind not in (None, int):
                raise LlvmUnsupportedError("a size that is no integer")
            if x.kind is None:  # what a kernel returned
                self.require(self.is_a(x.value, int))
            return self.integer(x.value)
        if isinstance(x, tuple):
            raise LlvmUnsupportedError("a size that is a tuple")
        return x

    def arithmetic(self, e: ast.BinOp) -> Any:
        a, b = self.size(e.left), self.size(e.right)
        if type(e.op) in CHECKED:
            return self.overflow_checked(CHECKED[type(e.op)], a, b)
        if isinstance(e.op, (ast.FloorDiv, ast.Mod)):
            return self.divide_natural(isinstance(e.op, ast.FloorDiv), a, b)
        raise LlvmUnsupportedError(type(e.op).__name__)

    def overflow_checked(self, name: str, a: Any, b: Any) -> Any:
        result_and_flag = getattr(self.builder, f"{name}_with_overflow")(a, b)
        self.require(self.builder.not_(self.builder.extract_value(result_and_flag, 1)))
        return self.builder.extract_value(result_and_flag, 0)

    def divide_natural(self, quotient: bool, a: Any, b: Any) -> Any:
        """Of what is not negative: Python rounds down."""
        self.require(self.builder.icmp_signed(">=", a, WORD(0)))
        self.require(self.builder.icmp_signed(">", b, WORD(0)))
        return (self.builder.udiv if quotient else self.builder.urem)(a, b)

    def extreme(self, order: str, a: Any, b: Any) -> Any:
        """The greater one of two, or the smaller one."""
        return self.builder.select(self.builder.icmp_signed(order, a, b), a, b)

    def product(self, factors: tuple[Any, ...]) -> Any:
        product: Any = WORD(1)
        for n in factors:
            product = self.overflow_checked("smul", product, n)
        return product

    def test(self, e: ast.expr) -> Any:
        """Whether sizes are related in a way."""
        match e:
            case ast.BoolOp(op=op, values=parts):
                first, *rest = map(self.test, parts)
                for x in rest:
                    first = (self.builder.and_ if isinstance(op, ast.And) else self.builder.or_)(
                        first, x
                    )
                return first
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self.builder.not_(self.test(inner))
            case ast.Compare(left=leftmost, ops=ops, comparators=others):
                values = [self.size(leftmost), *map(self.size, others)]
                holds = self.compare(ops[0], *values[:2])
                for order, a, b in zip(ops[1:], values[1:], values[2:], strict=False):
                    holds = self.builder.and_(holds, self.compare(order, a, b))
                return holds
        raise LlvmUnsupportedError("a test")

    def compare(self, op: ast.cmpop, a: Any, b: Any) -> Any:
        if type(op) not in ORDER:
            raise LlvmUnsupportedError(type(op).__name__)
        return self.builder.icmp_signed(ORDER[type(op)], a, b)
