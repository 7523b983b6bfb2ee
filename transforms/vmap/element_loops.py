"""Chooses what a compiled program computes for each batch element by itself.

while x > 1: x = x / 2      becomes      for i in range(n):
                                             t = x[i]
                                             while t > 1: t = t / 2
                                             out[i] = t

Each element takes its own side of a branch, and its own number of passes. What does not depend on
the element stays in front of the loop; what is the same for all, or selects, stays array code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tapeless.transforms.core import builder
from tapeless.transforms.core.builder import atom, atom_of_size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    blocks,
    outputs,
    statements,
)
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.ops.primitives.new_arrays import empty, full, new_stack, ones, zeros
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, update
from tapeless.transforms.vmap import random_draws
from tapeless.transforms.vmap.default_values import with_default_values
from tapeless.transforms.vmap.divergence import DivergenceFlow, read_by
from tapeless.transforms.vmap.fallback_loop import element
from tapeless.transforms.vmap.masked_parts import has_axes

if TYPE_CHECKING:
    from tapeless.transforms.vmap.batch import Batch

FRESH = (new_stack, empty, zeros, ones, full)


def block(batch: Batch, body: Iterable[Statement], ends: Iterable[Atom]) -> None:
    """Records the statements for all elements; `ends` are read afterwards."""
    body = list(body)
    stretch = PendingStretch(batch)
    for s, later in zip(body, _read_later(body, ends), strict=True):
        stretch.statement(s, later)
    stretch.close(set(ends))


def _read_later(body: list[Statement], ends: Iterable[Atom]) -> list[set[Any]]:
    """For each statement what it, those behind it and the end read."""
    reads: list[set[Any]] = []
    live: set[Any] = set(ends)
    for s in reversed(body):
        live = live | set(read_by([s]))
        reads.append(live)
    return reads[::-1]


class PendingStretch:
    """Statements that wait to be recorded together, each with whether elements go their own way in
    it."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.flow = DivergenceFlow(batch.differs)
        self.waiting: list[tuple[Statement, bool]] = []

    def statement(self, s: Statement, later: set[Any]) -> None:
        own = self.flow.statement(s)
        read = read_by([s])
        alike = not (any(map(self.flow.depends, read)) or self.follows(s, read))
        acts = any(isinstance(t, Effect) for t in statements(Block((), (s,), ())))
        if alike and not (acts and self.waiting):
            self.record([s])
        elif self.fits(s):
            self.waiting.append((s, own))
        else:
            self.close(later)
            self.record([s])

    def follows(self, s: Statement, read: Iterable[Var]) -> bool:
        """Whether a statement reads what waits, or a size that only its shape shows."""
        waiting = [v for t, _ in self.waiting for v in outputs(t)]
        inside = statements(Block((), (s,), ())) if waiting else ()
        named = sizes_in([list(t.params.values()) for t in inside if isinstance(t, Let)])
        shown = sizes_in([v.type for v in waiting]) if named else set()
        sizes = any(x.var is None and not x.given for x in named & shown)
        return sizes or not set(waiting).isdisjoint(read)

    def fits(self, s: Statement) -> bool:
        """Whether the statement can be compiled for one element: sizes are those of all."""
        from tapeless.transforms.lowering.schedule.element_loops import compiles  # noqa: PLC0415 (takes long)

        inside = list(statements(Block((), (s,), ())))
        kinds = [v.type for t in inside for v in outputs(t)]
        own = any(x.var is not None and self.flow.depends(x.var) for x in sizes_in(kinds))
        return not own and compiles(s)

    def close(self, later: set[Any]) -> None:
        """Records what waits; `later` are variables that are read afterwards."""
        waiting, self.waiting = self.waiting, []
        own = [k for k, (_, own) in enumerate(waiting) if own]
        body = [s for s, _ in waiting]
        if own:
            first = next(k for k, s in enumerate(body) if k == own[0] or not _is_number(s))
            last = next(
                k for k in reversed(range(len(body))) if k == own[-1] or not _is_number(body[k])
            )
            head, inner, tail = body[:first], body[first : last + 1], body[last + 1 :]
            after = read_by(tail)
            outs = [v for s in inner for v in outputs(s) if v in later or v in after]
            ins = [v for v in read_by(inner) if self.batch.differs(v)]
            if all(has_axes(v.type) for v in (*ins, *outs)) and not any(map(self.is_ragged, ins)):
                self.record(head)
                each_by_itself(self.batch, inner, outs)
                self.record(tail)
                return
        self.record(body)

    def is_ragged(self, v: Var) -> bool:
        """Whether a value is no array for the batch."""
        return v in self.batch.ragged or v in self.batch.lengths

    def record(self, body: list[Statement]) -> None:
        for s in body:
            builder.current().origin = s.origin
            self.batch.statement(s)


