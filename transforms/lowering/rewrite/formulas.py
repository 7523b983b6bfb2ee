"""Writes statements out by formulas of their operands.

y = expm1(x), by the formula  lambda x: exp(x) - 1      becomes      t = exp(x); y = t - 1
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.builder import Builder, building
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Literal,
    Statement,
    Var,
    outputs,
    with_blocks,
)
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.shapes import cast_to

Definitions = Mapping[Atom, Statement]
Rewrite = Callable[[Let, Definitions], Iterable[Statement]]


def rewritten_lets(block: Block, rewrite: Rewrite, outside: Definitions | None = None) -> Block:
    """The block, in which other statements stand for operations; the same block if none do.

    rewrite  gives these, of an operation and the statements that define what it may read
    outside  those of the blocks around it
    """
    definitions: Definitions = {**(outside or {}), **{v: s for s in block.body for v in outputs(s)}}
    body: list[Statement] = []
    for s in block.body:
        if isinstance(s, Let):
            body += rewrite(s, definitions)
        else:
            body.append(with_blocks(s, lambda b: rewritten_lets(b, rewrite, definitions)))
    same = len(body) == len(block.body) and all(map(operator.is_, body, block.body))
    return block if same else replace(block, body=tuple(body))


class Formula(Builder):
    """Lengths in types of arguments may name integers that nobody reads any more: arrays tell."""

    def in_scope(self, v: Var) -> bool:
        return v in self.definitions


def parts_of(s: Let, formula: Callable[..., Any]) -> Iterator[Statement]:
    """The statements that compute what an operation gives, by a formula of its arguments."""
    b = Formula()
    b.origin = s.origin
    with building(b):
        result = formula(*s.args, **s.params)
        result = cast_to(result, s.outs[0].type.dtype)
    *before, last = b.blocks[0] or (None,)
    if isinstance(last, Let) and last.outs == (result,) and not isinstance(result, Literal):
        yield from before
        yield replace(last, outs=s.outs)
    else:
        yield from b.blocks[0]
        yield Let(s.outs, identity, (result,), {}, s.origin)
