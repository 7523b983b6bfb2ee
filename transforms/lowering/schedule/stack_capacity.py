"""Bounds the number of items of stacks, where the loops say it: they become arrays with a cursor.

for i: for j: push(saved, v)      becomes      saved[top] = v; top += 1, and saved has n * m places
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Effect,
    For,
    If,
    Let,
    Literal,
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
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.lowering.schedule.dependences import Dependences
from tapeless.transforms.ops.primitives.new_arrays import new_stack, stack_length, zero_items
from tapeless.transforms.ops.primitives.shapes import copy
from tapeless.transforms.ops.primitives.stacks import (
    CHANGING,
    add_item,
    add_segment,
    extend,
    peek,
    push,
    refill,
    refill_zeros,
    segment,
    to_array,
    unshift,
    unstack,
)

FIRST = 64  # places in the array of a stack, where nothing says how many there will be
GROWN = '''
@njit
def grown(saved):
    """The array with room for twice as many."""
    longer = np.empty(2 * saved.size, saved.dtype)
    for k in range(saved.size):  # a slice would take seconds to compile
        longer[k] = saved[k]
    return longer
'''
FILLED = '''
@njit
def filled(saved, count):
    """The first elements, as an array of their own."""
    made = np.empty(count, saved.dtype)
    for k in range(count):
        made[k] = saved[k]
    return made
'''
STARTS = frozenset(["new_stack", "zero_items", "unstack", "copy"])  # what makes a stack
STARTING = frozenset([new_stack, zero_items, unstack, copy])
READS = frozenset([peek, segment, stack_length, to_array])


def is_of_stacks(s: Statement) -> bool:
    """Whether a statement does what kernels do with stacks."""
    if not isinstance(s, Let):
        return False
    if s.op in STARTING:
        return isinstance(s.outs[0].type, StackType)
    return s.op in CHANGING or s.op in READS


def is_result(memory: Dependences, stack: Var, after: Iterable[Statement]) -> bool:
    """Whether a later statement makes an array of a stack."""
    return any(made_of(memory, s) is stack for s in after)


def made_of(memory: Dependences, s: Statement) -> Var | None:
    """The stack that a statement makes an array of."""
    if isinstance(s, Let) and s.op is to_array and isinstance(s.args[0], Var):
        return memory.cell(s.args[0])
    return None


def reads_filled(memory: Dependences, s: Statement, run: Iterable[Statement]) -> bool:
    """Whether a statement needs an array that a run makes of a stack, or its length."""
    arrays = {v for t in run if made_of(memory, t) is not None for v in outputs(t)}
    if not arrays or made_of(memory, s) is not None:
        return False
    held = [s, *(t for b in blocks(s) for t in statements(b))]
    params = [list(t.params.values()) for t in held if isinstance(t, (Let, Effect))]
    sizes = sizes_in([*params, *(v.type for t in held for v in outputs(t))])
    counted = {v for t in run for v in outputs(t)}
    sizes_of_arrays = sizes_in([v.type for v in arrays])
    new = {x for x in sizes_of_arrays if not x.given and (x.var is None or x.var in counted)}
    return bool(arrays & memory.needs(s) or new & sizes)


def stacks_in(memory: Dependences, run: Iterable[Statement]) -> set[Var]:
    """The stacks that statements have to do with, which a side of a branch may only pass on."""
    inside = [t for s in run for t in (s, *(u for b in blocks(s) for u in statements(b)))]
    held = [a for t in inside for a in (*operands(t), *outputs(t))]
    held += [a for t in inside for b in blocks(t) for a in b.results]
    return {memory.cell(a) for a in held if isinstance(a, Var) and isinstance(a.type, StackType)}


def lists_to_fill(
    memory: Dependences, run: list[Statement], behind: list[Statement]
) -> tuple[list[Statement], list[Statement]]:
    """A run without the statements that begin lists with which the rest of it has nothing to do,
    nor have those behind it; and these."""
    rest = [s for s in [*run, *behind] if not _begins_list(s)]
    filled = stacks_in(memory, rest)
    written = {cell for s in rest for cell in memory.writes(s)}
    kept = filled | {
        memory.cell(s.outs[0])
        for s in run
        if _begins_list(s) and memory.bases(s.args[1:]) & written  # type: ignore[union-attr]
    }
    late = [s for s in run if _begins_list(s) and memory.cell(s.outs[0]) not in kept]
    return [s for s in run if s not in late], late


def _begins_list(s: Statement) -> bool:
    """Whether a statement makes a list, or may be one that gives it its first items."""
    return isinstance(s, Let) and s.op in (
        *(new_stack, push, extend),
        *(zero_items, add_item, add_segment),
    )


def of_numbers(t: Any) -> bool:
    return isinstance(t, StackType) and isinstance(t.item, Type) and not t.item.shape


class Capacity:
    """How many numbers are pushed at most. `size` reads an integer, `widest` gives the largest
    value of a size for the values that loop variables take."""

    def __init__(
        self,
        memory: Dependences,
        size: Callable[[Atom], Size],
        widest: Callable[[Size], Size],
        ranges: dict[Var, tuple[Size, Size]],
    ) -> None:
        self.memory, self.size, self.widest, self.ranges = memory, size, widest, ranges

    def pushes_in(self, body: Iterable[Statement], cell: Var) -> Size | None:
        total: Size = 0
        for s in body:
            more = self.pushes_of(s, cell)
            if more is None:
                return None
            total = total + more
        return total

    def pushes_of(self, s: Statement, cell: Var) -> Size | None:
        if isinstance(s, Let):
            if s.op in (unshift, refill, refill_zeros) and self.memory.cell(s.args[0]) is cell:  # type: ignore[arg-type]
                return None
            pushes = s.op in (push, extend) and self.memory.cell(s.args[0]) is cell  # type: ignore[arg-type]
            return dims.product(s.args[1].type.shape) if pushes else 0
        if cell not in self.memory.writes(s):
            return 0
        match s:
            case For(step=Literal(value=1)):
                return self.loop(s, cell)
            case If():
                then, orelse = (self.pushes_in(b.body, cell) for b in blocks(s))
                return then if then == orelse else None  # there may be far fewer than possible
            case For() | While():
                pushes = any(self.pushes_in(b.body, cell) != 0 for b in blocks(s))
                return None if pushes else 0
        return None

    def loop(self, s: For, cell: Var) -> Size | None:
        start, stop = self.size(s.start), self.size(s.stop)
        passes = dims.maximum(self.widest(stop - start), 0)
        self.ranges[s.index] = (start, stop - 1)
        each = self.pushes_in(s.body.body, cell)
        self.ranges.pop(s.index)
        return None if each is None else passes * each
