"""Finds loops of a kernel that do nothing to a number but add to it.

for i in range(n): s = plus(s, x[i]); y[i] = s      adds to s, and reads it: not such a loop
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterator

from tapeless.transforms.python_text.tree_walk import names_in, walk

ADDS = ("plus", "plus_product")


def only_added_to(s: ast.For) -> set[str]:
    """The names of the numbers to which a loop adds, and with which it does nothing else."""
    inside = [*walk(s)]
    named = Counter(x.id for x in inside if isinstance(x, ast.Name))
    added = Counter(name for x in inside if (name := _total(x)) is not None)
    return {name for name, count in added.items() if count * 2 == named[name]}


def additions(s: ast.For, name: str) -> list[ast.AST]:
    return [x for x in walk(s) if _total(x) == name]


def _total(s: ast.AST) -> str | None:
    """The name to which an assignment adds, if it is s = plus(s, ...), s = plus(plus(s, ...), ...)
    or s = s + ..."""
    match s:
        case ast.Assign(targets=[ast.Name(id=name)], value=e):
            return name if _adds_to(e, name) else None
    return None


def _adds_to(e: ast.expr, name: str) -> bool:
    match e:
        case ast.BinOp(left=total, op=ast.Add()):
            e = total
    while True:
        match e:
            case ast.Call(func=ast.Name(id=called), args=[total, *_]) if called in ADDS:
                e = total
            case _:
                return _is_name(e, name)


def _is_name(e: ast.AST, name: str) -> bool:
    return isinstance(e, ast.Name) and e.id == name


def way_to(s: ast.For, name: str) -> list[ast.For]:
    """The loops that lead to the additions, as long as all are in one."""
    way, count = [s], len(additions(s, name))
    while True:
        inner = [x for x in loops_in(way[-1].body) if len(additions(x, name)) == count]
        if not inner:
            return way
        way += inner


def loops_in(body: list[ast.stmt]) -> Iterator[ast.For]:
    """The outermost loops over ranges in statements."""
    for s in body:
        if isinstance(s, ast.For):
            yield s
        elif isinstance(s, (ast.If, ast.While)):
            yield from loops_in([*s.body, *s.orelse])


def may_cut(s: ast.For) -> bool:
    """Whether a loop may be one over blocks and one over the passes of each: it goes up by one to
    what its passes leave alone, and all of them run to their end."""
    match s.iter:
        case ast.Call(func=ast.Name(id="range"), args=[_] | [_, _], keywords=[]):
            pass
        case _:
            return False
    bounds = names_in(s.iter)
    names = (x for x in walk(s) if isinstance(x, ast.Name))
    changed = {x.id for x in names if isinstance(x.ctx, ast.Store)}
    return not bounds & changed and not s.orelse and not any(map(_ends, s.body))


def _ends(s: ast.stmt) -> bool:
    if isinstance(s, ast.If):
        return any(map(_ends, [*s.body, *s.orelse]))
    return isinstance(s, (ast.Break, ast.Continue))


def may_run_in_vectors(s: ast.For, sums: Container[str]) -> bool:
    """Whether a pass is no loop, does not raise, and needs no number of the one before but sums."""
    inside = (x for body in s.body for x in walk(body))
    return not any(
        isinstance(x, (ast.For, ast.While, ast.Raise)) or _carries(x, sums) for x in inside
    )


def _carries(s: ast.AST, sums: Container[str]) -> bool:
    match s:
        case ast.AugAssign(target=ast.Name()):
            return True
        case ast.Assign(targets=[ast.Name(id=name)], value=e) if name not in sums:
            return any(_is_name(x, name) for x in walk(e))
    return False
