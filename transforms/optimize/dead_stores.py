"""Removes stores in loops that nothing reads any more.

for i: y += bar[i]; bar[i] = 0      becomes      for i: y += bar[i]

where bar is not read after the loop, and no other pass reads what this one stores to: the key names
the index of each loop around, so that each pass has places of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    blocks,
    free_variables,
    operands,
    statements,
)
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, gather, index, update

Drop = dict[Var, Atom]


def remove_dead_stores(block: Block) -> Block:
    """The block without such stores; the block itself if there are none."""
    read = _read(block)
    drop: Drop = {}
    for s in statements(block):
        if isinstance(s, For) and not s.until:
            for k, out in enumerate(s.outs):
                if out not in read and isinstance(out.type, Type) and out.type.shape:
                    drop |= _Places().loop(s, k) or {}
    return substitute(_drop_stores(block, drop), _resolve(drop)) if drop else block


def _read(block: Block) -> set[Var]:
    """All variables that something reads."""
    read = {a for a in block.results if isinstance(a, Var)}
    for s in statements(block):
        read |= {a for a in operands(s) if isinstance(a, Var)}
        read |= {a for b in blocks(s) for a in b.results if isinstance(a, Var)}
    return read


def _drop_stores(block: Block, drop: Drop) -> Block:
    body = tuple(
        _drop_in_loop(s, drop) for s in block.body if not (isinstance(s, Let) and s.outs[0] in drop)
    )
    return replace(block, body=body)


def _drop_in_loop(s: Statement, drop: Drop) -> Statement:
    return replace(s, body=_drop_stores(s.body, drop)) if isinstance(s, For) else s


def _resolve(drop: Drop) -> Drop:
    """What each variable is in the end."""

    def end(a: Atom) -> Atom:
        return end(drop[a]) if isinstance(a, Var) and a in drop else a

    return {v: end(a) for v, a in drop.items()}


class _Places:
    """The one key at which the passes of a nest of loops read an array and store to it."""

    def __init__(self) -> None:
        self.key: Any = None

    def loop(self, s: For, k: int, around: tuple[Var, ...] = ()) -> Drop | None:
        """The stores to the carry number k, by what they can be replaced; None if they are read."""
        if s.until or not _from_the_front(s):
            return None
        around = (*around, s.index)
        current, over, drop = s.carries[k], False, Drop()
        versions = {current}
        for t in s.body.body:
            if not self.touches(t, versions):
                continue
            if over or any(v in versions for b in blocks(t) for v in free_variables(b)):
                return None
            stepped = self.step(t, current, around)
            if stepped is None:
                return None
            after, stores = stepped
            drop |= stores
            if after is not current:
                current, over = after, True
                versions.add(after)
        mine = s.yields[k] is current
        others = [a for j, a in enumerate(s.body.results) if j != k]
        return drop if mine and not any(a in versions for a in others) else None

    @staticmethod
    def touches(t: Statement, versions: set[Var]) -> bool:
        inner = (v for b in blocks(t) for v in free_variables(b))
        return any(a in versions for a in operands(t)) or any(v in versions for v in inner)

    def step(self, t: Statement, current: Var, around: tuple[Var, ...]) -> Any:
        """The array after a statement, and the stores in it."""
        if sum(a is current for a in operands(t)) != 1:
            return None
        if isinstance(t, For) and any(a is current for a in t.inits):
            k = next(j for j, a in enumerate(t.inits) if a is current)
            stores = self.loop(t, k, around)
            return None if stores is None else (t.outs[k], stores)
        if not isinstance(t, Let) or t.args[0] is not current:
            return None
        if t.op in (index, gather):
            return (
                (current, {}) if self.is_same_place(t.params["key"], t.args[1:], around) else None
            )
        if t.op is update and self.is_same_place(t.params["key"], t.args[2:], around):
            return t.outs[0], {t.outs[0]: current}
        return None

    def is_same_place(self, key: Any, rest: tuple[Atom, ...], around: tuple[Var, ...]) -> bool:
        """Whether this is the key, and each pass has places of its own at it."""
        entries = tuple(_entry(e, rest) for e in key)
        if self.key is None:
            self.key = entries
        return entries == self.key and all(any(e is i for e in entries) for i in around)


def _entry(e: Any, rest: tuple[Atom, ...]) -> Any:
    if isinstance(e, Slot):
        return rest[e.k]
    if isinstance(e, slice):
        return (slice, _entry(e.start, rest), _entry(e.stop, rest), _entry(e.step, rest))
    return e


def _from_the_front(s: For) -> bool:
    """Whether no index is negative, which would name a place from the end once more."""
    numbers = [a.value for a in (s.start, s.step) if isinstance(a, Literal)]
    return len(numbers) == 2 and numbers[0] >= 0 and numbers[1] > 0
