"""Makes arrays of lists that are kept in lists, and adds the items of lists one by one.

push(saved, items) ... items = pop(saved)
    becomes      push(saved, to_array(items)) ... x = pop(saved); items = unstack(x)

total = add_stacks(p, q)
    becomes      for k in range(len(q)): p = add_item(p, k, q[k])
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import (
    Atom,
    Block,
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
    operands,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.size_value import INT, size_value
from tapeless.transforms.core.uses import reads_of
from tapeless.transforms.lowering.lists.chosen_lists import equated_values
from tapeless.transforms.ops.primitives.new_arrays import has_zeros, new_stack, stack_length
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index
from tapeless.transforms.ops.primitives.stacks import (
    POPS,
    add_item,
    add_stacks,
    peek,
    push,
    to_array,
    unstack,
)


def lists_in_lists(block: Block) -> Block:
    """The block with lists of arrays in the place of such lists, which are only pushed to and
    popped."""
    if not any(_holds_lists(v) for s in statements(block) for v in outputs(s)):
        return block
    others: list[Any] = [*block.params, *block.results]
    for s in statements(block):
        match s:
            case Let(op=op) if op is new_stack or op is push or op in POPS:
                others += s.args[1:]
            case Let() | Effect():
                others += (*operands(s), *outputs(s))
            case _:  # a list that is not there on one side of a branch, or before a loop
                others += [
                    v for v, *held in equated_values(s) if any(isinstance(a, Literal) for a in held)
                ]
    return block if any(map(_holds_lists, others)) else _Arrays().block(block)


def _holds_lists(a: Any) -> bool:
    """Whether a value is a list of lists of numbers, or of arrays of one shape."""
    item: Any = a.type.item if isinstance(a, Var) and isinstance(a.type, StackType) else None
    return isinstance(item, StackType) and bool(has_zeros(item.item))


class _Arrays:
    """Writes the program again; `lists` are those of arrays."""

    def __init__(self) -> None:
        self.lists: dict[Var, Var] = {}

    def atom(self, a: Any) -> Any:
        if not _holds_lists(a):
            return a
        if a not in self.lists:
            row = a.type.item.item
            array = Type(row.dtype, (dims.symbol("n", 0), *row.shape))
            self.lists[a] = Var(StackType(array), a.name)
        return self.lists[a]

    def atoms(self, atoms: Any) -> tuple[Any, ...]:
        return tuple(map(self.atom, atoms))

    def block(self, block: Block) -> Block:
        body = tuple(t for s in block.body for t in self.statement(s))
        return Block(self.atoms(block.params), body, self.atoms(block.results))

    def statement(self, s: Statement) -> Iterator[Statement]:
        if isinstance(s, Let):
            yield from self.let(s)
        elif isinstance(s, If):
            then, orelse = self.block(s.then), self.block(s.orelse)
            yield replace(s, then=then, orelse=orelse, outs=self.atoms(s.outs))
        elif isinstance(s, (For, While)):
            lists = replace(s, inits=self.atoms(s.inits), outs=self.atoms(s.outs))
            yield with_blocks(lists, self.block)
        else:
            yield s

    def let(self, s: Let) -> Iterator[Statement]:
        if not s.outs or not _holds_lists(s.outs[0]):
            yield s
            return
        new = self.atom(s.outs[0])
        if s.op is new_stack:
            yield replace(s, outs=(new,), params={"item": new.type.item})
            return
        before = self.atom(s.args[0])
        array = Var(Type(new.type.item.dtype, dims.of_its_own(new.type.item.shape)))
        if s.op is push:
            size = {"size": array.type.shape[0]}
            yield Let((array,), to_array, s.args[1:], size, s.origin)
            yield Let((new,), push, (before, array), {}, s.origin)
        else:
            yield Let((new, array), s.op, (before,), {}, s.origin)
            weak = s.outs[1].type.item.weak
            yield Let(s.outs[1:], unstack, (array,), {"weak": weak}, s.origin)


def sums_of_lists(block: Block) -> Block:
    """The block in which a list that nothing else needs gets the items of another one added."""
    uses: Mapping[Any, int] = reads_of(block)
    lets = [s for s in statements(block) if isinstance(s, Let)]
    sums = (s for s in lets if s.op is add_stacks and has_zeros(s.args[0].type.item))
    fitting = {s for s in sums if uses[s.args[0]] == 1}
    arrays: dict[Atom, Atom] = {s.outs[0]: s.args[0] for s in lets if s.op is unstack}

    def in_block(block: Block) -> Block:
        body = tuple(t for s in block.body for t in in_statement(s))
        return replace(block, body=body)

    def in_statement(s: Statement) -> Iterator[Statement]:
        if isinstance(s, Let) and s in fitting:
            yield from _item_by_item(s, arrays.get(s.args[1]))
        else:
            yield with_blocks(s, in_block)

    return in_block(block) if fitting else block


def _item_by_item(s: Let, rows: Atom | None) -> Iterator[Statement]:
    """Loops over the items of the second list, or the rows of the array that it is made of."""
    total, other = s.args
    count, k = Var(INT), Var(INT)
    carry, longer = (Var(total.type, s.outs[0].name) for _ in range(2))
    item = Var(peek.infer(other, k))
    if rows is None:
        length = Let((count,), stack_length, (other,), {}, s.origin)
        read = Let((item,), peek, (other, k), {}, s.origin)
    else:
        length = Let((count,), size_value, (), {"size": rows.type.shape[0]}, s.origin)
        key = (Slot(0), *(slice(None),) * (rows.type.ndim - 1))
        read = Let((item,), index, (rows, k), {"key": key}, s.origin)
    body = (read, Let((longer,), add_item, (carry, k, item), {}, s.origin))
    yield length
    inside = Block((k, carry), body, (longer,))
    yield For(s.outs, atom(0), count, atom(1), (total,), inside, origin=s.origin)
