"""Recognises the larger or the smaller of two floats, or nan if one of them is, as one operation of
LLVM's, which loops that look for the largest number can do on vectors.

a if a > b or a != a else b      becomes      llvm.maximum(a, b)
"""

from __future__ import annotations

import ast

NAMES = {ast.Gt: "maximum", ast.GtE: "maximum", ast.Lt: "minimum", ast.LtE: "minimum"}


def extreme(e: ast.IfExp) -> tuple[str, ast.expr, ast.expr] | None:
    """The name of the operation, and what it is of; None if the choice is another one."""
    match e:
        case ast.IfExp(
            test=ast.BoolOp(
                op=ast.Or(),
                values=[
                    ast.Compare(left=a, ops=[order], comparators=[b]),
                    ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]),
                ],
            ),
            body=body,
            orelse=orelse,
        ) if (
            type(order) in NAMES
            and _are_same_text(a, left, right, body)
            and _are_same_text(b, orelse)
        ):
            return NAMES[type(order)], a, b
    return None


def _are_same_text(*expressions: ast.expr) -> bool:
    return len({ast.dump(e) for e in expressions}) == 1
