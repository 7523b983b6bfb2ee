"""Copies views that only NumPy makes, of memory that is stored to later: kernels take them for
arrays of their own.

y = diagonal(x); z = update(x, v, i)
    becomes      t = diagonal(x); y = whole(t); z = update(x, v, i)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from tapeless.transforms.core.language import (
    Block,
    Let,
    Statement,
    Var,
    statements,
    with_blocks,
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.schedule.dependences import Dependences, stores
from tapeless.transforms.lowering.schedule.view_indices import is_view
from tapeless.transforms.memory.aliasing import has_memory

#: A copy that NumPy makes: one that a kernel made would come while it stores.
whole = Op("whole", lambda x: x.type, "{0}.copy()")


def materialize_views(block: Block, stored: Sequence[Var]) -> Block:
    """The block; `stored` are parameters that its last results are stored to when it returns."""
    memory = Dependences()
    memory.learn(block)
    last: dict[Var | None, float] = dict.fromkeys(stored, math.inf)
    for s in statements(block):
        if isinstance(s, Let) and stores(s):
            cell = memory.base(s.args[0])
            last[cell] = max(last.get(cell, 0), memory.order[s.outs[0]])

    def seen_later(s: Let) -> bool:
        if not s.op.view or is_view(s) or not has_memory(s.outs[0]):
            return False
        return last.get(memory.base(s.args[0]), -1) > memory.order[s.outs[0]]

    def inner(b: Block) -> Block:
        return replace(b, body=tuple(t for s in b.body for t in materialize(s)))

    def materialize(s: Statement) -> tuple[Statement, ...]:
        if isinstance(s, Let) and seen_later(s):
            copied_view = Var(s.outs[0].type)
            return (
                replace(s, outs=(copied_view,)),
                Let(s.outs, whole, (copied_view,), origin=s.origin),
            )
        return (with_blocks(s, inner),)

    return inner(block)
