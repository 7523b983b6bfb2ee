"""Gives lengths that begin in a pass of a loop a name there that the results of the loop lack.

for i in range(n) with rows: f8[k]:                for i in range(n) with rows: f8[m]:
    ...                                becomes         ...
y = zeros(shape=(k,))                              y = zeros(shape=(k,))

`k` is then the length of the result, which the statements behind the loop can read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.free_variables import axes
from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Block,
    For,
    Statement,
    blocks,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.substitution import refresh


def own_loop_lengths(block: Block, shown_around: Iterable[dims.Symbol] = ()) -> Block:
    """The block, whose loops name the lengths in their passes that nothing outside shows."""
    shown = {*shown_around, *axes(block.params)}
    body: list[Statement] = []
    for s in block.body:
        inner = _inside_blocks(s, shown)
        body.append(_rename_carry_lengths(inner, shown) if isinstance(inner, For) else inner)
        shown |= axes(outputs(s))
    return Block(block.params, tuple(body), block.results)


def _inside_blocks(s: Statement, shown: set[dims.Symbol]) -> Statement:
    return with_blocks(s, lambda block: own_loop_lengths(block, shown))


def _rename_carry_lengths(s: For, shown: set[dims.Symbol]) -> For:
    """The loop with lengths of its carries that its results have, too, under other names."""
    shared = (axes(s.carries) & axes(s.outs)) - shown
    lengths: dict[Any, Any] = {
        x: dims.symbol(x.name, x.lower) for x in shared if x.var is None and not x.given
    }
    if not lengths:
        return s
    for x in _lengths_inside(s.body) - lengths.keys():
        if x.var is None and x.upper is not None and dims.symbols(x.upper) & lengths.keys():
            upper = dims.substitute(x.upper, lengths.get)
            lengths[x] = dims.symbol(x.name, x.lower, upper=upper)
    return replace(s, body=refresh(s.body, lengths)[0])


def _lengths_inside(block: Block) -> set[dims.Symbol]:
    """The lengths of what a block defines, also in blocks inside of it."""
    inner = statements(block)
    return axes(
        [v for s in inner for v in (*outputs(s), *(p for b in blocks(s) for p in b.params))]
    )
