"""Computes values for some elements of a batch, and stores them back into all of it.

y = f(x) where mask      becomes      y[mask] = f(x[mask])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tapeless.transforms.core import builder, dims
from tapeless.transforms.core.language import (
    NOTHING,
    TAPE,
    Atom,
    Block,
    Effect,
    If,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    free_variables,
    is_undefined,
    outputs,
    statements,
)
from tapeless.transforms.core.uses import measured_sizes, reads, sizes_in
from tapeless.transforms.frontend.effects.fallible_operations import CHOOSING, may_raise
from tapeless.transforms.ops.numpy.reductions import any_
from tapeless.transforms.ops.primitives.function_calls import is_call
from tapeless.transforms.ops.primitives.new_arrays import empty, zero
from tapeless.transforms.ops.primitives.shapes import front
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, index, update
from tapeless.transforms.ops.primitives.stacks import pop, push
from tapeless.transforms.vmap.divergence import DivergenceFlow, read_by
from tapeless.transforms.vmap.lists import whole_value
from tapeless.transforms.vmap.masked_region import FilledElements, MaskedElements, is_in_bounds

if TYPE_CHECKING:
    from tapeless.transforms.vmap.batch import Batch


def part(batch: Batch, s: If, mask: Atom, block: Block, ends: list[Any]) -> list[Any]:
    """The values after a side that is computed for its own elements; what is the same for them, and
    has no value where the other side is taken, stays one value."""
    other = s.orelse if block is s.then else s.then
    alone = [is_undefined(a) and has_axes(a.type) for a in other.results]
    rows = [j for j, a in enumerate(block.results) if not is_undefined(a)]
    own, inside = _own_sizes(block), made_inside(block)
    olds = {
        j: None
        if alone[j] and own & sizes_in(s.outs[j].type)
        else _value_before(batch, s.outs[j], ends[j])
        for j in rows
    }

    def compute_part() -> dict[int, Any]:
        region, inner = enter(batch, mask, (block,))
        inner.block(block.body, block.results)
        parts: dict[int, Any] = {}
        for j in rows:
            a = block.results[j]
            if alone[j] and not inner.is_batched(a):
                parts[j] = inner.value(a)
            elif has_axes(a.type):
                parts[j] = leave(inner, region, olds[j], a), 0
            else:
                parts[j] = whole_value(inner, a) if a in inside else ends[j]
        return parts

    counts = any(_is_counted(t) or _goes_beyond(t) for t in statements(block))
    guarded = counts or _may_fail_for_none(batch, block)
    guarded = guarded or batch.nested or not batch.unset.isdisjoint(read_in(block))
    news = _if_any(batch, s, mask, compute_part, olds, alone) if guarded else compute_part()
    if guarded:
        batch.unset |= {s.outs[j] for j in rows if olds[j] is None}
    return [news.get(j, end) for j, end in enumerate(ends)]


def _is_counted(s: Statement) -> bool:
    """Whether it matters how often a statement is made: a recursion must end, and backward parts
    take from lists what was put there."""
    return is_call(s) or (isinstance(s, Let) and s.op in (push, pop))


def _goes_beyond(s: Statement) -> bool:
    """Whether a place may not be there that is read or stored to: NumPy refuses it for no elements
    as well."""
    return isinstance(s, Let) and s.op in (index, update, add_at) and not is_in_bounds(s)


def _may_fail_for_none(batch: Batch, block: Block) -> bool:
    """Whether a block may raise an error that depends on no element of the batch: it must not
    where no element takes the block."""
    flow = DivergenceFlow(batch.differs)
    flow.block(block.body)
    return any(_may_fail(s) and not any(map(flow.depends, reads(s))) for s in statements(block))


def _may_fail(s: Statement) -> bool:
    if isinstance(s, Effect):
        return s.kind == "check"
    return isinstance(s, Let) and (s.op in CHOOSING or any(may_raise(s)))


def _own_sizes(block: Block) -> set[dims.Symbol]:
    """Lengths that are known inside of a block only."""
    around = sizes_in([v.type for v in read_in(block)])
    defined = made_inside(block)
    sizes_used = sizes_in([v.type for v in defined])
    return {n for n in sizes_used - around if n.var in defined or (n.var is None and not n.given)}


def _value_before(batch: Batch, v: Var, end: Any) -> Atom:
    if not has_axes(v.type):
        return end[0] if end is not None else batch.literal(v.type)
    kind = batch.kind(v.type)
    if end is None:
        return empty(shape=kind.shape, dtype=kind.dtype)  # type: ignore[no-any-return]
    value, axis = end
    if axis is None:
        from_all = Var(v.type)
        with env_kept(batch):
            batch.env[from_all] = end
            return batch.front(from_all)
    return front(value, axis)  # type: ignore[no-any-return]


def _if_any(
    batch: Batch,
    s: If,
    mask: Atom,
    taken: Callable[[], dict[int, Any]],
    olds: dict[int, Any],
    alone: list[bool],
) -> dict[int, Any]:
    test = any_(mask, axes=(0,), keepdims=False)
    with batch.scope() as block:
        news = taken()
    rows = [(j, *news[j], s.outs[j]) for j in news]
    outs = tuple(Var(v.type if k is None else batch.kind(v.type), v.name) for _, _, k, v in rows)
    defaults = tuple(
        _value_of_empty_part(batch, out) if olds[j] is None or (k is None and alone[j]) else olds[j]
        for out, (j, _, k, _) in zip(outs, rows, strict=True)
    )
    then = Block((), tuple(block), tuple(a for _, a, _, _ in rows))
    builder.current().emit(If(outs, test, then, Block((), (), defaults), s.mirror, s.origin))
    return {j: (out, k) for out, (j, _, k, _) in zip(outs, rows, strict=True)}


def _value_of_empty_part(batch: Batch, v: Var) -> Atom:
    """What a part leaves that no element belongs to; what may be stored for all has some value."""
    plain = batch.valued and has_axes(v.type) and not measured_sizes(v.type)
    return zero(v.type) if plain else Literal(None, v.type)


def enter(batch: Batch, mask: Atom, blocks: tuple[Block, ...]) -> tuple[MaskedElements, Batch]:
    """The elements under a mask, and a batch of them: what the blocks read of it is there."""
    read = dict.fromkeys(v for b in blocks for v in read_in(b))
    shown = any(has_axes(v.type) and batch.is_batched(v) for v in read)
    region = (FilledElements if batch.nested else MaskedElements).of_mask(mask)
    region = region if shown else region.with_run_time_count()
    inner = type(batch)(region.size, batch.nested, masked=True)
    inner.mask = mask
    inner.uneven, inner.tried = set(batch.uneven), batch.tried
    inner.unset = set(batch.unset)
    inner.unset_around = batch.unset_around if batch.valued else batch.unset | batch.unset_around
    inner.lengths, inner.most = dict(batch.lengths), batch.most
    inner.fixed = batch.fixed
    inner.env = {v: pair for v, pair in batch.env.items() if pair[1] is None}
    for v in read:
        value, axis = batch.value(v)
        if not has_axes(v.type):
            inner.uneven.add(v)
            inner.env[v] = (value, axis)
        elif axis is not None and v not in inner.env:
            inner.bind(v, *region.enter(value, axis))
    return region, inner


def read_in(b: Block) -> dict[Any, None]:
    """The variables that a block reads, also its parameters."""
    return free_variables(replace(b, params=())) | read_by(b.body)


def leave(inner: Batch, region: MaskedElements, old: Any, a: Atom) -> Atom:
    """The whole batch of what was `old`, after the region made its part `a`; where there was
    nothing, the other elements have no value."""
    new, axis = inner.value(a)
    if is_undefined(a):
        return old  # type: ignore[no-any-return]
    if not has_axes(a.type):
        return whole_value(inner, a)[0]  # type: ignore[no-any-return]
    return region.leave(old, new, axis)  # type: ignore[no-any-return]


class env_kept:  # noqa: N801 (a context manager)
    """What is bound inside is not seen afterwards; the statements stay in the open block."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch

    def __enter__(self) -> None:
        self.before = dict(self.batch.env)

    def __exit__(self, *error: object) -> None:
        self.batch.env = self.before


def has_axes(t: Any) -> bool:
    """Whether values of a type are arrays or numbers, rather than lists or tapes."""
    return isinstance(t, Type) and t not in (TAPE, NOTHING)


def made_inside(block: Block) -> set[Any]:
    return {v for s in block.body for v in outputs(s)}
