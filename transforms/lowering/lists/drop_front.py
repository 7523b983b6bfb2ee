"""Removes the first items of lists in place.

a = np.array(queue); queue = a[1:].tolist()      becomes      del queue[:1]
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.language import (
    Block,
    Effect,
    Let,
    Statement,
    Var,
    blocks,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.uses import reads_of, sizes_in
from tapeless.transforms.ops.primitives.slices_and_gathers import index
from tapeless.transforms.ops.primitives.stacks import shift, to_array, unstack


def shifted_lists(block: Block) -> Block:
    """The block in which such lists are shifted, where nothing else reads the arrays between."""
    definitions = {v: s for s in statements(block) if isinstance(s, Let) for v in s.outs}
    if not any(s.op is unstack for s in definitions.values()):
        return block
    return _Shifting(block, definitions).block(block)


class _Shifting:
    def __init__(self, block: Block, definitions: dict[Var, Let]) -> None:
        self.made, self.uses = definitions, reads_of(block)
        self.named: Counter[Any] = Counter()  # by how many statements sizes are named
        for s in statements(block):
            held = [*s.params.values()] if isinstance(s, (Let, Effect)) else []
            inner = [p.type for b in blocks(s) for p in b.params]
            self.named.update(sizes_in([*held, *inner, *(v.type for v in outputs(s))]))

    def block(self, block: Block) -> Block:
        return replace(block, body=tuple(map(self.statement, block.body)))

    def statement(self, s: Statement) -> Statement:
        if not isinstance(s, Let):
            return with_blocks(s, self.block)
        part = self.step(s, unstack)
        array = part and self.step(part, index)
        if part is None or array is None or array.op is not to_array:
            return s
        match part.params["key"]:
            case (slice(start=int(count), stop=None, step=None | 1),) if count > 0:
                pass
            case _:
                return s
        mine = {x for x in sizes_in(array.outs[0].type) if x.var is None and not x.given}
        if array.args[0].type != s.outs[0].type or any(self.named[x] > 2 for x in mine):
            return s
        return Let(s.outs, shift, array.args, {"count": count}, s.origin)

    def step(self, s: Let, op: Op) -> Let | None:
        """What makes the only argument of an operation, if nothing else reads that."""
        a = s.args[0] if s.op is op and len(s.args) == 1 else None
        return self.made.get(a) if isinstance(a, Var) and self.uses[a] == 1 else None
