"""Adds the items of one list to those of another one by one, where nothing else needs that.

total = add_stacks(p, q)      becomes      for k in range(len(q)): p = add_item(p, k, q[k])

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(sums_of_lists, '''
... (p: stack(f8), q: stack(f8)):
...     total = add_stacks(p, q)
...     return total
... '''))
(p: stack(f8), q: stack(f8)):
    t1: pyi8 = stack_length(q)
    total_2 = for t2 in range(0, t1, 1) with total: stack(f8) = p:
        t3: f8 = peek(q, t2)
        total_3: stack(f8) = add_item(total, t2, t3)
        yield total_3
    return total_2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Let,
    Statement,
    Var,
    statements,
    with_blocks,
)
from tapeless.transforms.core.size_value import INT, size_value
from tapeless.transforms.core.uses import reads_of
from tapeless.transforms.ops.primitives.new_arrays import has_zeros, stack_length
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index
from tapeless.transforms.ops.primitives.stacks import add_item, add_stacks, peek, unstack


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
