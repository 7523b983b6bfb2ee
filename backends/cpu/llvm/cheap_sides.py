"""Finds expressions that take less time than a branch around them, and cannot fail.

z[j] = z[j] * z[j] + c[j] if inside else z[j]      computes the sum in any case, and selects
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

MOST = 10  # operations
FREE = (ast.Add, ast.Sub, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)


def is_cheap(sides: Iterable[ast.expr], is_there: Callable[[ast.Subscript], bool]) -> bool:
    """Whether all the expressions together are few operations of numbers that are there.

    is_there  whether an element of an array can be read in any case
    """
    work = 0
    for side in sides:
        cost = _cost(side, is_there)
        if cost is None:
            return False
        work += cost
    return 0 < work <= MOST


def _cost(e: ast.expr, is_there: Callable[[ast.Subscript], bool]) -> int | None:
    """The number of operations; None if one may fail, or takes long."""
    match e:
        case ast.Name() | ast.Constant():
            return 0
        case ast.Subscript():
            return 1 if is_there(e) else None
        case ast.Attribute(value=x, attr="real" | "imag"):
            return _cost(x, is_there)
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=x):
            costs = [_cost(x, is_there)]
        case ast.BinOp(left=x, op=op, right=y) if isinstance(op, FREE):
            costs = [_cost(x, is_there), _cost(y, is_there)]
        case ast.BinOp(left=x, op=ast.RShift(), right=ast.Constant()):
            costs = [_cost(x, is_there)]
        case _:
            return None
    return None if None in costs else 1 + sum(costs)  # type: ignore[arg-type]