def _is_number(s: Statement) -> bool:
    """Whether a statement computes numbers only: for all elements, vectors do it."""
    kinds = [a.type for a in (*s.args, *s.outs)] if isinstance(s, Let) else [None]
    return not any(isinstance(t, StackType) or t is None for t in kinds) and all(
        not v.type.shape for v in outputs(s)
    )


def each_by_itself(
    batch: Batch, body: list[Statement], outs: list[Var], compiled: bool = True
) -> None:
    """Records a loop over the elements, and binds the results; `compiled` says that it must be, or
    is better written as array code."""
    b = builder.current()
    b.origin = body[0].origin
    makers = random_draws.of_elements(batch, body)
    compiled = compiled and not makers
    body = body if compiled else with_default_values(body, outs)
    kinds = [batch.kind(v.type) for v in outs]
    inits = tuple(empty(shape=t.shape, dtype=t.dtype) for t in kinds)
    stem = "" if compiled else "values"
    carries = tuple(Var(a.type, v.name or stem) for a, v in zip(inits, outs, strict=True))
    i = Var(INT, "i")
    stop = atom_of_size(batch.size)
    with b.block() as statements_:
        entered = _inputs_of_element(batch, body, i, compiled)
        for maker in makers:
            (generator,) = maker.outs
            of_element = Var(generator.type, generator.name)
            entered[generator] = of_element
            b.emit(replace(maker, outs=(of_element,)))
        body_copy, _ = refresh(Block((), tuple(body), tuple(outs)), entered)
        _pad_types(batch, body_copy)
        for s in body_copy.body:
            b.emit(s)
        rows = zip(carries, body_copy.results, strict=True)
        ends = tuple(update(c, r, i, key=(Slot(0),)) for c, r in rows)
    new_carries = tuple(Var(c.type, c.name) for c in carries)
    inner = Block((i, *carries), tuple(statements_), ends)
    b.emit(For(new_carries, atom(0), stop, atom(1), inits, inner, origin=b.origin, each=compiled))
    for v, out in zip(outs, new_carries, strict=True):
        batch.bind(v, out, 0)


def _pad_types(batch: Batch, block: Block) -> None:
    """What is as long as the longest of all elements has that in its type."""
    for s in statements(block) if batch.most or batch.fixed else ():
        for v in (*outputs(s), *(p for b in blocks(s) for p in b.params)):
            if isinstance(v.type, Type):
                v.type = batch.longest(v.type)


def _inputs_of_element(batch: Batch, body: list[Statement], i: Var, named: bool) -> dict[Var, Atom]:
    """What the statements read from outside, as the element has it."""
    substitution: dict[Var, Atom] = {}
    defined = builder.current().definitions
    for v in read_by(body):
        value, axis = batch.value(v)
        let = defined.get(v)
        if axis is not None:
            substitution[v] = _with_type_and_name(batch, element(value, axis, i), v, named)
        elif let is not None and let.op in FRESH and all(isinstance(a, Literal) for a in let.args):
            substitution[v] = let.op(*let.args, **let.params)
        elif value is not v:
            substitution[v] = value
    return substitution


def _with_type_and_name(batch: Batch, a: Any, like: Var, named: bool) -> Any:
    """An element of a batch with the type of the value that it is, and with its name."""
    if isinstance(like.type, Type):
        a.type, a.name = batch.longest(like.type), like.name if named else ""
    return a
