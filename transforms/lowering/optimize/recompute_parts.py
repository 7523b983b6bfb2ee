"""Computes cheap values again at each place where a part of them is read, instead of keeping them.

d = x[1:] - x[:-1]; y = d[1:] - d[:-1]
    becomes      y = (x[2:] - x[1:-1]) - (x[1:-1] - x[:-2])

A chain of stencils is one nest of loops then, with no array between its steps. The numbers are the
same, as each element is computed by the same operations. It is done where a model of the cost says
that the additional arithmetic takes less than the loads and stores that are saved, and where the
memory that the values are made of is not overwritten before their parts are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Statement,
    Type,
    Var,
    operands,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.uses import nested_reads
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.schedule.dependences import Dependences, size_of_atom
from tapeless.transforms.lowering.schedule.loop_nests import takes_long
from tapeless.transforms.lowering.sizes.size_equalities import fitted
from tapeless.transforms.ops.primitives.arithmetic import truediv
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index
from tapeless.transforms.optimize.dead_code import dead_code

STORE, LOAD, ARITHMETIC, QUOTIENT = 6.0, 1.0, 0.35, 3.0  # costs of one element
FEWEST = 1024  # elements of a value; smaller ones stay in the fastest cache
MOST = 96  # operations that the parts of one block are computed by


@dataclass(frozen=True)
class Slicing:
    """What a view takes of an array: for each axis a slice of step one, and how long it is."""

    slices: tuple[slice, ...]
    rest: tuple[Atom, ...]
    starts: tuple[Size, ...]
    shape: tuple[Size, ...]

    def of_operand(self, whole: tuple[Size, ...], operand: tuple[Size, ...]) -> Slicing:
        """The same of an operand that is broadcast to the array."""
        lead = len(whole) - len(operand)
        pairs = list(zip(whole[lead:], operand, strict=True))
        stretched = [own == 1 and n != 1 for n, own in pairs]

        def select_axes(own: Any, others: tuple[Any, ...]) -> tuple[Any, ...]:
            items = zip(stretched, others[lead:], strict=True)
            return tuple(own if is_stretched else item for is_stretched, item in items)

        return Slicing(
            select_axes(slice(None), self.slices),
            self.rest,
            select_axes(0, self.starts),
            select_axes(1, self.shape),
        )

    @property
    def is_whole(self) -> bool:
        return all(s == slice(None) for s in self.slices)


def recompute_parts(block: Block, hints: Mapping[dims.Symbol, int]) -> Block:
    """The block; `hints` are sizes of the call that it is made for."""
    views = (s for s in statements(block) if isinstance(s, Let) and s.op is index)
    if not any(s.outs[0].type.shape for s in views):
        return block
    memory = Dependences()
    memory.learn(block)
    recomputed = _block(block, memory, hints)
    return recomputed if recomputed is block else dead_code(recomputed)


def _block(block: Block, memory: Dependences, hints: Mapping[dims.Symbol, int]) -> Block:
    body = tuple(with_blocks(s, lambda b: _block(b, memory, hints)) for s in block.body)
    changed = any(s is not t for s, t in zip(body, block.body, strict=True))
    block = replace(block, body=body) if changed else block
    values = _Values(block, memory, hints)
    chosen = values.recomputed_values()
    return replace(block, body=tuple(values.rewritten(chosen))) if chosen else block


def slicing(s: Statement, memory: Dependences) -> Slicing | None:
    """What a statement takes of an array, if it is a slice of step one along each axis."""
    if not isinstance(s, Let) or s.op is not index or not s.outs[0].type.shape:
        return None
    key, rest, have = s.params["key"], s.args[1:], s.args[0].type.shape
    if not all(isinstance(e, slice) and e.step in (None, 1) for e in key):
        return None
    slices = (*key, *(slice(None),) * (len(have) - len(key)))
    starts = []
    for e, n in zip(slices, have, strict=True):
        start = e.start
        if isinstance(start, Slot):
            starts.append(size_of_atom(memory, rest[start.k]))
        else:
            starts.append(0 if start is None else start if start >= 0 else n + start)
    return Slicing(slices, rest, tuple(starts), s.outs[0].type.shape)


@dataclass
class Cost:
    """What computing parts takes: the elements that are loaded, by array, place and shape, and the
    operations."""

    loads: set[Any] = field(default_factory=set)
    operations: dict[Any, float] = field(default_factory=dict)


class _Values:
    """The statements of a block that make arrays of elements, and which of them may be recomputed:
    `sliced` are those of which parts are read, each with the elementwise operations it is made by
    that nothing else needs."""

    def __init__(self, block: Block, memory: Dependences, hints: Mapping[dims.Symbol, int]) -> None:
        self.block, self.memory, self.hints = block, memory, hints
        self.place: dict[Any, int] = {}
        self.defs: dict[Any, Statement] = {}
        self.readers: dict[Var, list[Statement]] = {}
        for k, s in enumerate(block.body):
            for v in outputs(s):
                self.place[v], self.defs[v] = k, s
            for v in dict.fromkeys(nested_reads(s)):
                self.readers.setdefault(v, []).append(s)
        self.results = {a for a in block.results if isinstance(a, Var)}
        self.slicings = {s: view for s in block.body if (view := slicing(s, memory)) is not None}
        self.open: dict[Var, bool] = {}
        self.sliced = [s for s in block.body if self.is_sliced(s)]

    def is_sliced(self, s: Statement) -> bool:
        """Whether only slices of a value are read, and of values that are made by it alone."""
        if not isinstance(s, Let) or not self.is_open(s):
            return False
        return any(t in self.slicings for t in self.readers.get(s.outs[0], ()))

    def is_open(self, s: Statement) -> bool:
        """Whether nothing reads all of a value but what may be recomputed itself."""
        if not _cheap(s):
            return False
        (v,) = s.outs
        if v not in self.open:
            readers = self.readers.get(v, [])
            self.open[v] = (
                bool(readers) and v not in self.results and all(map(self.reads_in_step, readers))
            )
        return self.open[v] and self.is_large(v.type)

    def reads_in_step(self, s: Statement) -> bool:
        if s in self.slicings:
            return True
        if not isinstance(s, Let):
            return False
        return self.is_open(s)

    def is_large(self, kind: Type) -> bool:
        elements = dims.evaluate(dims.product(kind.shape), self.hints)
        return elements is not None and elements >= FEWEST

    # -- what pays

    def recomputed_values(self) -> set[Var]:
        """The values that are recomputed: each that makes the rest cheaper."""
        chosen: set[Var] = set()
        if not self.sliced:
            return chosen
        best = self.cost(chosen)
        for s in reversed(self.sliced):
            trial = chosen | {s.outs[0]}
            if not self.holds(trial):
                continue
            cost = self.cost(trial)
            if cost < best:
                best, chosen = cost, trial
        everything = {s.outs[0] for s in self.sliced}
        if chosen != everything and self.holds(everything) and self.cost(everything) < best:
            return everything
        return chosen

    def cost(self, chosen: set[Var]) -> float:
        """What the values and their parts take for each element, if those are recomputed."""
        cost = Cost()
        stored = [s.outs[0] for s in self.sliced if s.outs[0] not in chosen]
        for v in stored:
            self.count(v, (), v.type.shape, chosen | {v}, cost, v)
        for s, view in self.slicings.items():
            assert isinstance(s, Let)
            base = self.base(s.args[0])
            if base in self.sliced_values and not self.is_inner(s):
                self.count(s.args[0], (view,), view.shape, chosen, cost, view.shape)
        operations = cost.operations.values()
        if sum(1 for _ in operations) > MOST and chosen:
            return float("inf")
        return STORE * len(stored) + LOAD * len(cost.loads) + sum(operations)

    @property
    def sliced_values(self) -> set[Any]:
        return {s.outs[0] for s in self.sliced}

    def is_inner(self, s: Statement) -> bool:
        """Whether a view is read by values only that are counted where their own parts are."""
        readers = self.readers.get(outputs(s)[0], [])
        return bool(readers) and all(self.is_open(t) for t in readers)

    def base(self, a: Atom) -> Any:
        s = self.defs.get(a)
        return self.base(s.args[0]) if isinstance(s, Let) and s.op is fitted else a

    def count(
        self,
        a: Atom,
        views: tuple[Slicing, ...],
        shape: Any,
        chosen: set[Var],
        cost: Cost,
        nest: Any,
    ) -> None:
        """Counts what one part takes; the parts of a nest of one shape are loaded once."""
        s = self.defs.get(a)
        if isinstance(s, Let) and s.op is fitted:
            self.count(s.args[0], views, shape, chosen, cost, nest)
        elif s in self.slicings:
            assert isinstance(s, Let)
            self.count(s.args[0], (self.slicings[s], *views), shape, chosen, cost, nest)
        elif isinstance(s, Let) and self.is_recomputed(s, chosen):
            key = (a, _starts(views), nest)
            if key not in cost.operations:
                cost.operations[key] = QUOTIENT if s.op is truediv else ARITHMETIC
                for b in s.args:
                    if b.type.shape:
                        inner = tuple(_of_operands(views, s.outs[0].type.shape, b.type.shape))
                        self.count(b, inner, shape, chosen, cost, nest)
        else:
            cost.loads.add((a, _starts(views), nest))

    def is_recomputed(self, s: Let, chosen: set[Var]) -> bool:
        """Whether a value is made where it is read: it is chosen, or no part of it is read."""
        return self.is_open(s) and (s.outs[0] in chosen or s not in self.sliced)

    # -- what may be

    def holds(self, chosen: set[Var]) -> bool:
        """Whether what the chosen values are made of is as it was where their parts are read."""
        for v in chosen:
            leaves: set[Any] = set()
            self.leaves(v, chosen, leaves)
            last = max(self.last_read(v), self.place[v])
            bases = self.memory.bases(leaves) - {None}
            first = min([self.place[v], *(self.place[u] for u in self.made_by(v))])
            for s in self.block.body[first:last]:
                if not bases.isdisjoint(self.memory.writes(s)):
                    return False
        return True

    def made_by(self, v: Var) -> Iterator[Var]:
        """The values that a value is made of in its own block, without their parts."""
        s = self.defs.get(v)
        if isinstance(s, Let) and (self.is_open(s) or s in self.slicings or s.op is fitted):
            yield v
            for a in s.args:
                if isinstance(a, Var) and a in self.defs:
                    yield from self.made_by(a)

    def leaves(self, a: Any, chosen: set[Var], leaves: set[Any]) -> None:
        s = self.defs.get(a)
        if isinstance(s, Let) and (s in self.slicings or s.op is fitted or self.is_open(s)):
            for b in s.args:
                if isinstance(b, Var):
                    self.leaves(b, chosen, leaves)
        elif isinstance(a, Var):
            leaves.add(a)

    def last_read(self, v: Var) -> int:
        """The place of the last slice of a value, or of what is made of it."""
        places = [0]
        for s in self.readers.get(v, ()):
            if s in self.slicings or self.is_open(s):
                places += [self.place[outputs(s)[0]], self.last_read(outputs(s)[0])]
        return max(places)

    # -- the parts

    def rewritten(self, chosen: set[Var]) -> Iterator[Statement]:
        parts: dict[Any, Atom] = {}
        for s in self.block.body:
            view = self.slicings.get(s)
            if view is None or not isinstance(s, Let) or self.base(s.args[0]) not in chosen:
                yield s
                continue
            body: list[Statement] = []
            value = self.part(s.args[0], (view,), view.shape, chosen, parts, body)
            last = body[-1] if body else None
            if isinstance(last, Let) and last.outs[0] is value:
                body[-1] = replace(last, outs=s.outs)
                parts |= {k: s.outs[0] for k, v in parts.items() if v is value}
            else:
                body.append(replace(s, op=fitted, args=(value,), params={"shape": view.shape}))
            yield from body

    def part(
        self,
        a: Atom,
        views: tuple[Slicing, ...],
        shape: tuple[Size, ...],
        chosen: set[Var],
        parts: dict[Any, Atom],
        body: list[Statement],
    ) -> Atom:
        """What some views take of a value, one after the other."""
        s = self.defs.get(a)
        if not views or not a.type.shape:
            return a
        if isinstance(s, Let) and s.op is fitted:
            return self.part(s.args[0], views, shape, chosen, parts, body)
        if s in self.slicings:
            assert isinstance(s, Let)
            inner = (self.slicings[s], *views)
            return self.part(s.args[0], inner, shape, chosen, parts, body)
        key = (a, _starts(views), shape)
        if key in parts:
            return parts[key]
        if isinstance(s, Let) and self.is_recomputed(s, chosen):
            args = []
            for b in s.args:
                sliced = tuple(_of_operands(views, s.outs[0].type.shape, b.type.shape))
                inner_shape = sliced[-1].shape if b.type.shape else ()
                args.append(self.part(b, sliced, inner_shape, chosen, parts, body))
            out = Var(Type(s.outs[0].type.dtype, shape), s.outs[0].name)
            body.append(replace(s, outs=(out,), args=tuple(args)))
        else:
            out = self.views_of_stored(a, views, s, body)
        parts[key] = out
        return out

    def views_of_stored(
        self, a: Atom, views: tuple[Slicing, ...], like: Statement | None, body: list[Statement]
    ) -> Any:
        """The views of an array that is in memory."""
        for view in views:
            if not view.is_whole:
                out = Var(Type(a.type.dtype, view.shape))
                body.append(Let((out,), index, (a, *view.rest), {"key": view.slices}))
                a = out
        return a


def _cheap(s: Statement) -> bool:
    """Whether a statement makes an array of elements by an operation that takes no longer than a
    load or two, and cannot fail."""
    if not isinstance(s, Let) or not s.op.elementwise or len(s.outs) > 1 or not s.op.pure:
        return False
    kind = s.outs[0].type
    if not isinstance(kind, Type) or not kind.shape or s.op.scalar is None or s.op.math_errors:
        return False
    return not takes_long(s) and all(isinstance(a.type, Type) for a in operands(s))


def _starts(views: tuple[Slicing, ...]) -> tuple[Any, ...]:
    """Where some views begin, taken one after the other. Integers of the program may be negative:
    they do not add up."""
    columns = zip(*(view.starts for view in views), strict=True)
    return tuple(sum(c) if all(isinstance(n, int) for n in c) else c for c in columns)


def _of_operands(
    views: tuple[Slicing, ...], whole: tuple[Size, ...], operand: tuple[Size, ...]
) -> Iterator[Slicing]:
    """The views of an operand of an operation of which these are the views."""
    for view in views:
        sliced = view.of_operand(whole, operand)
        yield sliced
        whole, operand = view.shape, sliced.shape
