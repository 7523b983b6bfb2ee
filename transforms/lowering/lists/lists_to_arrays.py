"""Makes arrays of lists that nothing changes any more, where other arrays are as long as they are:
such an array is made by NumPy between two kernels, and kernels hand arrays on, not lists.

out = []; for ...: push(out, v)             out = []; for ...: push(out, v)
n = len(out); a = zeros(n)         becomes  u = to_array(out); n = len(out); a = zeros(n)
for i: a[i] = 2 * peek(out, i)              for i: a[i] = 2 * u[i]
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tapeless.transforms.analysis.undefined_values import may_lack
from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Block,
    Let,
    Statement,
    Type,
    Var,
    all_blocks,
    operands,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.lowering.schedule.stack_capacity import of_numbers
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.index_keys import Slot
from tapeless.transforms.ops.primitives.new_arrays import stack_length
from tapeless.transforms.ops.primitives.slices_and_gathers import index
from tapeless.transforms.ops.primitives.stacks import peek, to_array


def complete_lists(block: Block) -> Block:
    """The block with arrays of the lists that are only read, if sizes are lengths of lists."""
    lets = [s for s in statements(block) if isinstance(s, Let)]
    counts = {s.outs[0]: s for s in lets if s.op is stack_length}
    named = sizes_in([list(s.params.values()) for s in lets if s.op is not to_array])
    wanted = any(x.var in counts for x in named)
    inside = set() if wanted else _made_arrays_inside(block)
    complete = {v for v in only_read(block) if of_numbers(v.type) and (wanted or v in inside)}
    complete -= may_lack(block)  # those are read under the test that sets them
    return _Reading(complete).block(block) if complete else block


def _made_arrays_inside(block: Block) -> set[Var]:
    """The lists of which arrays are made inside of other blocks than those that make the lists."""
    lists: set[Var] = set()
    for b in all_blocks(block):
        here = {v for s in b.body for v in outputs(s)}
        arrays = (s for s in b.body if isinstance(s, Let) and s.op is to_array)
        lists |= {s.args[0] for s in arrays if isinstance(s.args[0], Var)} - here
    return lists


def only_read(block: Block) -> set[Var]:
    """The lists of which items are read, and which nothing changes or hands on."""
    lets = [s for s in statements(block) if isinstance(s, Let)]
    asked = Counter(a for s in lets if s.op in (peek, stack_length, to_array) for a in s.args[:1])
    used = Counter(a for s in statements(block) for a in operands(s))
    used.update(a for b in all_blocks(block) for a in b.results)
    items = (a for s in lets if s.op in (peek, to_array) for a in s.args[:1])
    read = {a for a in items if isinstance(a, Var)}
    return {v for v in read if asked[v] == used[v]}


class _Reading:
    """`complete`: the lists that are only read."""

    def __init__(self, complete: set[Var]) -> None:
        self.complete = complete
        self.arrays: dict[Var, Var] = {}

    def block(self, block: Block) -> Block:
        body: list[Statement] = []
        here = {v for s in block.body for v in outputs(s)}
        for s in block.body:
            body.append(self.statement(s, here))
            body += [self.as_array(v, s) for v in outputs(s) if v in self.complete]
        return replace(block, body=tuple(body))

    def statement(self, s: Statement, here: set[Var]) -> Statement:
        stack = s.args[0] if isinstance(s, Let) and s.args else None
        if not isinstance(s, Let) or not isinstance(stack, Var) or stack not in self.arrays:
            return with_blocks(s, self.block)
        array = self.arrays[stack]
        if s.op is peek:
            return Let(s.outs, index, (array, s.args[1]), {"key": (Slot(0),)}, s.origin)
        if s.op is to_array:
            return Let(s.outs, identity, (array,), {}, s.origin)
        if s.op is stack_length and stack not in here:
            return Let(s.outs, size_value, (), {"size": array.type.shape[0]}, s.origin)
        return s

    def as_array(self, stack: Var, s: Statement) -> Statement:
        """The array of a list that a statement made."""
        size, item = dims.symbol("n", 0), stack.type.item
        array = self.arrays[stack] = Var(Type(item.dtype, (size,)), stack.name)
        return Let((array,), to_array, (stack,), {"size": size}, s.origin)
