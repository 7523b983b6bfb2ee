"""Recognises the numbers that loops add up, and how.

for j in each(n): total = plus(total, x[j])      adds up      {"total": "sum"}
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tapeless.transforms.c_text.values import NotPrintedError

WORDS: dict[type[ast.operator], str] = {
    ast.Add: "sum",
    ast.Sub: "sum",
    ast.Mult: "prod",
    ast.BitOr: "any",
    ast.BitAnd: "all",
}


def reductions(loop: ast.For) -> dict[str, str]:
    """The numbers from outside that passes of a loop only add to, and how."""
    reductions_of: dict[str, str] = {}
    reads: dict[str, int] = {}
    for s in ast.walk(loop):
        if isinstance(s, ast.Name) and isinstance(s.ctx, ast.Load):
            reads[s.id] = reads.get(s.id, 0) + 1
    for name, word, used in _steps(loop):
        if reductions_of.get(name, word) != word:
            raise NotPrintedError(f"the variable {name}, which is put together in two ways,")
        reductions_of[name] = word
        reads[name] = reads.get(name, 0) - used
    stores = {
        name: sum(
            isinstance(s, ast.Name) and s.id == name and isinstance(s.ctx, ast.Store)
            for s in ast.walk(loop)
        )
        for name in reductions_of
    }
    steps = [name for name, _, _ in _steps(loop)]
    return {
        name: word
        for name, word in reductions_of.items()
        if reads[name] == 0 and stores[name] == steps.count(name)
    }


def _steps(loop: ast.For) -> Iterator[tuple[str, str, int]]:
    """Each statement that may be a step of a reduction: of what, how, how often it reads that."""
    for s in ast.walk(loop):
        match s:
            case ast.Assign(targets=[ast.Name(id=name)], value=e):
                word = _step(name, _without_cast(e))
                if word:
                    reads = [x for x in ast.walk(e) if isinstance(x, ast.Name) and x.id == name]
                    yield name, word, len(reads)
            case ast.AugAssign(target=ast.Name(id=name), op=op) if type(op) in WORDS:
                yield name, WORDS[type(op)], 0


def _without_cast(e: ast.expr) -> ast.expr:
    match e:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np")), args=[inner], keywords=[]):
            return inner
    return e


def _step(name: str, e: ast.expr) -> str:
    """How an expression puts a number together with another one; empty if it does not."""
    match e:
        case ast.Call(func=ast.Name(id="plus" | "plus_product"), args=[ast.Name(id=first), *rest]):
            return "sum" if first == name and not _reads(name, *rest) else ""
        case ast.BinOp(left=ast.Name(id=first), op=op, right=right) if first == name:
            return "" if _reads(name, right) else WORDS.get(type(op), "")
        case ast.Call(func=ast.Name(id="max" | "min" as word), args=[ast.Name(id=first), other]):
            return word if first == name and not _reads(name, other) else ""
        case ast.IfExp(test=ast.BoolOp(op=ast.Or(), values=[order, nan])):
            return _extreme(name, order, e) if _is_nan(nan, e.body) else ""
        case ast.IfExp(test=ast.Compare() as order):
            return _extreme(name, order, e)
    return ""


def _extreme(name: str, order: ast.expr, e: ast.IfExp) -> str:
    """x if x > best else best"""
    match order, e.orelse:
        case ast.Compare(left=x, ops=[op], comparators=[ast.Name(id=first)]), ast.Name(id=last) if (
            first == last == name and ast.dump(x) == ast.dump(e.body) and not _reads(name, x)
        ):
            if isinstance(op, (ast.Gt, ast.GtE)):
                return "max"
            return "min" if isinstance(op, (ast.Lt, ast.LtE)) else ""
    return ""


def _is_nan(e: ast.expr, x: ast.expr) -> bool:
    match e:
        case ast.Compare(left=a, ops=[ast.NotEq()], comparators=[b]):
            return ast.dump(a) == ast.dump(b) == ast.dump(x)
    return False


def _reads(name: str, *expressions: ast.expr) -> bool:
    return any(isinstance(x, ast.Name) and x.id == name for e in expressions for x in ast.walk(e))
