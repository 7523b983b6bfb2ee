"""Removes lines of a kernel that set a variable which nothing reads, such as lengths that turned
out to be known.

n = x.shape[0]; for i in range(x.shape[0]): ...      becomes      for i in range(x.shape[0]): ...

Arrays of the kernel itself go, too, if they are stored to and never read.
"""

from __future__ import annotations

import ast
import re
from collections import Counter

from tapeless.transforms.python_text.line_breaking import NOTE, WIDTH
from tapeless.transforms.python_text.tree_walk import walk

BEHIND = re.compile("  " + NOTE.pattern)


def without_unread(head: str, lines: list[str]) -> list[str]:
    """The lines of a function, as long as some go."""
    while True:
        nodes = [*walk(ast.parse("\n".join([head, *lines])))]
        suites = _suites(nodes)
        reads = Counter(name for n in nodes for name in _read(n))
        read = {*reads, *(n.target.id for n in nodes if _adds(n))}
        read -= _only_stored(nodes, suites, reads)
        unread = [s for block in suites for s in _unread(block, read)]
        if not unread:
            return lines
        first = len(head.splitlines()) + 1
        for s in sorted(unread, key=lambda s: -s.lineno):
            lines = _without_lines(lines, s.lineno - first, (s.end_lineno or s.lineno) - first + 1)


def _only_stored(
    nodes: list[ast.AST], suites: list[list[ast.stmt]], reads: Counter[str]
) -> set[str]:
    """The arrays of the function itself that it only stores to. Where such stores are all that a
    suite has, they stay."""
    own = {s.targets[0].id for s in nodes if _makes_array(s)}  # type: ignore[attr-defined]
    stores = Counter(name for n in nodes if (name := _stored_array(n)) in own)
    unread = {name for name in own if reads[name] == stores[name]}
    for block in suites:
        if block and all(_stored_array(s) in unread for s in block):
            unread -= {*map(_stored_array, block)}
    return unread


def _makes_array(s: ast.AST) -> bool:
    match s:
        case ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Name(id="scratch"))):
            return True
    return False


def _stored_array(s: ast.AST) -> str:
    """The array that a statement stores an element to."""
    match s:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]):
            return name
    return ""


def _adds(n: ast.AST) -> bool:
    """Whether a statement reads the variable that it sets."""
    return isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)


def _read(node: ast.AST) -> list[str]:
    """The variable that an expression, or `x += 1`, reads itself."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()) | ast.AugAssign(target=ast.Name(id=name)):
            return [name]
    return []


def _suites(nodes: list[ast.AST]) -> list[list[ast.stmt]]:
    fields = (getattr(n, field, []) for n in nodes for field in ("body", "orelse"))
    return [block for block in fields if isinstance(block, list)]


def _unread(block: list[ast.stmt], read: set[str]) -> list[ast.stmt]:
    """The statements of a suite that may go; one has to stay."""
    return [s for s in block if _sets(s, read)][: len(block) - 1]


def _sets(s: ast.stmt, read: set[str]) -> bool:
    """Whether the statement sets a variable that is not read, or stores to such an array. Values
    have no effects, but for random numbers."""
    return (
        isinstance(s, ast.Assign)
        and not _draws(s.value)
        and (name := _stored_array(s) or getattr(s.targets[0], "id", "")) != ""
        and name not in read
    )


def _draws(e: ast.expr) -> bool:
    """Whether an expression is a call of a generator: rng.normal()."""
    return (
        isinstance(e, ast.Call)
        and isinstance(e.func, ast.Attribute)
        and (isinstance(e.func.value, ast.Name) and e.func.value.id != "np")
    )


def _without_lines(lines: list[str], start: int, stop: int) -> list[str]:
    """The lines without some, whose note goes to the next one."""
    note = BEHIND.search(lines[start])
    remaining = [*lines[:start], *lines[stop:]]
    if note and start < len(remaining) and not BEHIND.search(remaining[start]):
        noted = remaining[start] + note[0]
        remaining[start] = noted if len(noted) <= WIDTH else remaining[start]
    return remaining
