"""Finds sines and cosines of one number that are computed together.

t = sin(x)                    double sin_x, cos_x;
u = cos(x)        becomes     sincos(x, &sin_x, &cos_x);
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tapeless.transforms.python_text.tree_walk import names_in

NAMES = ("sin", "cos")


def sincos_pairs(body: Sequence[ast.stmt]) -> dict[int, list[ast.expr]]:
    """The numbers whose sine and cosine some statements of a block compute, by the `id` of the
    first of them. Between the two nothing else than numbers and elements gets a value, and nothing
    that the number is computed of."""
    pairs: dict[int, list[ast.expr]] = {}
    open_: dict[str, tuple[ast.stmt, ast.expr, set[str]]] = {}  # the first call for each number
    for s in body:
        if not isinstance(s, (ast.Assign, ast.AugAssign)):
            open_ = {}
            continue
        for call in _calls(s):
            (x,), key = call.args, ast.dump(call.args[0])
            first, _, called = open_.setdefault(key, (s, x, set()))
            before = len(called)
            called.add(_name(call))
            if before < len(called) == len(NAMES):
                pairs.setdefault(id(first), []).append(x)
        changed = _stored_names(s)
        open_ = {k: v for k, v in open_.items() if not changed & names_in(v[1])}
    return pairs


def _calls(s: ast.stmt) -> Iterator[ast.Call]:
    """Sines and cosines that a statement always computes, of numbers that are in registers."""
    for node in _unconditional_parts(s):
        if isinstance(node, ast.Call) and len(node.args) == 1 and _name(node) in NAMES:
            inner = [*ast.walk(node.args[0])]
            if not any(isinstance(x, (ast.Subscript, ast.Call)) for x in inner):
                yield node


def _unconditional_parts(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression that do not depend on a choice."""
    yield node
    if isinstance(node, ast.IfExp):
        yield from _unconditional_parts(node.test)
    elif isinstance(node, ast.BoolOp):
        yield from _unconditional_parts(node.values[0])
    else:
        for child in ast.iter_child_nodes(node):
            yield from _unconditional_parts(child)


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _stored_names(s: ast.stmt) -> set[str]:
    return {x.id for x in ast.walk(s) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
