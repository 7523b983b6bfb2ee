"""Finds elements of arrays that a loop may keep in registers (scalar replacement; S. Carr and
K. Kennedy, "Scalar Replacement in the Presence of Conditional Control Flow", 1994).

for k in range(a, b): y[i] += v[k]      becomes      t = y[i]; for k ...: t += v[k]; y[i] = t

LLVM does not, where a test inside may raise: it would store what the program has not stored yet.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from tapeless.transforms.python_text.tree_walk import names_in, walk


def held_elements(loop: ast.For) -> Iterator[ast.Subscript]:
    """The elements to which each pass of an innermost loop stores, where it names no other element
    of the array."""
    nodes = [n for s in loop.body for n in walk(s)]
    if any(isinstance(n, (ast.For, ast.While, ast.Return)) for n in nodes):
        return
    assigned = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    assigned |= names_in(loop.target)
    elements: dict[str, list[ast.Subscript]] = defaultdict(list)
    for n in nodes:
        if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name):
            elements[n.value.id].append(n)
    for name, named in elements.items():
        mentions = sum(isinstance(n, ast.Name) and n.id == name for n in nodes)
        stored = {t for s in loop.body for t in _targets(s)} & {*named}
        alike = len({key_of(n) for n in named}) == 1
        if stored and alike and mentions == len(named) and _stays(named[0].slice, assigned):
            yield named[0]


def key_of(e: ast.Subscript) -> str:
    """The text of an element, by which places that name it are found."""
    return ast.unparse(e)


def _targets(s: ast.stmt) -> list[ast.expr]:
    if isinstance(s, ast.Assign):
        return s.targets
    return [s.target] if isinstance(s, ast.AugAssign) else []


def _stays(index: ast.expr, assigned: set[str]) -> bool:
    """Whether an index is the same in each pass, and computed of numbers alone."""
    for n in walk(index):
        if isinstance(n, (ast.Call, ast.Subscript, ast.Slice)):
            return False
        if isinstance(n, ast.Name) and n.id in assigned:
            return False
    return True


def own_arrays(function: ast.FunctionDef) -> set[str]:
    """The names of the arrays that a function makes for itself, and gives no other array."""
    own: set[str] = set()
    others: set[str] = set()
    for s in walk(function):
        match s:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="scratch"))
            ):
                own.add(name)
            case ast.Assign(targets=targets):
                names = (n for t in targets for n in walk(t) if isinstance(n, ast.Name))
                others |= {n.id for n in names if isinstance(n.ctx, ast.Store)}
    return own - others
