"""Finds branches that go the same way in all passes of a loop: they decide how far LLVM goes.

    for j in range(n):
        if mode == 1:           fixed: LLVM should write a loop for each way
        if x[j] > 0:            not fixed

LLVM does that at its level 3. It then also writes loops around a loop that may be empty twice,
which takes as long as all else and makes nothing faster. Without fixed branches, level 2 will do.
"""

from __future__ import annotations

import ast

from tapeless.transforms.python_text.tree_walk import names_in, walk

Loop = ast.For | ast.While


def has_fixed_branches(kernel: ast.FunctionDef) -> bool:
    """Whether one is in an innermost loop; elsewhere the test takes little of the time.

    >>> text = "def f(x, m):\\n for i in range(9):\\n  if {}:\\n   x[i] += 1"
    >>> [has_fixed_branches(ast.parse(text.format(t)).body[0]) for t in ("m", "x[i]", "i < m")]
    [True, False, False]
    """
    loops = [s for s in walk(kernel) if isinstance(s, Loop)]
    return any(_is_fixed(branch, loop) for loop in loops for branch in _branches(loop))


def _branches(loop: Loop) -> list[ast.If | ast.IfExp]:
    """Those of a loop; none where it has another loop inside."""
    nodes = [node for s in loop.body for node in walk(s)]
    if any(isinstance(node, Loop) for node in nodes):
        return []
    return [node for node in nodes if isinstance(node, (ast.If, ast.IfExp))]


def _is_fixed(branch: ast.If | ast.IfExp, loop: Loop) -> bool:
    """Whether no pass of a loop changes the test of a branch."""
    return names_in(branch.test).isdisjoint(_changing(loop))


def _changing(loop: Loop) -> set[str]:
    """The variables that differ from pass to pass of a loop, and the arrays that it stores to."""
    changing: set[str] = set()
    assigned: list[tuple[str, set[str]]] = []  # variables, with what their value is computed of
    for s in walk(loop):
        match s:
            case ast.For(target=target):
                changing |= names_in(target)
            case ast.AugAssign(target=ast.Subscript(value=target) | target):
                changing |= names_in(target)
            case ast.Assign(targets=[ast.Subscript(value=target)]):
                changing |= names_in(target)
            case ast.Assign(targets=[target], value=value):
                assigned += [(name, names_in(value)) for name in names_in(target)]
    while more := {name for name, read in assigned if read & (changing | {name})} - changing:
        changing |= more
    return changing
