"""Hoists tables: arrays of constants of which loops read an item are made once, ahead of the loops.

for i in range(n): s += np.array([0.5, 0.25])[i % 2] * x[i]
    becomes      table = np.array([0.5, 0.25]); for i in range(n): s += table[i % 2] * x[i]
"""

from __future__ import annotations

from dataclasses import replace

from tapeless.transforms.core.language import (
    Block,
    For,
    Let,
    Statement,
    Var,
    While,
    blocks,
    operands,
    statements,
    with_blocks,
)
from tapeless.transforms.ops.primitives.joining import array
from tapeless.transforms.ops.primitives.slices_and_gathers import index


def hoist_tables(block: Block) -> Block:
    """The block with tables ahead of its loops; the block itself if there are none."""
    tables = {v for s in statements(block) if _is_of_constants(s) for v in s.outs}
    for s in statements(block):
        if not (isinstance(s, Let) and s.op is index):
            tables.difference_update(operands(s))
        for b in blocks(s):
            tables.difference_update(b.results)
    tables.difference_update(block.results)
    return _hoist(block, tables) if tables else block


def _is_of_constants(s: Statement) -> bool:
    if not isinstance(s, Let) or s.op is not array or len(s.args) < 2:
        return False
    return not any(isinstance(a, Var) for a in s.args)


def _hoist(block: Block, tables: set[Var]) -> Block:
    body: list[Statement] = []
    for s in block.body:
        if not isinstance(s, (For, While)):
            body.append(with_blocks(s, lambda b: _hoist(b, tables)))
            continue
        moved = [t for t in _lets_of(s) if not tables.isdisjoint(t.outs)]
        for t in moved:
            t.outs[0].name = t.outs[0].name or "table"
        body += [*moved, _remove(s, tables) if moved else s]
    return replace(block, body=tuple(body))


def _lets_of(s: Statement) -> list[Let]:
    return [t for b in blocks(s) for t in statements(b) if isinstance(t, Let)]


def _remove(s: Statement, tables: set[Var]) -> Statement:
    """A loop without what makes tables in it."""

    def lean(block: Block) -> Block:
        body = (t for t in block.body if tables.isdisjoint(getattr(t, "outs", ())))
        return replace(block, body=tuple(with_blocks(t, lean) for t in body))

    return with_blocks(s, lean)
