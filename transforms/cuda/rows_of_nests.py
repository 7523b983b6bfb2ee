"""Chooses which loops of a nest are rows, and which one the threads of a team share.

for i in rows:                          for row in rows:
    for j in each(m):                       i, j = row // m, row % m
        for k in each(n):     becomes       for k in each(n):
            y[i, j, k] = x[i, j, k]             y[i, j, k] = x[i, j, k]

Neighbouring threads should touch neighbouring elements of memory: they share the loop over the
last axis of what it names, and the loops around that one are rows, too.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from tapeless.transforms.c_text.renaming import names_and_parameters

SHORT = 8  # passes along memory that a thread makes alone, within the lines that it loads


def loops_as_rows(
    rows: ast.For, is_shared: Callable[[ast.AST], bool], parameters: set[str]
) -> list[ast.For]:
    """The loops right inside of one over rows whose passes are better rows than shared: an inner
    one jumps less through memory.

    is_shared   whether threads may share the passes of a loop: these are apart, or add up
    parameters  of the kernel: they tell the launch how many rows there are
    """
    row_loops: list[ast.For] = []
    loop = rows
    while len(loop.body) == 1 and isinstance(inner := loop.body[0], ast.For):
        names = names_and_parameters(inner.iter)
        is_known = names <= parameters | {"each", "apart"}
        if not (is_known and _passes_are_apart(inner) and is_shared(inner)):
            break
        deeper = [s for s in ast.walk(inner) if s is not inner and is_shared(s)]
        if min(map(jumps, deeper), default=jumps(inner)) >= jumps(inner):
            break
        row_loops.append(inner)
        loop = inner
    return row_loops


def loops_of_a_block(s: ast.For, is_shared: Callable[[ast.AST], bool]) -> list[ast.For]:
    """The loops right inside of one that a block shares which it may share with it: it has more
    threads than most axes of small arrays are long."""
    inner_loops: list[ast.For] = []
    loop, counters = s, set[str]()
    while _passes_are_apart(loop):
        counters.add(ast.unparse(loop.target))
        match loop.body:
            case [ast.For() as inner] if _passes_are_apart(inner) and is_shared(inner):
                if counters & names_and_parameters(inner.iter):
                    break
                inner_loops.append(inner)
                loop = inner
            case _:
                break
    return inner_loops


def loops_along_memory(node: ast.FunctionDef, few: int) -> set[int]:
    """The loops of known length, by their ids, that threads had better share though they are short:
    passes touch elements that follow one another in memory, and a thread that makes them all would
    jump beside its neighbours; and the loops right around those. Kernels with small arrays of
    their own have these in registers, if a thread makes all passes.

    few  passes of a whole nest that are too few to share
    """
    if any(isinstance(n, ast.Name) and n.id == "scratch" for n in ast.walk(node)):
        return set()
    chosen = set[int]()
    for s in ast.walk(node):
        if not (isinstance(s, ast.For) and _passes_are_apart(s)):
            continue
        nest = [s]
        while (
            len(nest[-1].body) == 1
            and isinstance(inner := nest[-1].body[0], ast.For)
            and _passes_are_apart(inner)
        ):
            nest.append(inner)
        counts = [_known_count(loop) for loop in nest]
        is_long = (counts[-1] or few) > SHORT or math.prod(n or few for n in counts) > few
        moves = any(_last_is(x, ast.unparse(nest[-1].target)) for x in ast.walk(nest[-1]))
        if is_long and moves and jumps(nest[-1]) == 0:
            chosen |= set(map(id, nest))
    return chosen


def _known_count(s: ast.For) -> int | None:
    match s.iter:
        case ast.Call(args=[ast.Constant(value=int(n))]):
            return n
    return None


def _last_is(x: ast.AST, counter: str) -> bool:
    """Whether an element is at the counter along the last axis."""
    if not isinstance(x, ast.Subscript) or isinstance(x.value, ast.Attribute):
        return False
    last = x.slice.elts[-1] if isinstance(x.slice, ast.Tuple) else x.slice
    return counter in names_and_parameters(last)


def _passes_are_apart(s: ast.For) -> bool:
    match s.target, s.iter:
        case ast.Name(), ast.Call(func=ast.Name(id="each" | "apart")):
            return True
    return False


def jumps(s: ast.AST) -> int:
    """How many elements that passes of a loop name do not follow one another in memory."""
    assert isinstance(s, ast.For)
    counter, places = ast.unparse(s.target), set[str]()
    for x in ast.walk(s):
        if isinstance(x, ast.Subscript) and not isinstance(x.value, ast.Attribute):
            *first, last = x.slice.elts if isinstance(x.slice, ast.Tuple) else [x.slice]
            if any(counter in names_and_parameters(e) for e in first) or not _is_near(
                last, counter
            ):
                places.add(ast.unparse(x))
    return len(places)


def _is_near(e: ast.expr, counter: str) -> bool:
    """Whether an index is the counter, at one distance from it, or has nothing to do with it."""
    match e:
        case ast.Name():
            return True
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return _is_near(left, counter) and counter not in names_and_parameters(right)
    return counter not in names_and_parameters(e)
