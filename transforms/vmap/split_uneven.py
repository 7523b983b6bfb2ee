"""Splits a batch whose elements have values of different lengths: each element is computed by
itself.

m = np.max(v[v > 0])      becomes      for i in range(n): m[i] = np.max(v[i][v[i] > 0])

An array has one shape, so there is none for what a mask selects, for lists that grow by different
numbers of items, and for the first k items, k of the element. The loop goes from where such values
are made to where the last of them is read; what comes out of it has one shape for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tapeless.transforms.core.dims import Symbol
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    Let,
    Statement,
    Var,
    blocks,
    operands,
    outputs,
    statements,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.primitives.function_calls import unbundle
from tapeless.transforms.ops.primitives.new_arrays import stack_length
from tapeless.transforms.vmap.divergence import DivergenceFlow, read_by
from tapeless.transforms.vmap.effects import acts
from tapeless.transforms.vmap.element_loops import each_by_itself
from tapeless.transforms.vmap.masked_parts import has_axes

if TYPE_CHECKING:
    from tapeless.transforms.vmap.batch import Batch


@dataclass(frozen=True)
class Parts:
    """A block, cut into what is before, in, and behind a loop over the elements; `outs` are what
    the loop hands on."""

    head: list[Statement]
    inner: list[Statement]
    tail: list[Statement]
    outs: list[Var]


def record(batch: Batch, parts: Parts, ends: list[Atom], by_element: bool) -> None:
    """Records the parts of a block whose `ends` are read afterwards."""
    after = [*read_by([*parts.inner, *parts.tail]), *ends]
    batch.block(parts.head, after, by_element)
    each_by_itself(batch, parts.inner, parts.outs, compiled=False)
    batch.block(parts.tail, ends, by_element)


def split_around(
    batch: Batch, body: list[Statement], ends: list[Atom], refused: Statement
) -> Parts | None:
    """The parts with what has to do with a statement in the loop; None if what differs in length
    comes from outside of the block, or is read there."""
    uneven = Uneven(batch, body)
    members = {k for k, s in enumerate(body) if s is refused}
    while True:
        members = uneven.connected_statements(members)
        parts = _cut(body, members, ends)
        defined = {v for s in parts.head for v in outputs(s)}
        met = {*read_by(parts.inner), *parts.outs, *defined.intersection(read_by(parts.tail))}
        wrong = {v for v in met if not uneven.is_even(v)}
        taken = {id(s) for s in parts.inner}
        more = {
            k
            for k, s in enumerate(body)
            if wrong & {*read_by([s]), *outputs(s)} or (id(s) in taken and uneven.shared[k])
        } - members
        if not more:
            fits = not wrong and all(has_axes(v.type) for v in parts.outs)
            return parts if fits and all(map(batch.can_be_apart, parts.inner)) else None
        members |= more


def _cut(body: list[Statement], members: set[int], ends: list[Atom]) -> Parts:
    first, last = min(members), max(members)
    inner, before = _separate(body[first : last + 1], {id(body[k]) for k in members})
    tail = body[last + 1 :]
    later = {*read_by(tail), *ends}
    outs = [v for s in inner for v in outputs(s) if v in later]
    return Parts([*body[:first], *before], inner, tail, outs)


def _separate(body: list[Statement], members: set[int]) -> tuple[list[Statement], list[Statement]]:
    """The statements that must stay with the members, and those that may go before them."""
    inner: list[Statement] = []
    before: list[Statement] = []
    body = [s for s in body if not (isinstance(s, Effect) and s.kind == "blank")]
    defined: set[Var] = set()
    for s in body:
        if id(s) in members or acts(s) or not defined.isdisjoint(read_by([s])):
            inner.append(s)
            defined.update(outputs(s))
        else:
            before.append(s)
    return inner, before


class Uneven:
    """Which values of a block differ in length between the elements of a batch."""

    def __init__(self, batch: Batch, body: list[Statement]) -> None:
        self.batch, self.body = batch, body
        self.flow = DivergenceFlow(batch.differs)
        self.made: dict[Symbol, bool] = {}  # sizes that the block makes, and whether they differ
        self.sizes: dict[Var, set[Symbol]] = {}  # those that variables are the values of
        self.lengths: set[Var] = set()  # of lists that depend on the element
        for s in body:
            self.flow.statement(s)
            differs = any(map(self.flow.depends, read_by([s])))
            for v in outputs(s):
                for size in sizes_in(v.type):
                    self.made[size] = differs or self.made.get(size, False)
            if isinstance(s, Let) and s.op is stack_length and differs:
                self.lengths.update(s.outs)
            if isinstance(s, Let) and s.op is size_value:
                self.sizes[s.outs[0]] = set(filter(self.differs, sizes_in(s.params["size"])))
        self.shared = [self.keys(s) for s in body]

    def differs(self, size: Symbol) -> bool:
        if size.var is not None:
            return self.flow.depends(size.var)
        return not size.given and self.made.get(size, False)

    def is_even(self, v: Var) -> bool:
        """Whether a batch of the value is an array."""
        batch = self.batch
        uneven = v in batch.ragged or v in batch.lengths or v in batch.uneven or v in self.lengths
        if not has_axes(v.type):
            return not (uneven or batch.differs(v) or self.flow.depends(v))
        return not uneven and not any(map(self.differs, sizes_in(v.type)))

    def keys(self, s: Statement) -> set[Any]:
        """What a statement shares with others that are computed in the same loop."""
        keys_used: set[Any] = set()
        opens_tape = isinstance(s, Let) and s.op is unbundle  # it shows lengths to what is ahead
        for v in _mentioned_variables([s]):
            if v in self.lengths or not (has_axes(v.type) or (opens_tape and self.is_even(v))):
                keys_used.add(v)
            keys_used.update(filter(self.differs, sizes_in(v.type)))
        for t in statements(Block((), (s,), ())):
            if isinstance(t, Let):
                keys_used.update(filter(self.differs, sizes_in(list(t.params.values()))))
            elif isinstance(t, Effect):  # compares sizes
                sizes_of_args = (self.sizes.get(a, ()) for a in t.args if isinstance(a, Var))
                keys_used.update(*map(set, sizes_of_args))
        return keys_used

    def connected_statements(self, members: set[int]) -> set[int]:
        """The statements, by their places, and those that share with one of them."""
        while True:
            shared = set().union(*(self.shared[k] for k in members))
            more = {k for k, own in enumerate(self.shared) if own & shared} | members
            if more == members:
                return members
            members = more


def _mentioned_variables(body: Iterable[Statement]) -> Iterator[Var]:
    """The variables that statements read and make, also inside."""
    for s in statements(Block((), tuple(body), ())):
        atoms = [*operands(s), *outputs(s)]
        for b in blocks(s):
            atoms += [*b.params, *b.results]
        yield from (a for a in atoms if isinstance(a, Var))
