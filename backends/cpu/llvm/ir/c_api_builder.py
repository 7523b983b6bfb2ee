"""Builds functions of CPython's C interface: a call of them has objects in a row and their number.

Arguments that a function does not take lead to its block `missed`.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from tapeless.backends.cpu.llvm.ir.ir_helpers import declare

BYTE, WORD = ir.IntType(8), ir.IntType(64)
OBJECT = BYTE.as_pointer()


class CApiBuilder:
    """A function of a module under construction, with `self`, arguments and their number."""

    missed: Any

    def __init__(self, module: Any, symbol: str) -> None:
        self.module = module
        kind = ir.FunctionType(OBJECT, [OBJECT, OBJECT.as_pointer(), WORD])
        self.function = ir.Function(module, kind, symbol)
        self.builder = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.owner, self.args, self.count = self.function.args

    def api(self, name: str, result: Any, *args: Any) -> Any:
        """A call of a function of the C interface."""
        kind = ir.FunctionType(result, [a.type for a in args])
        return self.builder.call(declare(self.module, name, kind), args)

    def field(self, x: Any, offset: int, kind: Any) -> Any:
        """What a structure holds at an offset."""
        place = self.builder.gep(x, [WORD(offset)], inbounds=True)
        return self.builder.load(self.builder.bitcast(place, kind.as_pointer()))

    def require(self, condition: Any) -> None:
        """Goes on if the condition holds; the arguments are others if not."""
        on = self.function.append_basic_block()
        self.builder.cbranch(condition, on, self.missed)
        self.builder.position_at_end(on)

    def is_same_object(self, x: Any, y: Any) -> Any:
        return self.builder.icmp_unsigned("==", x, y)
