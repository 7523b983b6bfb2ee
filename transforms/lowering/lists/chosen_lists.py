"""Chooses the lists of arrays that may be lists of numbers, end to end.

push(s, v); u = peek(s, k); n = len(s)      where nothing else reads s, and all arrays are as long
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    StackType,
    Statement,
    Type,
    Var,
    While,
    blocks,
    operands,
    outputs,
    statements,
)
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.lists.items_of_numbers import ITEM_OPERATIONS, ORIGINS
from tapeless.transforms.lowering.schedule.dependences import Dependences
from tapeless.transforms.ops.primitives.new_arrays import new_stack
from tapeless.transforms.ops.primitives.shapes import copy
from tapeless.transforms.ops.primitives.stacks import POPS, push

LARGE = 1 << 14  # elements


@dataclass(frozen=True)
class ChosenLists:
    """Lists of arrays, by their first values.

    lists  those that may be lists of numbers
    alike  those whose arrays have one shape, which arguments tell: they need no list of lengths
    """

    lists: set[Var]
    alike: set[Var]


def chosen_lists(
    memory: Dependences, block: Block, hints: Mapping[dims.Symbol, int]
) -> ChosenLists:
    """The lists of a program that may be lists of numbers; not those of arrays that are known to be
    large for the sizes of this call."""
    lets = (s for s in statements(block) if isinstance(s, Let))
    lists = {s.outs[0] for s in lets if s.op in ORIGINS and _holds_arrays(s.outs[0], hints)}
    if not lists:
        return ChosenLists(set(), set())
    alike = _of_one_shape(memory, block)
    return ChosenLists(lists - _unsuitable_lists(memory, block, alike), alike)


def _holds_arrays(v: Any, hints: Mapping[dims.Symbol, int]) -> bool:
    """Whether a value is a list of arrays of numbers, not known to be large."""
    item = v.type.item if isinstance(v.type, StackType) else None
    if not isinstance(item, Type) or not item.shape or item.dtype.kind not in "biufc":
        return False
    count = dims.evaluate(dims.product(item.shape), hints)
    return count is None or count <= LARGE


def _of_one_shape(memory: Dependences, block: Block) -> set[Var]:
    """The lists whose arrays have one shape, which arguments tell, by their first values."""
    inner = [p for s in statements(block) for b in blocks(s) for p in b.params]
    held = [a for s in statements(block) for a in (*operands(s), *outputs(s))]
    shapes: dict[Var, set[Any]] = {}
    for v in (*inner, *held):
        if isinstance(v, Var) and isinstance(v.type, StackType) and isinstance(v.type.item, Type):
            shapes.setdefault(memory.cell(v), set()).add(v.type.item.shape)
    return {
        v
        for v, each in shapes.items()
        if len(each) == 1 and all(dims.is_given(n) for shape in each for n in shape)
    }


def _unsuitable_lists(memory: Dependences, block: Block, alike: set[Var]) -> set[Var]:
    """The lists with which something else is done, or what needs arrays of one shape that are not
    empty: how many there are is not known of others."""
    spoilt: list[Any] = [*block.params, *block.results]
    copies: list[set[Var]] = []
    for s in statements(block):
        if isinstance(s, Let) and s.op in (new_stack, push, *POPS):
            spoilt += s.args[1:]
        elif isinstance(s, Let) and s.op in ITEM_OPERATIONS:
            lists = _cells(memory, (*s.args, *s.outs))
            spoilt += [v for v in lists if v not in alike or not _has_numbers(v)]
            copies += [lists] if s.op is copy else []
        elif isinstance(s, (Let, Effect)):
            spoilt += s.args
        else:
            spoilt += [
                a for same in equated_values(s) for a in same if len(_cells(memory, same)) > 1
            ]
    unsuitable = _cells(memory, spoilt)
    while more := set().union(*(p for p in copies if p & unsuitable)) - unsuitable:
        unsuitable |= more
    return unsuitable


def _cells(memory: Dependences, atoms: Iterable[Any]) -> set[Var]:
    """The lists among values, by their first values."""
    return {memory.cell(a) for a in atoms if is_list(a)}


def is_list(a: Any) -> bool:
    """Whether a value is a list."""
    return isinstance(a, Var) and isinstance(a.type, StackType)


def _has_numbers(v: Var) -> bool:
    """Whether the arrays of a list are never empty."""
    item = v.type.item
    return isinstance(item, Type) and dims.at_least(dims.product(item.shape), 1)


def equated_values(s: Statement) -> Iterable[tuple[Atom, ...]]:
    """The values that stand for one another before, in and after a loop or a branch."""
    match s:
        case If():
            return zip(s.outs, s.then.results, s.orelse.results, strict=True)
        case For():
            return zip(s.outs, s.inits, s.carries, s.yields, strict=True)
        case While():
            tested, carried = s.test.params, s.body.params
            return zip(s.outs, s.inits, tested, carried, s.body.results, strict=True)
    return ()
