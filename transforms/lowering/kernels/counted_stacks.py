"""Counts stacks of unknown length first, for threads that cannot allocate memory.

for i in rows: ... saved[top] = v; top += 1
    becomes      a kernel that only counts, memory for all stacks, and the kernel, with
                 saved[place + 32 * top] = v

The stacks of 32 rows lie side by side, item by item, so neighbouring threads touch neighbouring
memory.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from tapeless.transforms.dataclass import dataclass

SIDE_BY_SIDE = 32  # rows: the threads of a warp


@dataclass
class CountedStacks:
    """A kernel whose stacks lie in memory that the driver makes.

    stacks   the names of the stacks
    counting what the rows do until their stacks are filled: counts go to `counts[i]`
    using    the kernel, which gets memory and the place of each row in it for each stack
    """

    stacks: list[str]
    counting: ast.FunctionDef
    using: ast.FunctionDef


def counts_name(stack: str) -> str:
    """The parameter that holds how many items each row has."""
    return f"{stack}_count"


def places_name(stack: str) -> str:
    """The parameter that holds where the items of each row begin."""
    return f"{stack}_place"


def counted_stacks(node: ast.FunctionDef, last: int) -> CountedStacks | None:
    """The two kernels, whose new parameters come before so many last ones; None if what stacks hold
    decides how much they hold, or rows have effects that may not happen twice."""
    grown = _growing_stacks(node)
    rows = next((s for s in node.body if isinstance(s, ast.For)), None)
    if not grown or rows is None or sum(isinstance(s, ast.For) for s in node.body) > 1:
        return None
    cursors = {_cursor(node, stack) for stack in grown}
    if None in cursors or not isinstance(rows.target, ast.Name):
        return None
    end = max(k for k, s in enumerate(rows.body) if _pushes(s, cursors)) + 1
    filling = rows.body[:end]
    if any(_reads(s, grown) for s in filling) or not _may_happen_twice(filling, grown):
        return None
    return CountedStacks(
        grown,
        _counting(node, rows, filling, {stack: _cursor(node, stack) for stack in grown}, last),
        _using(node, rows, grown, last),
    )


def scratch_dtypes(node: ast.FunctionDef) -> dict[str, str]:
    """The names of the dtypes of what a kernel makes for itself."""
    dtypes = {}
    for s in node.body:
        match s:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name(id="scratch"), args=[_, ast.Attribute(attr=dtype)]),
            ):
                dtypes[name] = dtype.rstrip("_")
    return dtypes


def _growing_stacks(node: ast.FunctionDef) -> list[str]:
    """The stacks that get longer memory."""
    stacks = []
    for s in ast.walk(node):
        match s:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="grown"))):
                stacks.append(name)
    return list(dict.fromkeys(stacks))


def insert_before_last(items: list[Any], new: list[Any], last: int) -> list[Any]:
    """The items with new ones before so many last ones."""
    k = len(items) - last
    return [*items[:k], *new, *items[k:]]


def _cursor(node: ast.FunctionDef, stack: str) -> str | None:
    """The variable that counts the items of a stack: if top == stack.size: stack = grown(stack)."""
    for s in ast.walk(node):
        match s:
            case ast.If(
                test=ast.Compare(
                    left=ast.Name(id=top), comparators=[ast.Attribute(value=ast.Name(id=name))]
                ),
                body=[ast.Assign(targets=[ast.Name(id=other)])],
            ) if name == other == stack:
                return top
    return None


def _pushes(s: ast.stmt, cursors: Iterable[str | None]) -> bool:
    return any(
        isinstance(t, ast.AugAssign)
        and isinstance(t.op, ast.Add)
        and isinstance(t.target, ast.Name)
        and t.target.id in cursors
        for t in ast.walk(s)
    )


def _reads(s: ast.stmt, stacks: list[str]) -> bool:
    """Whether a statement reads an item of a stack, or takes one away."""
    for t in ast.walk(s):
        match t:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Load()) if name in stacks:
                return True
    return False


def _may_happen_twice(body: list[ast.stmt], stacks: list[str]) -> bool:
    """Whether statements leave the same behind if they run twice: stores to elements that they
    read, and additions, do not."""
    nodes = [t for s in body for t in ast.walk(s)]
    stored = {t.value.id for t in nodes if _is_element(t, ast.Store)} - set(stacks)  # type: ignore[attr-defined]
    read = {t.value.id for t in nodes if _is_element(t, ast.Load)}  # type: ignore[attr-defined]
    adds = any(isinstance(t, ast.Expr) and isinstance(t.value, ast.Call) for t in nodes)
    sums = any(isinstance(t, ast.AugAssign) and isinstance(t.target, ast.Subscript) for t in nodes)
    return not (stored & read or adds or sums)


def _is_element(t: ast.AST, context: type[ast.expr_context]) -> bool:
    return (
        isinstance(t, ast.Subscript)
        and isinstance(t.value, ast.Name)
        and isinstance(t.ctx, context)
    )


def _counting(
    node: ast.FunctionDef,
    rows: ast.For,
    filling: list[ast.stmt],
    cursors: dict[str, str | None],
    last: int,
) -> ast.FunctionDef:
    """The kernel that counts."""
    without = _WithoutItems(list(cursors))
    body = [s for t in filling for s in without.statements_of(copy.deepcopy(t))]
    for stack, top in cursors.items():
        body += ast.parse(f"{counts_name(stack)}[{rows.target.id}] = {top}").body  # type: ignore[attr-defined]
    counting = copy.deepcopy(node)
    loop = ast.For(rows.target, rows.iter, body, [])
    before = node.body[: node.body.index(rows)]
    counting.name = f"{node.name}_count"
    counting.body = [*without.all_of(copy.deepcopy(before)), loop]
    _UnreadCounters(counting).visit(counting)
    counting.args.args = insert_before_last(
        counting.args.args, [ast.arg(counts_name(stack)) for stack in cursors], last
    )
    return ast.fix_missing_locations(counting)


def _using(node: ast.FunctionDef, rows: ast.For, stacks: list[str], last: int) -> ast.FunctionDef:
    """The kernel with its stacks in memory that it is given."""
    using = copy.deepcopy(node)
    loop = using.body[node.body.index(rows)]
    assert isinstance(loop, ast.For)
    index = rows.target.id  # type: ignore[attr-defined]
    places = _Placed(stacks, index)
    before = _WithoutGrowth(stacks)
    using.body = [s for t in using.body for s in before.statements_of(places.visit(t))]
    names = [name for stack in stacks for name in (stack, places_name(stack))]
    using.args.args = insert_before_last(using.args.args, [ast.arg(name) for name in names], last)
    return ast.fix_missing_locations(using)


class _UnreadCounters(ast.NodeTransformer):
    """Leaves out variables that nothing but their own steps reads: n = 0; n = n + 1. A variable
    that gets elements, or results of calls, keeps all its steps."""

    def __init__(self, node: ast.FunctionDef) -> None:
        self.reads = Counter(_loads(node))
        self.kept: set[str] = set()
        for s in ast.walk(node):
            match s:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.reads[name] -= _loads(value).count(name)
                    self.kept |= set() if _is_plain(value) else {name}
                case ast.AugAssign(target=ast.Name(id=name), value=value):
                    self.kept |= set() if _is_plain(value) else {name}

    def visit_Assign(self, s: ast.Assign) -> ast.Assign | None:
        return None if self.is_unread(s.targets[0]) else s

    def visit_AugAssign(self, s: ast.AugAssign) -> ast.AugAssign | None:
        return None if self.is_unread(s.target) else s

    def is_unread(self, target: ast.expr) -> bool:
        if not isinstance(target, ast.Name) or target.id in self.kept:
            return False
        return self.reads[target.id] == 0


def _loads(node: ast.AST) -> list[str]:
    """The variables that a part of a text reads."""
    names = (n for n in ast.walk(node) if isinstance(n, ast.Name))
    return [n.id for n in names if isinstance(n.ctx, ast.Load)]


def _is_plain(e: ast.expr) -> bool:
    """Whether an expression calls nothing and reads no element."""
    return not any(isinstance(n, ast.Call | ast.Subscript) for n in ast.walk(e))


class _WithoutGrowth:
    """Leaves out memory for stacks, and where it gets longer."""

    def __init__(self, stacks: list[str]) -> None:
        self.stacks = stacks

    def statements_of(self, s: ast.stmt) -> Iterator[ast.stmt]:
        if self.left_out(s):
            return
        for name in ("body", "orelse"):
            if isinstance(getattr(s, name, None), list):
                setattr(s, name, self.all_of(getattr(s, name)))
        yield s

    def all_of(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [t for s in body for t in self.statements_of(s)]

    def left_out(self, s: ast.stmt) -> bool:
        match s:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="scratch"))
            ):
                return name in self.stacks
            case ast.If(
                body=[
                    ast.Assign(
                        targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="grown"))
                    )
                ]
            ):
                return name in self.stacks
        return False


class _WithoutItems(_WithoutGrowth):
    """Leaves out the items, too."""

    def left_out(self, s: ast.stmt) -> bool:
        match s:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]):
                return name in self.stacks
        return super().left_out(s)


class _Placed(ast.NodeTransformer):
    """saved[top] becomes saved[saved_place[i] + 32 * top]."""

    def __init__(self, stacks: list[str], index: str) -> None:
        self.stacks, self.index = stacks, index

    def visit_Subscript(self, e: ast.Subscript) -> ast.expr:
        self.generic_visit(e)
        if isinstance(e.value, ast.Name) and e.value.id in self.stacks:
            text = f"{places_name(e.value.id)}[{self.index}] + {SIDE_BY_SIDE} * (0)"
            place = ast.parse(text, mode="eval").body
            place.right.right = e.slice  # type: ignore[attr-defined]
            return ast.Subscript(e.value, place, e.ctx)
        return e
