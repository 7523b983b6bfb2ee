"""Finds what is read after statements: variables whose values loops hand on.

for j in each(n): t = x[j]; y[j] = t      hands on nothing: each pass sets t before it reads it
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tapeless.transforms.python_text.tree_walk import names_in


def live_before(body: Sequence[ast.stmt], after: set[str], ends: dict[int, set[str]]) -> set[str]:
    """The variables that statements read before they set them, or that are read after them.

    ends  gets what is read after each loop, by its id
    """
    live = set(after)
    for s in reversed(body):
        live = _live_before_statement(s, live, ends)
    return live


def _live_before_statement(s: ast.stmt, after: set[str], ends: dict[int, set[str]]) -> set[str]:
    match s:
        case ast.For(target=target, iter=e, body=body):
            ends[id(s)] = ends.get(id(s), set()) | after
            inside = _live_around_pass(body, after, ends) - names_in(target)
            return inside | after | names_in(e)
        case ast.While(test=test, body=body):
            ends[id(s)] = ends.get(id(s), set()) | after
            return _live_around_pass(body, after | names_in(test), ends) | after | names_in(test)
        case ast.If(test=test, body=body, orelse=orelse):
            return (
                live_before(body, after, ends) | live_before(orelse, after, ends) | names_in(test)
            )
        case ast.Assign(targets=targets, value=e):
            return (after - _set_by(targets)) | _read_by(targets) | names_in(e)
        case ast.AugAssign(target=target, value=e):
            return after | names_in(target) | names_in(e)
        case ast.Return(value=e):
            return names_in(e) if e is not None else set()
    return after | names_in(s)


def _live_around_pass(
    body: Sequence[ast.stmt], after: set[str], ends: dict[int, set[str]]
) -> set[str]:
    """What is live where a pass begins: the next one may follow."""
    first = live_before(body, after, ends)
    return live_before(body, after | first, ends)


def _set_by(targets: Sequence[ast.expr]) -> set[str]:
    names: set[str] = set()
    for t in targets:
        names |= {t.id} if isinstance(t, ast.Name) else set()
        names |= _set_by(t.elts) if isinstance(t, ast.Tuple) else set()
    return names


def _read_by(targets: Sequence[ast.expr]) -> set[str]:
    names: set[str] = set()
    for t in targets:
        names |= names_in(t) if isinstance(t, ast.Subscript) else set()
        names |= _read_by(t.elts) if isinstance(t, ast.Tuple) else set()
    return names
