"""Moves lists of numbers to stacks where the two sides of a branch leave others in one variable.

if x > path[-1]: path = path + [x]      becomes      path's stack = push(stack, x) or stack
"""

from __future__ import annotations

from dataclasses import replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Statement
from tapeless.transforms.frontend.arrays.symbols import Symbol, wrap
from tapeless.transforms.frontend.control_flow.branch_side import appending_to
from tapeless.transforms.frontend.heap.list_columns import Columns, ElementDtypes, same_structure
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.join import convert, join_types
from tapeless.transforms.frontend.values.structure import (
    StacksOf,
    Structure,
    is_in_stacks,
    is_of_numbers,
    stack_leaves,
)
from tapeless.transforms.frontend.values.uneven_contents import contents_of
from tapeless.transforms.ops.primitives import stacks

Sides = tuple[list[Statement], list[Statement]]  # the statements of both, which are added to


def align_lists(
    x: Structure, y: Structure, sides: Sides, moves: bool
) -> tuple[Structure, Structure]:
    """What two sides leave, with lists in stacks on both where they are so on one; `moves`: or
    where one is longer than the other."""
    if _is_list(x) and _is_list(y):
        uneven = moves and len(x.children) != len(y.children)
        if x.value is not y.value and (uneven or is_in_stacks(x) or is_in_stacks(y)):
            return _both_in_stacks(x, y, sides)
        return x, y
    if is_in_stacks(x) or is_in_stacks(y):
        return tuple(map(_as_array, (x, y), sides))  # type: ignore[return-value]
    if not x.children or x.kind is not y.kind or x.keys != y.keys:
        return x, y
    pairs = [align_lists(p, q, sides, moves) for p, q in zip(x.children, y.children, strict=True)]
    first, second = zip(*pairs, strict=True)
    return _with_children(x, first), _with_children(y, second)


def _with_children(spec: Structure, children: tuple[Structure, ...]) -> Structure:
    same = all(a is b for a, b in zip(spec.children, children, strict=True))
    return spec if same else replace(spec, children=children)


def _is_list(spec: Structure) -> bool:
    """Whether it is a list in stacks, or one of known items."""
    value = spec.value
    if type(value) is not StagedList or contents_of(value) is not None:
        return False
    return is_in_stacks(spec) or spec.keys == tuple(range(len(spec.children)))


def _both_in_stacks(x: Structure, y: Structure, sides: Sides) -> tuple[Structure, Structure]:
    """Two lists in stacks; as they are if their elements are not numbers of one structure."""
    columns = next((s.keys[0].tail for s in (x, y) if is_in_stacks(s)), None)
    items = [c for s in (x, y) if not is_in_stacks(s) for c in s.children]
    element = columns.spec if columns is not None else items[0]
    if not all(is_of_numbers(c) and same_structure(c, element) for c in (*items, element)):
        return x, y
    if any(a.type.shape for c in items for a in c.leaves()):
        return x, y
    if columns is None:
        trace().decisions.moved_lists = True
        columns = _columns_for(items, getattr(x.value, "name", "") or getattr(y.value, "name", ""))
    for item in items:
        columns.fit([a.type for a in item.leaves()])
    return tuple(  # type: ignore[return-value]
        s if is_in_stacks(s) else _in_stacks(s, columns, side)
        for s, side in zip((x, y), sides, strict=True)
    )


def _columns_for(items: list[Structure], name: str) -> Columns:
    """Empty columns for such items, of numbers of a type that all have."""
    types = [a.type for a in items[0].leaves()]
    for item in items[1:]:
        types = [join_types(t, a.type) for t, a in zip(types, item.leaves(), strict=True)]
    key = trace().next_list(name)
    types = trace().decisions.widen_types(key, types)
    columns = Columns(items[0], [Symbol(stacks.new_stack(item=t)) for t in types], key)
    columns.numbers = ElementDtypes(types)
    return columns


def _in_stacks(spec: Structure, like: Columns, side: list[Statement]) -> Structure:
    """A list of known items, in stacks."""
    with appending_to(side):
        values = [stacks.new_stack(item=item) for item in like.items]
        for child in spec.children:
            pairs = zip(values, child.leaves(), like.items, strict=True)
            values = [stacks.push(v, convert(a, item)) for v, a, item in pairs]
        columns = like.with_stacks([Symbol(v) for v in values])
        leaves = stack_leaves(columns)
    columns.numbers = ElementDtypes(like.items)
    for child in spec.children:
        columns.numbers.add([a.type for a in child.leaves()])
    return replace(spec, keys=(StacksOf(columns),), children=leaves)


def stays_in_stacks(before: Structure) -> bool:
    """Whether a list takes the place of a list, and not of what may be none."""
    return isinstance(before.value, StagedList)


def _as_array(spec: Structure, side: list[Statement]) -> Structure:
    """What a side leaves, with an array for a list of numbers in a stack."""
    with appending_to(side):
        return as_array(spec)


def as_array(spec: Structure) -> Structure:
    """A list of numbers in a stack as the array that stands for it, read in the open block; what
    else it is as it is."""
    if not is_in_stacks(spec) or len(spec.children) != 1 or spec.keys[0].tail.spec.kind != "leaf":
        return spec
    atom = stacks.to_array(spec.children[0].atom, size=dims.symbol("n", 0))
    symbol = wrap(atom)
    symbol.listing = spec.keys[0].tail
    return Structure("leaf", symbol, atom=atom)
