"""Writes a program again with other values in the place of some: arrays for lists, say.

for ... with out: stack(f8) = s: ...      becomes      for ... with out: f8[n] = a: ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Statement,
    Var,
    While,
    with_blocks,
)


class ValueReplacer:
    """A subclass says which values stand for one, and what becomes of operations on them."""

    def values_for(self, a: Var) -> tuple[Any, ...]:
        """The values that stand for a variable: itself, or any number of others."""
        raise NotImplementedError

    def let(self, s: Let) -> Iterator[Statement]:
        """What becomes of an operation."""
        raise NotImplementedError

    def all(self, atoms: tuple[Atom, ...]) -> tuple[Any, ...]:
        """The values that stand for some."""
        return tuple(b for a in atoms for b in (self.values_for(a) if isinstance(a, Var) else (a,)))

    def block(self, block: Block) -> Block:
        params = self.all(block.params)
        body = tuple(t for s in block.body for t in self.statement(s))
        return Block(params, body, self.all(block.results))

    def statement(self, s: Statement) -> Iterator[Statement]:
        """What becomes of a statement; loops and branches hand on the other values."""
        match s:
            case Let():
                yield from self.let(s)
            case If():
                yield with_blocks(replace(s, outs=self.all(s.outs)), self.block)
            case For() | While():
                inits, outs = self.all(s.inits), self.all(s.outs)
                yield with_blocks(replace(s, inits=inits, outs=outs), self.block)
            case _:
                yield s
