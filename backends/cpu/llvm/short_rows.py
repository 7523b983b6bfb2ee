"""Finds loops along short rows, of which vectors may leave lanes out.

for t in range(n): for i in range(m): for k in range(25): b[i, k] = a[i, k] + ... + a[i, k + 2]

LLVM makes the passes that do not fill a vector one by one. Along the rows of a grid of 25 x 25
points, these are half of the time; a vector with a mask makes them at once. It does so for loops in
two others at least, whose passes compute much of neighbours in memory and carry nothing over: sums
and steps take longer with masks, and so do plain copies, of which LLVM takes several vectors at a
time. Processors before AVX-512 store slowly through masks.
"""

from __future__ import annotations

import ast

MASKS = "+avx512f"  # the feature of processors whose masked loads and stores take no longer
AROUND = 2  # loops
MUCH = 6  # operations


def is_along_short_rows(s: ast.stmt) -> bool:
    """Whether a loop computes much for each element, of neighbours, and carries nothing over.

    >>> loop = ast.parse("for k in range(n): y[k] = x[k] * (a + b) + x[k + 1] * (c - d) / 2").body
    >>> total = ast.parse("for k in range(n): t = t + x[k] * (a + b) * (c - d) / 2 + e").body
    >>> is_along_short_rows(loop[0]), is_along_short_rows(total[0])
    (True, False)
    """
    if not isinstance(s, ast.For) or not isinstance(s.target, ast.Name):
        return False
    nodes = [n for t in s.body for n in ast.walk(t)]
    return (
        all(isinstance(t, ast.Assign) for t in s.body)
        and sum(isinstance(n, ast.BinOp) for n in nodes) >= MUCH
        and not any(isinstance(n, (ast.Call, ast.IfExp)) for n in nodes)
        and all(_is_in_order(n, s.target.id) for n in nodes if isinstance(n, ast.Subscript))
        and not _carries(s.body)
    )


def _is_in_order(e: ast.Subscript, index: str) -> bool:
    """Whether passes touch neighbours: `index`, or a sum with it, is the last place alone."""
    *others, last = e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]
    if any(index in _names(place) for place in others):
        return False
    match last:
        case ast.BinOp(left=ast.Name(id=name), op=ast.Add() | ast.Sub(), right=right):
            return name != index or index not in _names(right)
        case ast.Name():
            return True
    return index not in _names(last)


def _carries(body: list[ast.stmt]) -> bool:
    """Whether a pass reads a variable that the one before has set."""
    assigned = {name for t in body for name in _assigned_names(t)}
    before: set[str] = set()
    for t in body:
        if _names(t) & (assigned - before):
            return True
        before |= _assigned_names(t)
    return False


def _assigned_names(t: ast.stmt) -> set[str]:
    """The variables that a statement gives a number to."""
    targets = t.targets if isinstance(t, ast.Assign) else []
    return {e.id for e in targets if isinstance(e, ast.Name)}


def _names(node: ast.AST) -> set[str]:
    """The variables that are read."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
