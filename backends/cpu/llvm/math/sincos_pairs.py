"""Finds the sine and the cosine of one value in one body of a loop, which are computed together.

y[i] = sin(x[i])
z[i] = cos(x[i])      becomes      y[i], z[i] = sincos(x[i])
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from tapeless.transforms.python_text.tree_walk import walk

NAMES = {"sin", "cos"}


def paired_calls(function: ast.AST) -> frozenset[int]:
    """The nodes of the calls, by their `id`."""
    ids: set[int] = set()
    for body in (function, *(s for s in walk(function) if isinstance(s, (ast.For, ast.While)))):
        calls: dict[str, list[ast.Call]] = defaultdict(list)
        for call in _calls(body):
            calls[ast.dump(call.args[0])].append(call)
        for same in calls.values():
            if {_name(call) for call in same} == NAMES:
                ids.update(map(id, same))
    return frozenset(ids)


def _calls(body: ast.AST) -> Iterator[ast.Call]:
    """Sines and cosines, but for those in loops inside."""
    for node in ast.iter_child_nodes(body):
        if isinstance(node, (ast.For, ast.While)):
            continue
        if isinstance(node, ast.Call) and len(node.args) == 1 and _name(node) in NAMES:
            yield node
        yield from _calls(node)


def _name(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
