"""Copies what branches of a driver take from outside, if that or what they give is stored to.

if t: b_2 = empty(...); kernel(b, b_2)            if t: b_2 = empty(...); kernel(b, b_2)
else: b_2 = b                          becomes    else: b_2 = b.copy()
kernel(b_2, b)                                    kernel(b_2, b)

The other branch results in other memory: what reads one of `b` and `b_2`, and stores to the other
one, cannot know that they may be the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tapeless.transforms.core.language import Block, If, Let, Statement, Var, outputs, with_blocks
from tapeless.transforms.lowering.schedule.dependences import (
    Dependences,
    is_array,
    variables_inside,
)
from tapeless.transforms.ops.primitives.shapes import copy

Memory = frozenset[Var | None]


def own_branch_results(
    body: Iterable[Statement], memory: Dependences, stored: Memory
) -> list[Statement]:
    """The statements of a driver in which no branch results in memory from outside, if that or the
    result is among the `stored`."""
    return [_own(s, memory, stored) for s in body]


def _own(s: Statement, memory: Dependences, stored: Memory) -> Statement:
    def own(block: Block) -> Block:
        results, inner = list(block.results), set(stored)
        copies: list[Statement] = []
        for k, v in enumerate(outputs(s) if isinstance(s, If) else ()):
            base, cell = memory.base(results[k]), memory.cell(v)
            if not is_array(v) or base is None or base is cell or not {base, cell} & stored:
                continue
            if base in variables_inside(memory.defs[v]):
                inner.add(base)  # the result of a branch in this one, perhaps
                continue
            copied = Var(v.type, v.name)
            copies.append(Let((copied,), copy, (results[k],), {}))
            results[k] = copied
        body = own_branch_results(block.body, memory, frozenset(inner))
        return replace(block, body=(*body, *copies), results=tuple(results))

    return with_blocks(s, own)
