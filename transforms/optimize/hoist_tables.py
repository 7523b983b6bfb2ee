"""Hoists tables: arrays of constants of which loops read an item are made once, ahead of the loops.

for i in range(n): s += np.array([0.5, 0.25])[i % 2] * x[i]
    becomes      table = np.array([0.5, 0.25]); for i in range(n): s += table[i % 2] * x[i]

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(hoist_tables, '''
... (x: f8[n]):
...     passes = size_value(size=n)
...     s_2 = for i in range(0, passes, 1) with s: f8 = 0.0:
...         weights = array(0.5, 0.25, shape=(2,), dtype=float64)
...         k = mod(i, 2)
...         w = index(weights, k, key=(Slot(0),))
...         s_3 = add(s, w)
...         yield s_3
...     return s_2
... '''))
(x: f8[n]):
    passes: pyi8 = size_value(size=n)
    weights: f8[2] = array(0.5, 0.25, shape=(2,), dtype=float64)
    s_2 = for i in range(0, passes, 1) with s: f8 = 0.0:
        k: pyi8 = mod(i, 2)
        w: f8 = index(weights, k, key=(Slot(0),))
        s_3: f8 = add(s, w)
        yield s_3
    return s_2
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeGuard

from tapeless.transforms.core.language import (
    Atom,
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
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.ops.primitives.joining import array
from tapeless.transforms.ops.primitives.slices_and_gathers import index


def hoist_tables(block: Block) -> Block:
    """The block with tables ahead of its loops, equal ones once; the block itself if there are
    none."""
    tables = {v for s in statements(block) if _is_of_constants(s) for v in s.outs}
    for s in statements(block):
        if not (isinstance(s, Let) and s.op is index):
            tables.difference_update(operands(s))
        for b in blocks(s):
            tables.difference_update(b.results)
    tables.difference_update(block.results)
    return _Hoisting(tables).run(block) if tables else block


def _is_of_constants(s: Statement) -> bool:
    if not isinstance(s, Let) or s.op is not array or len(s.args) < 2:
        return False
    return not any(isinstance(a, Var) for a in s.args)


class _Hoisting:
    """Puts tables ahead of loops.

    ahead  those that are ahead of the statement that is looked at, by what they hold
    same   the table in the place of an equal one
    """

    def __init__(self, tables: set[Var]) -> None:
        self.tables = tables
        self.ahead: dict[Any, Var] = {}
        self.same: dict[Var, Atom] = {}

    def run(self, block: Block) -> Block:
        return substitute(self.block(block), self.same)

    def block(self, block: Block) -> Block:
        outside, body = dict(self.ahead), list[Statement]()
        for s in block.body:
            if self.makes_table(s):
                body += self.place_once(s)
            elif isinstance(s, (For, While)):
                inside = (t for b in blocks(s) for t in statements(b))
                body += [t for x in inside if self.makes_table(x) for t in self.place_once(x)]
                body.append(with_blocks(s, self.without_tables))
            else:
                body.append(with_blocks(s, self.block))
        self.ahead = outside
        return replace(block, body=tuple(body))

    def makes_table(self, s: Statement) -> TypeGuard[Let]:
        return isinstance(s, Let) and not self.tables.isdisjoint(s.outs)

    def place_once(self, s: Let) -> list[Statement]:
        """What makes a table, unless an equal one is there."""
        (out,) = s.outs
        contents = (*(repr(a.value) for a in s.args), s.params["shape"], s.params["dtype"])  # type: ignore[union-attr]
        first = self.ahead.setdefault(contents, out)
        if first is not out:
            self.same[out] = first
            return []
        out.name = out.name or "table"
        return [s]

    def without_tables(self, block: Block) -> Block:
        body = (t for t in block.body if not self.makes_table(t))
        return replace(block, body=tuple(with_blocks(t, self.without_tables) for t in body))
