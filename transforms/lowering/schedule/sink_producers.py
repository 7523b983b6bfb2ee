"""Sinks producers: values are made in the loop that reads them, not in the first loop that could
make them.

[for i: y = a * x; t = b * x], [for i: z = y[i + 1] * t]
becomes      [for i: y = a * x], [for i: t = b * x; z = y[i + 1] * t]      and t needs no array
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Let, Statement, Var, outputs
from tapeless.transforms.lowering.schedule.dependences import EFFECTS
from tapeless.transforms.lowering.schedule.fusion import Arrangement, FusedNest
from tapeless.transforms.lowering.schedule.loop_nests import LoopNest
from tapeless.transforms.lowering.schedule.stored_values import part_stored
from tapeless.transforms.lowering.schedule.view_indices import is_view
from tapeless.transforms.ops.primitives.elementwise import conjugate, imag, real
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.shapes import cast, copy

SHORT = 32  # elements: so few are not worth a loop of their own
TRIED = 32  # ways to cut a chain of values in two
PLAIN = frozenset([cast, copy, real, imag, conjugate])


def made_later(
    arrangement: Arrangement, live: Collection[Var], into: Iterable[tuple[Var, Var]]
) -> list[FusedNest]:
    """The items, with less to write and to read again. `live` is read after them, `into` are
    values that may take the memory of a carry, if nothing reads that any more."""
    return LaterReaders(arrangement, live, into).run()


class LaterReaders:
    """`readers` are the statements that need a variable, `place` the items of statements, `number`
    the places of items; `overwritten` the item that may overwrite memory."""

    def __init__(
        self, at: Arrangement, live: Collection[Var], into: Iterable[tuple[Var, Var]]
    ) -> None:
        self.at, self.items, self.memory = at, at.items, at.memory
        self.live = {*live, *self.memory.bases(live)}
        self.readers: dict[Var, list[Statement]] = {}
        self.place: dict[Statement, FusedNest] = {}
        self.known: dict[Statement, set[Any]] = {}  # what `arrays` gives
        for item in self.items:
            for s in item.statements:
                self.place[s] = item
                if isinstance(s, Let) and is_view(s):
                    continue  # it is read through, where something reads it
                for v in self.memory.needs(s):
                    self.readers.setdefault(v, []).append(s)
        self.overwritten = {p: at.made[y] for y, p in into if y in at.made}
        self.count()

    def count(self) -> None:
        self.number = {id(item): k for k, item in enumerate(self.items)}

    def run(self) -> list[FusedNest]:
        if sum(item.size is not None for item in self.items) > 1:
            for item in reversed(list(self.items)):
                while item.size is not None and self.empty(item):
                    pass
                if item.size is not None:
                    self.take_apart(item)
        self.items[:] = [item for item in self.items if item.statements]
        return self.items

    def empty(self, item: FusedNest) -> bool:
        """Moves what nests after this one read to the first of them, with what that is made of, if
        less is read and written then; whether there was any."""
        goals: dict[Statement, tuple[FusedNest, int]] = {}
        for s in reversed(item.statements):
            goal = self.goal(s, item, goals)
            if goal is not None:
                goals[s] = goal
        moved_any = False
        for group in self.groups([s for s in item.statements if s in goals]):
            other = goals[group[0]][0]
            tails = [group[k:] for k in range(0, len(group), 1 + len(group) // TRIED)]
            before, there = Counter(self.reads(item.statements)), set(self.reads(other.statements))
            gains = [self.gain(item, other, tail, before, there) for tail in tails]
            if max(gains) > 0:
                tail = tails[gains.index(max(gains))]
                self.move(tail, item, other, {s: goals[s][1] for s in tail})
                moved_any = True
        return moved_any

    def goal(
        self, s: Statement, item: FusedNest, goals: dict[Statement, tuple[FusedNest, int]]
    ) -> tuple[FusedNest, int] | None:
        """The first nest that reads a statement's value, and the axis that it can run over there;
        None if something here reads it too, or it cannot be made there."""
        stage = self.at.stage(s)
        if stage is None or not self.elementwise(stage, item):
            return None
        readers = self.readers.get(stage.var, [])
        outside = [self.place[t] for t in readers if self.place[t] is not item]
        moved = [goals[t][0] if t in goals else item for t in readers if self.place[t] is item]
        other = min([*outside, *moved], key=lambda place: self.number[id(place)], default=item)
        free = self.at.open_axes(stage)
        if other is item or any(place is not other for place in moved):
            return None
        first, last = self.number[id(item)], self.number[id(other)]
        after = item.statements[item.statements.index(s) + 1 :]
        between = self.items[first + 1 : last + 1]
        if not self.stays(s, after) or not self.computes_the_same(s, between, last):
            return None
        there = [t for t in readers if self.place[t] is other or t in goals]
        if other.rank != len(free) and not self.has_depth(len(free), there):
            return None
        axis = next((k for k in free if self.in_step(stage, k, other, there, goals)), None)
        return None if axis is None else (other, axis)

    def has_depth(self, depth: int, readers: Iterable[Statement]) -> bool:
        """Whether one of the readers, in a nest of more loops, runs over so many axes, too: what it
        reads is computed where it is. A single loop stays one, for vectors."""
        stages = filter(None, map(self.at.stage, readers))
        return depth > 1 and any(len(self.at.open_axes(g)) == depth for g in stages)

    def elementwise(self, stage: LoopNest, item: FusedNest) -> bool:
        plain = stage.let.op.elementwise or stage.let.op in PLAIN
        own = self.memory.cell(stage.var) is stage.var and stage.var not in self.live
        return plain and own and stage in item.axes and not (stage.stores or stage.reduced)

    def is_own(self, stage: LoopNest, item: FusedNest) -> bool:
        """Whether a nest makes a value, or a part of one, and nothing after the program sees it."""
        cell = self.memory.cell(stage.var)
        maker = self.memory.defs.get(cell)
        made_here = isinstance(maker, Let) and (cell is stage.var or maker.op is empty)
        shown = {stage.var, cell} & self.live
        return stage in item.axes and made_here and not shown

    def computes_the_same(self, s: Statement, between: list[FusedNest], last: int) -> bool:
        """Whether a statement does the same after these items, before the one in the last place."""
        reads, writes = self.memory.reads(s), self.memory.writes(s)
        for item in between:
            if EFFECTS in item.writes or not item.writes.isdisjoint(reads | writes):
                return False
            if not item.reads.isdisjoint(writes):
                return False
        return all(
            self.number[id(end)] > last or (self.number[id(end)] == last and self.by_element(s, v))
            for v in reads
            if (end := self.overwritten.get(v)) is not None
        )

    def stays(self, s: Statement, after: list[Statement]) -> bool:
        """Whether a statement does the same after others of its nest."""
        touched = self.memory.reads(s) | self.memory.writes(s)
        return all(
            touched.isdisjoint(self.memory.writes(t))
            and self.memory.writes(s).isdisjoint(self.memory.reads(t))
            for t in after
        )

    def by_element(self, s: Statement, v: Var) -> bool:
        """Whether a statement reads of memory only the element that it makes of its own value."""
        stage = self.at.stage(s)
        return stage is not None and all(
            entry == tuple(stage.out) for entry in self.at.touching(stage, v)
        )

    def in_step(
        self,
        stage: LoopNest,
        axis: int,
        other: FusedNest,
        readers: list[Statement],
        goals: dict[Statement, tuple[FusedNest, int]],
    ) -> bool:
        """Whether a pass of the other nest reads of a value only what the same pass makes."""
        if other.size is None or not self.at.equal(stage.space[axis], other.size):
            return False
        mine = stage.out.index(axis)
        for t in readers:
            reader = self.at.stage(t)
            if reader is None or (t not in goals and reader not in other.axes):
                return False
            along = goals[t][1] if t in goals else other.axes[reader]
            if any(e[mine] != along for e in self.at.reading(reader, stage.var)):
                return False
        return True

    # -- what belongs together

    def groups(self, statements: list[Statement], by_reads: bool = False) -> list[list[Statement]]:
        """Statements that one another's values connect, in order; also those that read the same
        array, if that is asked for."""
        groups: list[tuple[set[Any], list[Statement]]] = []
        for s in statements:
            needs, bases = self.memory.needs(s), self.arrays(s)
            joined = [g for g in groups if not g[0].isdisjoint({*needs, *bases})]
            groups = [g for g in groups if g not in joined]
            names = {*outputs(s), *(bases if by_reads else ())}.union(*(g[0] for g in joined))
            groups.append((names, [t for g in joined for t in g[1]] + [s]))
        order = {s: k for k, s in enumerate(statements)}
        return [sorted(group, key=order.__getitem__) for _, group in groups]

    def take_apart(self, item: FusedNest) -> None:
        """Statements that have nothing to do with the others of a nest get one of their own, just
        before what reads them: until then they would only take memory."""
        lengths = dims.product(next(iter(item.axes)).space) if item.axes else 0
        if isinstance(lengths, int) and lengths < SHORT:
            return
        groups = self.groups(item.statements, by_reads=True)
        for group in groups:
            stages = list(map(self.at.stage, group))
            if len(group) == len(item.statements):
                return
            if not all(g is not None and self.is_own(g, item) for g in stages):
                continue
            readers = [t for s in group for v in outputs(s) for t in self.readers.get(v, ())]
            places = [self.number[id(self.place[t])] for t in readers if self.place[t] is not item]
            k = min(places, default=0)
            between = self.items[self.number[id(item)] + 1 : k]
            far = any(t.size is not None for t in between)
            if far and all(self.computes_the_same(s, between, k) for s in group):
                split_nest = FusedNest([], item.size, item.rank)
                self.items.insert(k, split_nest)
                self.count()
                axes = {g.let: item.axes[g] for g in stages if g is not None}
                self.move(group, item, split_nest, axes)

    # -- what is read and written

    def gain(
        self,
        item: FusedNest,
        other: FusedNest,
        moved: list[Statement],
        before: Counter[Any],
        there: set[Any],
    ) -> int:
        """How many arrays fewer the two nests read and write, if these statements are moved;
        `before` and `there` are what they read now."""
        moved_vars = {v for s in moved for v in s.outs}
        places = {v: {id(self.place[t]) for t in self.readers[v]} - {id(item)} for v in moved_vars}
        read = [len(at) for at in places.values() if id(other) in at]
        mine = Counter(self.reads(moved))
        outer = {self.stored_to(v, item, other) for v in mine if v not in moved_vars}
        inner = {v for v in outer if self.at.made.get(v) is item}
        kept = {v for v in inner if self.is_stored(v, item)}
        dropped = {v for v in outer - inner if before[v] == mine[v]}
        saved = sum(2 if count == 1 else 1 for count in read)
        return saved + len(dropped) - len(outer - there) - len(inner - kept)

    def stored_to(self, v: Any, item: FusedNest, other: FusedNest) -> Any:
        """The memory where another nest can read a value of this one; itself, if there is none."""
        between = self.items[self.number[id(item)] + 1 : self.number[id(other)] + 1]
        if self.at.made.get(v) is not item:
            return v
        part = part_stored(v, item, between, self.memory, self.at.stage)
        return v if part is None else self.memory.base(part.args[0])

    def arrays(self, s: Statement) -> set[Any]:
        bases = self.known.get(s)
        if bases is None:
            bases = self.known[s] = self.memory.bases(self.memory.needs(s)) - {None}
        return bases

    def reads(self, body: Iterable[Statement]) -> Iterator[Any]:
        for s in body:
            yield from self.arrays(s)

    def is_stored(self, v: Var, item: FusedNest) -> bool:
        return v in self.live or any(self.place[t] is not item for t in self.readers[v])

    def move(
        self,
        moved: list[Statement],
        item: FusedNest,
        other: FusedNest,
        along: Mapping[Any, int],
    ) -> None:
        gone = set(moved)
        item.statements = [s for s in item.statements if s not in gone]
        other.statements[:0] = moved
        before, other.axes = other.axes, {}
        for s in moved:
            stage = self.at.stage(s)
            assert stage is not None
            del item.axes[stage]
            item.vars.pop(stage.var, None)
            for cell in self.memory.writes(s):
                item.cells.pop(cell, None)
            self.at.add(other, stage, along[s])
            self.place[s] = self.at.made[stage.var] = other
        other.axes |= before
        for nest in (item, other):
            nest.needs = set().union(*map(self.memory.needs, nest.statements))
            nest.reads = set().union(*map(self.memory.reads, nest.statements))
            nest.writes = set().union(*map(self.memory.writes, nest.statements))
