"""Unrolls and jams loops whose passes add to the same numbers: four passes at a time.

    for i in range(n):                                for i in range(0, n - 3, 4):
        for j in range(m):                                for j in range(m):
            s[j] = s[j] + a[i, j]      becomes                s[j] = s[j] + a[i, j]
                                                              s[j] = s[j] + a[i + 1, j]
                                                              ...

and a loop over the passes that are left. The numbers are loaded and stored once for four additions,
whose order stays. Only for arrays that share no memory with what is read.
"""

from __future__ import annotations

import ast
import copy
import re
from collections import Counter
from typing import Any

from tapeless.transforms.python_text.tree_walk import walk

PASSES = 4
PLAIN = (
    *(ast.Name, ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.Attribute),
    *(ast.operator, ast.unaryop, ast.expr_context),
)
HELPERS = {"plus", "plus_product"}
SHAPE = re.compile(r"\w+\.shape\[\d+\]")


def unroll_and_jam(function: ast.FunctionDef, apart: bool) -> ast.FunctionDef:
    """The function with such loops.

    apart  whether no array that it is given shares memory with another one that it stores to
    """
    arguments = {a.arg for a in function.args.args}
    assigned = [s for s in walk(function) if isinstance(s, ast.Assign)]
    own = {
        t.id for s in assigned for t in s.targets if isinstance(t, ast.Name) and _is_new(s.value)
    }
    often = Counter(t.id for s in assigned for t in s.targets if isinstance(t, ast.Name))
    own = {name for name in own if often[name] == 1}
    arguments = {name for name in arguments if not often[name]}
    once = {name for name in often if often[name] == 1 and name not in arguments}
    jam = Jam(own | arguments if apart else own, own | arguments, once, _readers(function))
    loops = [s for s in walk(function) if isinstance(s, ast.For)]
    if not any(jam.fits(jam.without_names(s)) for s in loops):
        return function
    return ast.fix_missing_locations(jam.visit(copy.deepcopy(function)))  # type: ignore[no-any-return]


def _readers(node: ast.AST) -> Counter[str]:
    """How often each variable is read."""
    return Counter(
        x.id for x in walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)
    )


class Jam(ast.NodeTransformer):
    """Replaces loops that add to arrays.

    stored   those that share no memory with others
    read     those that may be read meanwhile
    once     variables that are assigned in one place
    readers  how often each variable is read
    """

    def __init__(
        self, stored: set[str], read: set[str], once: set[str], readers: Counter[str]
    ) -> None:
        self.stored, self.read, self.once, self.readers = stored, read, once, readers

    def visit_For(self, s: ast.For) -> ast.For | list[ast.For]:
        unnamed = self.without_names(s)
        if not self.fits(unnamed):
            self.generic_visit(s)
            return s
        s = unnamed
        count = _count(s)
        assert count is not None
        inner, k = s.body[0], s.target.id  # type: ignore[attr-defined]
        assert isinstance(inner, ast.For)
        n = ast.unparse(count)
        many, rest = copy.deepcopy(s), copy.deepcopy(s)
        many.iter = expression(f"range(0, {n} - {PASSES - 1}, {PASSES})")
        rest.iter = expression(f"range(max(0, {n} - {n} % {PASSES}), {n})")
        many.body[0].body = [_shift_passes(inner.body[0], k, ahead) for ahead in range(PASSES)]  # type: ignore[attr-defined]
        return [many, rest]

    def fits(self, s: ast.For) -> bool:
        return _count(s) is not None and self.adds(s)

    def without_names(self, s: ast.For) -> ast.For:
        """The loop without variables for what each pass reads ahead of the inner loop, such as a
        weight: copies of a pass have values of their own."""
        *ahead, inner = s.body
        if not (ahead and isinstance(inner, ast.For)):
            return s
        values: dict[str, ast.expr] = {}
        for t in ahead:
            match t:
                case ast.Assign(targets=[ast.Name(id=name)], value=e) if (
                    name in self.once
                    and _readers(s)[name] == self.readers[name]
                    and all(map(self.is_plain, walk(e)))
                    and not any(owner(x) in self.stored_in(inner) for x in _subscripts(e))
                ):
                    values[name] = _with_values(e, values)
                case _:
                    return s
        return ast.For(**{**vars(s), "body": [_with_values(inner, values)]})

    def stored_in(self, s: ast.For) -> set[str]:
        return {owner(x) for x in _subscripts(s) if isinstance(x.ctx, ast.Store)}

    def adds(self, s: ast.For) -> bool:
        """Whether the body is a loop that adds to numbers which are the same in all passes."""
        match s.body:
            case [
                ast.For(
                    body=[
                        ast.Assign(
                            targets=[ast.Subscript(value=ast.Name(id=name)) as place], value=e
                        )
                    ]
                ) as inner
            ]:
                pass
            case _:
                return False
        k, count = s.target.id, _count(inner)  # type: ignore[attr-defined]
        if count is None or isinstance(count, ast.Constant) or name not in self.stored:
            return False
        same = [x for x in walk(e) if isinstance(x, ast.Subscript) and owner(x) == name]
        return (
            [ast.unparse(x) for x in same] == [ast.unparse(place)]
            and mentions(e, k)
            and not mentions(place, k)
            and _differs(place, inner.target.id)  # type: ignore[attr-defined]
            and all(map(self.is_plain, walk(e)))
        )

    def is_plain(self, e: ast.AST) -> bool:
        """Whether a part of an expression has no effect, and reads what is known."""
        match e:
            case ast.Call(func=ast.Name(id=name)):
                return name in HELPERS
            case ast.Call(func=ast.Attribute(value=ast.Name(id="np"))):
                return True
            case ast.Subscript():
                return owner(e) in self.read or bool(SHAPE.fullmatch(ast.unparse(e)))
        return isinstance(e, PLAIN)


