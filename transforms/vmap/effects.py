"""Batches effects: what a program does besides computing.

if x < 0: raise ValueError(x)      becomes      if np.any(x < 0): raise ValueError(x[x < 0][0])
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tapeless.transforms.core import builder
from tapeless.transforms.core.builder import atom, atom_of_size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    If,
    Let,
    Statement,
    Var,
    statements,
)
from tapeless.transforms.errors import UnevenError, UnsupportedError
from tapeless.transforms.ops.numpy.reductions import any_, count_nonzero
from tapeless.transforms.ops.primitives.callbacks import outside
from tapeless.transforms.vmap import random_draws
from tapeless.transforms.vmap.fallback_loop import element, elements, over_batch

if TYPE_CHECKING:
    from tapeless.transforms.vmap.batch import Batch

NOTHING = Block((), (), ())


def acts(s: Statement) -> bool:
    """Whether a statement does something besides computing."""
    return any(isinstance(t, Effect) or not t.op.pure for t in _leaves(s))


def _leaves(s: Statement) -> Iterator[Effect | Let]:
    return (t for t in statements(Block((), (s,), ())) if isinstance(t, (Effect, Let)))


def effect(batch: Batch, s: Effect) -> None:
    pairs = [batch.value(a) for a in s.args]
    args, axes = tuple(a for a, _ in pairs), tuple(k for _, k in pairs)
    same = all(k is None for k in axes)
    if (module := random_draws.seeded_by(s)) is not None:
        random_draws.seed(batch, module, same)
    if s.kind == "raise":
        _raise(batch, s, args, axes)
    elif s.kind in ("print", "call") and (batch.masked or not same):
        _in_order(batch, s, args, axes)
    elif same:
        builder.current().emit(replace(s, args=args))
    else:
        raise UnevenError("vmap: two sizes that must be equal depend on the element of the batch")


def _raise(batch: Batch, s: Effect, args: Any, axes: Any) -> None:
    """The error of the first element; of none if the part of the batch is empty."""
    b = builder.current()
    with b.block() as statements:
        b.emit(replace(s, args=tuple(elements(args, axes, atom(0)))))
    if batch.masked and not batch.nested:
        some = any_(batch.mask, axes=(0,), keepdims=False)
        b.emit(If((), some, Block((), tuple(statements), ()), NOTHING, None, s.origin))
        return
    for each in statements:
        b.emit(each)


def _in_order(batch: Batch, s: Effect, args: Any, axes: Any) -> None:
    """The text of each element, one after the other."""

    def line(i: Var) -> list[Atom]:
        b = builder.current()
        with b.block() as statements:
            b.emit(replace(s, args=tuple(elements(args, axes, i))))
        if not (batch.masked and batch.nested):
            for each in statements:
                b.emit(each)
            return []
        assert batch.mask is not None
        test = element(batch.mask, 0, i)
        b.emit(If((), test, Block((), tuple(statements), ()), NOTHING, None, s.origin))
        return []

    keeps_order = batch.masked and not batch.nested
    count = count_nonzero(batch.mask, axes=(0,), keepdims=False) if keeps_order else None
    over_batch(atom_of_size(batch.size) if count is None else count, line)


def refuse_masked(batch: Batch, s: Let) -> None:
    """Refuses a call from outside that would be made for elements that do not get there."""
    if s.op is outside and batch.masked and batch.nested:
        raise UnsupportedError(
            f"vmap: whether {s.params['name']} is called depends on the elements of two batches",
            "call it outside of the branch",
        )
