"""Batches loops whose passes all elements make together.

for t in range(n): x = x * w      becomes, for a batch of x,      for t in range(n): x = x * w
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tapeless.transforms.core import builder
from tapeless.transforms.core.builder import defining_statement
from tapeless.transforms.core.language import Atom, Block, For, Literal, Var, While
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.vmap.masked_loops import mark_lists, masked_for, masked_while

if TYPE_CHECKING:
    from tapeless.transforms.vmap.batch import Batch

Places = list[Any]  # for each carry its batch axis, or None


def for_(batch: Batch, s: For) -> None:
    loop = None
    if not any(batch.is_batched(a) for a in (s.start, s.stop, s.step)):
        loop = _batch_fixpoint(batch, s.body, (s.index,), s.carries, s.inits, flags=int(s.until))
    if loop is None:
        masked_for(batch, s)
        return
    start, stop, step = (batch.value(a)[0] for a in (s.start, s.stop, s.step))
    inits, outs = loop.ends(batch, s.outs)
    builder.current().emit(
        replace(s, outs=outs, start=start, stop=stop, step=step, inits=inits, body=loop.body)
    )
    loop.bind(batch, s.outs, outs)


def while_(batch: Batch, s: While) -> None:
    loop = _batch_fixpoint(batch, s.body, (), s.body.params, s.inits, test=s.test)
    if loop is None:
        masked_while(batch, s)
        return
    env = _parameters(batch, s.test.params, loop.places)
    with batch.scope() as statements:
        batch.env |= env
        batch.block(s.test.body, s.test.results)
        going = batch.value(s.test.results[0])[0]
    test = Block(tuple(a for a, _ in env.values()), tuple(statements), (going,))
    inits, outs = loop.ends(batch, s.outs)
    builder.current().emit(replace(s, outs=outs, inits=inits, test=test, body=loop.body))
    loop.bind(batch, s.outs, outs)


@dataclass
class BatchedLoop:
    """A loop body for the batch, and where its carries have the batch."""

    body: Block
    inits: tuple[Atom, ...]
    places: Places
    grown: list[bool]

    def ends(self, batch: Batch, outs: tuple[Var, ...]) -> Any:
        """What the carries start with, and the variables that they end in."""
        starts = tuple(_start(batch, a, k) for a, k in zip(self.inits, self.places, strict=True))
        pairs = zip(outs, self.places, strict=True)
        return starts, tuple(
            v if k is None else Var(batch.kind(v.type, k), v.name) for v, k in pairs
        )

    def bind(self, batch: Batch, vars_: tuple[Var, ...], outs: tuple[Var, ...]) -> None:
        for v, out, k, a, more in zip(
            vars_, outs, self.places, self.inits, self.grown, strict=True
        ):
            batch.env[v] = (out, k)
            if a in batch.uneven or more:
                batch.uneven.add(v)


def _start(batch: Batch, a: Atom, place: Any) -> Atom:
    if place is None:
        return batch.value(a)[0]
    if isinstance(a, Literal) and a.value is None and not batch.masked:
        return batch.literal(a.type)
    return batch.with_batch_axis_at(a, place)


def _batch_fixpoint(
    batch: Batch,
    body: Block,
    index: tuple[Var, ...],
    params: tuple[Var, ...],
    inits: tuple[Atom, ...],
    flags: int = 0,
    test: Block | None = None,
) -> BatchedLoop | None:
    """The body with a batch for each carry that starts as one, or becomes one in a pass; None if
    whether the loop goes on depends on the element."""
    places: Places = [_place(batch, a) if batch.is_batched(a) else None for a in inits]
    mark_lists(batch, params, inits)
    while True:
        if test is not None and _differs(batch, test, params, places):
            return None
        batched_body = _pass(batch, body, index, params, places, flags)
        if batched_body is None:
            return None
        block, batched, grown = batched_body
        new = {p for p, more in zip(params, grown, strict=True) if more} - batch.uneven
        if new:
            batch.uneven |= new
            continue
        batched_inits = [
            _place(batch, a) if on else None for a, on in zip(inits, batched, strict=True)
        ]
        if batched_inits == places:
            return BatchedLoop(block, inits, places, grown)
        places = batched_inits


def _place(batch: Batch, a: Atom) -> int:
    """Where a carry has its batch axis: what passes fill entry by entry has it second."""
    value, axis = batch.value(a)
    if axis is not None:
        return axis  # type: ignore[no-any-return]
    let = defining_statement(value)
    return int(let is not None and let.op is empty and value.type.ndim > 0)


def _parameters(batch: Batch, params: tuple[Var, ...], places: Places) -> dict[Var, Any]:
    """Parameters of a block, with a batch for some of them."""
    return {
        p: (p, None) if k is None else (Var(batch.kind(p.type, k), p.name), k)
        for p, k in zip(params, places, strict=True)
    }


def _differs(batch: Batch, test: Block, params: tuple[Var, ...], places: Places) -> bool:
    with batch.scope():
        batch.env |= _parameters(batch, test.params, places)
        mark_lists(batch, test.params, params)
        batch.block(test.body, test.results)
        return batch.is_batched(test.results[0])


def _pass(
    batch: Batch,
    block: Block,
    index: tuple[Var, ...],
    params: tuple[Var, ...],
    places: Places,
    flags: int,
) -> Any:
    """The body for a batch, which carries are batched after it, and which lists have grown by
    different numbers; None if the flag that ends the loop is batched."""
    env = _parameters(batch, params, places)
    batch.tried |= {p for p, k in zip(params, places, strict=True) if k is None}
    with batch.scope() as statements:
        batch.env |= env
        batch.block(block.body, block.results, by_element=True)
        if any(batch.is_batched(a) for a in block.results[:flags]):
            return None
        yields = block.results[flags:]
        batched = [
            k is not None or batch.is_batched(a) for a, k in zip(yields, places, strict=True)
        ]
        results = [
            batch.value(a)[0] if k is None else batch.with_batch_axis_at(a, k)
            for a, k in zip(block.results, (*(None,) * flags, *places), strict=True)
        ]
        grown = [a in batch.uneven for a in yields]
    carries = (a for a, _ in env.values())
    return Block((*index, *carries), tuple(statements), tuple(results)), batched, grown
