"""Joins arrays where a program makes lists of them, appends to these and makes them arrays again.

np.array(a.tolist() + [x])      becomes      np.append(a, x)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tapeless.transforms.core.builder import Builder, building
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Statement,
    Type,
    Var,
    statements,
    with_blocks,
)
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.joining import array, concatenate, stack_op
from tapeless.transforms.ops.primitives.new_arrays import new_stack
from tapeless.transforms.ops.primitives.shapes import reshape
from tapeless.transforms.ops.primitives.stacks import push, to_array, unstack

MOST = 32  # items that are appended


def joined_lists(block: Block) -> Block:
    """The block in which such arrays are joined; lists that nothing else needs are dead then."""
    definitions = {v: s for s in statements(block) if isinstance(s, Let) for v in s.outs}
    if not any(s.op is to_array for s in definitions.values()):
        return block
    return _Joining(definitions).block(block)


class _Joining:
    def __init__(self, definitions: dict[Var, Let]) -> None:
        self.definitions = definitions

    def block(self, block: Block) -> Block:
        body = tuple(t for s in block.body for t in self.statement(s))
        return block if body == block.body else replace(block, body=body)

    def statement(self, s: Statement) -> list[Statement]:
        if not isinstance(s, Let):
            return [with_blocks(s, self.block)]
        made_of = self.parts(s.args[0]) if s.op is to_array else None
        if made_of is None:
            return [s]
        whole, items = made_of
        out: Type = s.outs[0].type
        if any(a.type.dtype != out.dtype or a.type.shape != out.shape[1:] for a in items):
            return [s]
        if whole is None:
            return self.joining_statements(s, lambda: _array_of(items, out)) if items else [s]
        rows = whole.type.shape[0] + len(items)
        if whole.type.dtype != out.dtype or (rows, *whole.type.shape[1:]) != out.shape:
            return [s]
        if not items:
            return [Let(s.outs, identity, (whole,), {}, s.origin)]
        return self.joining_statements(s, lambda: concatenate(whole, *map(_as_row, items), axis=0))

    def parts(self, stack: Atom) -> tuple[Atom | None, list[Atom]] | None:
        """The array that a list was made of, if of one, and the items that were appended then; None
        for other lists."""
        items: list[Atom] = []
        while isinstance(stack, Var) and len(items) <= MOST:
            let = self.definitions.get(stack)
            if let is None or let.op not in (push, unstack, new_stack):
                return None
            if let.op is not push:
                return (let.args[0] if let.op is unstack else None), items[::-1]
            items.append(let.args[1])
            stack = let.args[0]
        return None

    def joining_statements(self, s: Let, join: Callable[[], Atom]) -> list[Statement]:
        """The statements that join arrays to the result of another statement."""
        builder = Builder()
        builder.origin = s.origin
        with building(builder):
            joined = join()
        return [*builder.blocks[0], Let(s.outs, identity, (joined,), {}, s.origin)]


def _as_row(a: Atom) -> Atom:
    return reshape(a, shape=(1, *a.type.shape))  # type: ignore[no-any-return]


def _array_of(items: list[Atom], out: Type) -> Atom:
    """An array of numbers, or of arrays of one shape."""
    if out.shape[1:]:
        return stack_op(*items, axis=0)  # type: ignore[no-any-return]
    return array(*items, shape=(len(items),), dtype=out.dtype)  # type: ignore[no-any-return]
