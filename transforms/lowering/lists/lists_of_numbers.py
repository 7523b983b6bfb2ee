"""Turns lists of arrays, of which nothing says how many there will be, or how long, into lists of
numbers.

for i in range(n): push(s, v) ... for i, reversed: v = pop(s)
    becomes      for i in range(n):
                     extend(s, v); push(lengths, len(v))
                 ...
                 for i, reversed:
                     length = pop(lengths)
                     v = segment(s, -1), of this length; truncate(s, length)

There is no list of lengths where all arrays have one shape, which arguments tell: then items are
read and stored anywhere in the list, too (`items_of_numbers.py`). Kernels have memory for numbers
that are put on a stack, however many there are, and none for lists of arrays, which only Python
keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, var_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Block,
    Let,
    StackType,
    Statement,
    Type,
    Var,
    blocks,
    outputs,
    statements,
)
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.core.value_replacement import ValueReplacer
from tapeless.transforms.lowering.lists.chosen_lists import ChosenLists, chosen_lists, is_list
from tapeless.transforms.lowering.lists.growing_rows import integer
from tapeless.transforms.lowering.lists.items_of_numbers import ItemStatements, equal_lengths
from tapeless.transforms.lowering.lists.list_lengths import in_new_variables, with_sizes
from tapeless.transforms.lowering.lists.lists_to_arrays import only_read
from tapeless.transforms.lowering.schedule.dependences import Dependences
from tapeless.transforms.lowering.schedule.library_products import is_apart
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.new_arrays import new_stack
from tapeless.transforms.ops.primitives.stacks import (
    CHANGING,
    POPS,
    extend,
    peek,
    pop_of_list,
    push,
    segment,
    to_array,
    truncate,
)

Vars = tuple[Var, ...]
Pair = tuple[Var, ...]  # a list of numbers, and the one of lengths where these differ

COUNTS = StackType(INT)
LAST = atom(-1)


def lists_of_numbers(block: Block, hints: Mapping[dims.Symbol, int]) -> Block:
    """The block with numbers in the place of arrays in lists that are only pushed to and popped.

    hints  the sizes of this call: arrays that are known to be large stay whole, as passes take long
           then, however they are made, and memory that doubles would be much
    """
    memory = Dependences()
    memory.learn(block)
    chosen = chosen_lists(memory, block, hints)
    if not chosen.lists:
        return block
    numbers = _Numbers(memory, chosen, block)
    return with_sizes(in_new_variables(numbers.block(block)), numbers.items.measured)


def has_lists(driver: Block) -> bool:
    """Whether a driver has lists of numbers itself: then it is better to keep arrays in them."""
    changing = CHANGING | {peek, segment}
    return any(isinstance(s, Let) and s.op in changing for s in statements(driver))


class _Numbers(ValueReplacer):
    """Writes the program again.

    chosen   the lists of arrays
    complete lists that are only read, behind a call of a library or where lists are read as a
             whole, which ends a kernel: kernels hand on arrays, no lists
    numbers  the lists of numbers, and those of lengths, in the place of a value of a list
    """

    def __init__(self, memory: Dependences, chosen: ChosenLists, block: Block) -> None:
        self.memory, self.chosen = memory, chosen
        lets = (s for s in statements(block) if isinstance(s, Let))
        self.ends_kernels = any(s.op is to_array for s in lets)
        self.complete = only_read(block)
        self.items = ItemStatements()
        self.numbers: dict[Var, Pair] = {}

    def lists_for(self, a: Any) -> Pair | None:
        """The lists that stand for a value, if it is one of these."""
        if not is_list(a) or self.memory.cell(a) not in self.chosen.lists:
            return None
        if a not in self.numbers:
            item = a.type.item
            self.numbers[a] = (Var(StackType(Type(item.dtype)), a.name),)
            if self.memory.cell(a) not in self.chosen.alike:
                counts = Var(COUNTS, f"{a.name}_lengths" if a.name else "lengths")
                self.numbers[a] += (counts,)
        return self.numbers[a]

    def values_for(self, a: Var) -> tuple[Any, ...]:
        return self.lists_for(a) or (a,)

    def block(self, block: Block) -> Block:
        params = self.all(block.params)
        body: list[Statement] = []
        hands_on = self.ends_kernels or any(isinstance(s, Let) and is_apart(s) for s in block.body)
        for s in block.body:
            body += self.statement(s)
            if hands_on and blocks(s):
                body += self.arrays_of(s)
        return Block(params, tuple(body), self.all(block.results))

    def arrays_of(self, s: Statement) -> list[Statement]:
        """The arrays of the lists that a statement makes and nothing changes: first their numbers,
        which the kernel gives that has the lists, then their shapes."""
        complete = [v for v in outputs(s) if v in self.complete]
        pairs = [(v, lists) for v in complete if (lists := self.lists_for(v)) is not None]
        arrays = [[*self.items.array(v, lists[0], s.origin)] for v, lists in pairs]
        return [t for each in arrays for t in each[:-1]] + [each[-1] for each in arrays]

    def let(self, s: Let) -> Iterator[Statement]:
        after = self.lists_for(s.outs[0]) or ()
        before = (self.lists_for(s.args[0]) if s.args else None) or ()
        if not (before or after):
            yield s
        elif s.args and s.args[0] in self.items.arrays:
            yield from self.items.read(s, self.items.arrays[s.args[0]])
        elif s.op is new_stack:
            for v in after:
                yield replace(s, outs=(v,), params={"item": v.type.item})
        elif s.op is push:
            yield from self.push_array(s, before, after)
        elif s.op in POPS:
            yield from self.pop_array(s, before, after)
        else:
            yield from self.items.statements(s, *before[:1], *after[:1])

    def push_array(self, s: Let, before: Pair, after: Pair) -> Iterator[Statement]:
        """The numbers of an array in their order, then its lengths."""
        numbers, *more = before
        value = s.args[1]
        if not more:
            yield from equal_lengths(value, s.args[0].type.item.shape, s)
        yield Let(after[:1], extend, (numbers, value), {}, s.origin)
        for counts in more:
            for k, n in enumerate(value.type.shape):
                length, statements = integer(n)
                yield from statements
                longer = after[1] if k == value.type.ndim - 1 else Var(COUNTS)
                yield Let((longer,), push, (counts, length), {}, s.origin)
                counts = longer

    def pop_array(self, s: Let, before: Pair, after: Pair) -> Iterator[Statement]:
        """The lengths of the array that was pushed last, and its numbers."""
        numbers, *more = before
        array = s.outs[1]
        shape: tuple[Size, ...] = s.args[0].type.item.shape
        for counts in more:
            lengths: list[Var] = []
            for k in range(array.type.ndim):
                shorter = after[1] if k == array.type.ndim - 1 else Var(COUNTS)
                lengths.insert(0, Var(INT, "length"))
                yield Let((shorter, lengths[0]), s.op, (counts,), {}, s.origin)
                counts = shorter
            shape = tuple(var_size(n, 0) for n in lengths)
        held = Var(Type(array.type.dtype, shape), array.name)
        error = "pop from empty list" if s.op is pop_of_list and not more else None
        params = {"shape": shape, "error": error}
        yield Let((held,), segment, (numbers, LAST), params, s.origin)
        yield Let((array,), identity, (held,), {}, s.origin)
        count = {"count": dims.product(shape)}
        yield Let(after[:1], truncate, (numbers,), count, s.origin)
