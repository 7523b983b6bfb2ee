"""Recognises tests for integers of more than 64 bits, which machine code makes by looking at the
flag that it has for overflow.

-9223372036854775808.0 < 1.0 * a + b < 9223372036854775808.0
    becomes      %1 = call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %a, i64 %b)

Floats round near the ends: the flag is right there, too.
"""

from __future__ import annotations

import ast
from typing import Any

from llvmlite import ir

from tapeless.backends.cpu.llvm.ir.values import BIT, WORD

NAMES = {ast.Add: "sadd", ast.Sub: "ssub", ast.Mult: "smul"}
BEYOND = float(2**63)


def overflow_test(e: ast.Compare) -> tuple[str, ast.expr, ast.expr] | None:
    """The name of the operation, and what it is of; None if the comparison is another one."""
    match e:
        case ast.Compare(
            left=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=low)),
            ops=[ast.Lt(), ast.Lt()],
            comparators=[
                ast.BinOp(
                    left=ast.BinOp(left=ast.Constant(value=1.0), op=ast.Mult(), right=a),
                    op=operation,
                    right=b,
                ),
                ast.Constant(value=high),
            ],
        ) if low == high == BEYOND and type(operation) in NAMES:
            return NAMES[type(operation)], a, b
    return None


def fits(builder: Any, name: str, a: Any, b: Any) -> Any:
    """Whether a result has at most 64 bits."""
    kind = ir.FunctionType(ir.LiteralStructType([WORD, BIT]), [WORD, WORD])
    symbol = f"llvm.{name}.with.overflow.i64"
    declared = builder.module.globals.get(symbol) or ir.Function(builder.module, kind, symbol)
    return builder.not_(builder.extract_value(builder.call(declared, [a, b]), 1))
