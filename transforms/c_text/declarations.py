"""Finds where the variables of a kernel are declared: where they are first set, if that is around
all uses, else at the top of the innermost block that is.

if a: x = 1                                 i64 x;
else: x = 2              becomes            if (a) x = 1; else x = 2;
y = x                                       i64 y = x;
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.python_text.tree_walk import names_in

Block = tuple[int, str]  # the statement that has it, and the name of the suite


@dataclass
class Homes:
    """`block` is the innermost one around all that names a variable; `first` the assignment in it
    that comes before all that. `loose` are targets of loops that are used elsewhere, too."""

    block: dict[str, Block] = field(default_factory=dict)
    first: dict[str, ast.stmt] = field(default_factory=dict)
    loose: set[str] = field(default_factory=set)


def homes(node: ast.FunctionDef) -> Homes:
    paths: dict[str, tuple[Block, ...]] = {}
    firsts: dict[str, tuple[ast.stmt | None, Block]] = {}
    declared = Homes()
    for name, path, s, loops in _mentions(node.body, ((id(node), "body"),), frozenset()):
        shared = zip(paths.get(name, path), path, strict=False)
        paths[name] = tuple(a for a, b in shared if a == b)
        firsts.setdefault(name, (s if _sets(s, name) else None, path[-1]))
        if name not in loops:
            declared.loose.add(name)
    for name, path in paths.items():
        declared.block[name] = path[-1]
        first, block = firsts[name]
        if first is not None and block == path[-1]:
            declared.first[name] = first
    return declared


Mention = tuple[str, tuple[Block, ...], ast.stmt, frozenset[str]]


def _mentions(
    body: list[ast.stmt], path: tuple[Block, ...], loops: frozenset[str]
) -> Iterator[Mention]:
    """All names, each with the blocks and the targets of the loops around it."""
    for s in body:
        inner = loops | {s.target.id} if _is_loop(s) else loops  # type: ignore[attr-defined]
        heads = [x for k, x in ast.iter_fields(s) if k not in ("body", "orelse", "target")]
        if not isinstance(s, ast.For):
            heads.append(getattr(s, "target", None))
        for e in _nodes(heads):
            for n in ast.walk(e):
                if isinstance(n, ast.Name):
                    yield n.id, path, s, loops
        for suite in ("body", "orelse"):
            statements = getattr(s, suite, None)
            if isinstance(statements, list):
                yield from _mentions(statements, (*path, (id(s), suite)), inner)


def _is_loop(s: ast.stmt) -> bool:
    return isinstance(s, ast.For) and isinstance(s.target, ast.Name)


def _nodes(fields: list[object]) -> Iterator[ast.AST]:
    for x in fields:
        yield from (e for e in (x if isinstance(x, list) else [x]) if isinstance(e, ast.AST))


def _sets(s: ast.stmt, name: str) -> bool:
    """Whether a statement sets a variable, and does not read it."""
    match s:
        case ast.Assign(targets=[target], value=e):
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            names = {t.id for t in targets if isinstance(t, ast.Name)}
            reads = names_in(e)
            return name in names and len(names) == len(targets) and not names & reads
    return False
