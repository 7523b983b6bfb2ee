"""Tests the indices of all passes of a loop ahead of it: one that may end in each pass runs on no
vectors.

    for i in range(n):                          outside = False
        k = floor(x[i])                         for i in range(n):
        if not -m <= k < m:                         k = floor(x[i])
            raise IndexError(...)     becomes       outside = outside | (k < -m) | (k >= m)
        y[i] = exp(z[k]) * x[i]                 if outside:
                                                    (the loop of k and its test)
                                                for i in range(n):
                                                    k = floor(x[i])
                                                    y[i] = exp(z[k]) * x[i]

Where a loop does much else, and what its indices are made of is little, and not stored to.
"""

from __future__ import annotations

import ast
import copy

from tapeless.transforms.python_text.tree_walk import names_in, walk

ENOUGH = 16  # operations of a pass, from which vectors save more than a second loop takes
CALL = 8  # operations that a function takes as long as
QUICK = {"floor", "ceil", "trunc", "sqrt", "abs", "min", "max", "float64", "float32", "int64"}
FLAG = "outside"


def checks_ahead(function: ast.FunctionDef, apart: bool) -> ast.FunctionDef:
    """The function with such loops.

    apart  whether no array that it is given shares memory with another one that it stores to
    """
    if not apart or not any(isinstance(s, ast.For) and _parts(s) for s in walk(function)):
        return function
    names = names_in(function)
    flag = FLAG
    while flag in names:
        flag += "_"
    rewritten = _Ahead(flag).visit(copy.deepcopy(function))
    return ast.fix_missing_locations(rewritten)  # type: ignore[no-any-return]


class _Ahead(ast.NodeTransformer):
    """Replaces loops. `flag` is a name for whether an index is outside."""

    def __init__(self, flag: str) -> None:
        self.flag = flag

    def visit_For(self, s: ast.For) -> ast.For | list[ast.stmt]:
        tested = _parts(s)
        if tested is None:
            self.generic_visit(s)
            return s
        flagged = [_as_flag(t, self.flag) if isinstance(t, ast.If) else t for t in tested]
        return [
            ast.parse(f"{self.flag} = False").body[0],
            _with_body(s, flagged),
            ast.If(ast.Name(self.flag, ast.Load()), [_with_body(s, tested)], []),
            _with_body(s, [t for t in s.body if not isinstance(t, ast.If)]),
        ]


def _with_body(s: ast.For, body: list[ast.stmt]) -> ast.For:
    loop = copy.copy(s)
    loop.body = copy.deepcopy(body)
    return loop


def _as_flag(s: ast.If, flag: str) -> ast.stmt:
    """Notes that an index is outside, where the test raises."""
    low, index, high = map(ast.unparse, _ends(s) or ())
    text = f"{flag} = {flag} | ({index} < {low}) | ({index} >= {high})"
    return ast.parse(text).body[0]


def _ends(s: ast.stmt) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """The least value of an index, the index, and what it stays below, of a test that raises."""
    match s:
        case ast.If(
            test=ast.UnaryOp(
                op=ast.Not(),
                operand=ast.Compare(left=low, ops=[ast.LtE(), ast.Lt()], comparators=[k, high]),
            ),
            body=[ast.Raise()],
            orelse=[],
        ):
            return low, k, high
    return None


def _parts(s: ast.For) -> list[ast.stmt] | None:
    """The tests of a loop and what they need, in order; None where they stay in it."""
    if not isinstance(s.target, ast.Name) or s.orelse:
        return None
    tests = [t for t in s.body if isinstance(t, ast.If)]
    if not tests or not all(map(_ends, tests)) or not all(map(_is_plain, s.body)):
        return None
    targets = [_target(t) for t in s.body if not isinstance(t, ast.If)]
    assigned = {t.id for t in targets if isinstance(t, ast.Name)}
    places = [t for t in targets if isinstance(t, ast.Subscript)]
    if any(_reads(t.slice) & assigned for t in places) or _work(s.body) < ENOUGH:
        return None
    needed: set[str] = set()
    tested: list[ast.stmt] = []
    for t in reversed(s.body):
        target = None if isinstance(t, ast.If) else _target(t)
        if isinstance(t, ast.If) or (isinstance(target, ast.Name) and target.id in needed):
            needed -= {target.id} if isinstance(target, ast.Name) else set()
            needed |= _reads(t)
            needed |= {target.id} if isinstance(t, ast.AugAssign) else set()  # type: ignore[union-attr]
            tested.insert(0, t)
    stored = {_owner(t) for t in places}
    is_free = not needed & assigned and not needed & stored
    return tested if is_free and all(_is_quick(t, assigned) for t in tested) else None


def _is_plain(s: ast.stmt) -> bool:
    """Whether it is a test, or stores a number."""
    if isinstance(s, ast.If):
        return True
    if isinstance(s, ast.Assign):
        return len(s.targets) == 1 and isinstance(s.targets[0], ast.Name | ast.Subscript)
    return isinstance(s, ast.AugAssign)


def _target(s: ast.stmt) -> ast.expr:
    return s.targets[0] if isinstance(s, ast.Assign) else s.target  # type: ignore[attr-defined]


def _owner(place: ast.Subscript) -> str:
    return place.value.id if isinstance(place.value, ast.Name) else ""


def _reads(node: ast.AST) -> set[str]:
    """The variables that are read, and arrays that are stored to in part."""
    return {x.id for x in walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)}


def _work(body: list[ast.stmt]) -> int:
    """The operations of a pass apart from its tests."""
    nodes = [x for s in body if not isinstance(s, ast.If) for x in walk(s)]
    calls = sum(isinstance(x, ast.Call) and _name(x) not in QUICK for x in nodes)
    return sum(isinstance(x, ast.BinOp) for x in nodes) + CALL * calls


def _name(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _is_quick(s: ast.stmt, assigned: set[str]) -> bool:
    """Whether it takes little time, and reads only elements that are there."""
    for x in walk(s.test if isinstance(s, ast.If) else s):
        if isinstance(x, ast.Call) and _name(x) not in QUICK:
            return False
        if isinstance(x, ast.Subscript) and _reads(x.slice) & assigned:
            return False
    return True