def _subscripts(node: ast.AST) -> list[ast.Subscript]:
    return [x for x in walk(node) if isinstance(x, ast.Subscript)]


def _with_values(node: Any, values: dict[str, ast.expr]) -> Any:
    """A copy with expressions in place of variables."""

    class _Values(ast.NodeTransformer):
        def visit_Name(self, e: ast.Name) -> ast.expr:
            return copy.deepcopy(values.get(e.id, e))

    return _Values().visit(copy.deepcopy(node))


def _count(s: ast.For) -> ast.expr | None:
    """The passes of a loop that counts from 0 to the length of an axis, or to a number."""
    match s:
        case ast.For(
            target=ast.Name(),
            iter=ast.Call(func=ast.Name(id="range"), args=[n], keywords=[]),
            orelse=[],
        ):
            fixed = isinstance(n, (ast.Constant, ast.Name)) or SHAPE.fullmatch(ast.unparse(n))
            return n if fixed else None
    return None


def _differs(place: ast.Subscript, name: str) -> bool:
    """Whether each value of a variable gives another element."""
    parts = place.slice.elts if isinstance(place.slice, ast.Tuple) else [place.slice]
    moved = rf"{name}( \+ \d+)?|\d+ \+ {name}"
    return any(re.fullmatch(moved, ast.unparse(e)) for e in parts)


def _shift_passes(s: ast.stmt, name: str, ahead: int) -> ast.stmt:
    """A statement as it is so many passes later."""

    class _PassShift(ast.NodeTransformer):
        def visit_Name(self, e: ast.Name) -> ast.expr:
            return expression(f"{name} + {ahead}") if e.id == name else e

    shifted = copy.deepcopy(s)
    return _PassShift().visit(shifted) if ahead else shifted


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def mentions(e: ast.AST, name: str) -> bool:
    return any(isinstance(x, ast.Name) and x.id == name for x in walk(e))


def owner(x: ast.Subscript) -> str:
    return x.value.id if isinstance(x.value, ast.Name) else ""


def _is_new(e: ast.expr) -> bool:
    """Whether an array is made here."""
    match e:
        case ast.Call(func=ast.Name(id="scratch")):
            return True
    return False
