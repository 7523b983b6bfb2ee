"""Recognises the numbers that loops add up, and how; also those of arrays that each thread has.

for j in each(n): total = plus(total, x[j])      adds up      {"total": "sum"}
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator

from tapeless.transforms.c_text.values import NotPrintedError

WORDS: dict[type[ast.operator], str] = {
    ast.Add: "sum",
    ast.Sub: "sum",
    ast.Mult: "prod",
    ast.BitOr: "any",
    ast.BitAnd: "all",
}


def reductions(loop: ast.For, arrays: Collection[str] = ()) -> dict[str, str]:
    """The numbers from outside that passes of a loop only add to, and how: variables, and the
    elements of these arrays."""
    words: dict[str, str] = {}
    expected: dict[str, int] = {}  # how often steps name each
    for place, word, reads in _steps(loop):
        name = _owner(place)
        if isinstance(place, ast.Subscript) and name not in arrays:
            continue
        if words.setdefault(name, word) != word:
            raise NotPrintedError(f"the variable {name}, which is put together in two ways,")
        expected[name] = expected.get(name, 0) + 1 + reads
    mentions = Counter(map(_name_of, ast.walk(loop)))
    return {name: word for name, word in words.items() if mentions[name] == expected[name]}


def _steps(loop: ast.For) -> Iterator[tuple[ast.expr, str, int]]:
    """Each statement that may be a step of a reduction: of what, how, how often it reads that."""
    for s in ast.walk(loop):
        match s:
            case ast.Assign(targets=[ast.Name() | ast.Subscript() as place], value=e):
                word = _step(place, _without_cast(e))
                if word:
                    reads = [x for x in ast.walk(e) if _name_of(x) == _owner(place)]
                    yield place, word, len(reads)
            case ast.AugAssign(target=place, op=op) if type(op) in WORDS:
                yield place, WORDS[type(op)], 0


def _name_of(e: ast.AST) -> str:
    return e.id if isinstance(e, ast.Name) else ""


def _owner(place: ast.expr) -> str:
    """The variable, or the array of an element."""
    return _name_of(place.value) if isinstance(place, ast.Subscript) else _name_of(place)


def _is_same(e: ast.expr, place: ast.expr) -> bool:
    return ast.unparse(e) == ast.unparse(place)


def _without_cast(e: ast.expr) -> ast.expr:
    match e:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np")), args=[inner], keywords=[]):
            return inner
    return e


def _step(place: ast.expr, e: ast.expr) -> str:
    """How an expression puts what is in a place together with another number; empty if it does
    not."""
    match e:
        case ast.Call(func=ast.Name(id="plus" | "plus_product"), args=[first, *rest]):
            return "sum" if _is_same(first, place) and not _reads(place, *rest) else ""
        case ast.BinOp(left=first, op=op, right=right) if _is_same(first, place):
            return "" if _reads(place, right) else WORDS.get(type(op), "")
        case ast.Call(func=ast.Name(id="max" | "min" as word), args=[first, other]):
            return word if _is_same(first, place) and not _reads(place, other) else ""
        case ast.IfExp(test=ast.BoolOp(op=ast.Or(), values=[order, nan])):
            return _extreme(place, order, e) if _is_nan(nan, e.body) else ""
        case ast.IfExp(test=ast.Compare() as order):
            return _extreme(place, order, e)
    return ""


def _extreme(place: ast.expr, order: ast.expr, e: ast.IfExp) -> str:
    """x if x > best else best"""
    match order:
        case ast.Compare(left=x, ops=[op], comparators=[first]) if (
            _is_same(first, place)
            and _is_same(e.orelse, place)
            and ast.dump(x) == ast.dump(e.body)
            and not _reads(place, x)
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


def _reads(place: ast.expr, *expressions: ast.expr) -> bool:
    name = _owner(place)
    return any(_name_of(x) == name for e in expressions for x in ast.walk(e))
