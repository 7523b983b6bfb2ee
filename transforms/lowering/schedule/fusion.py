"""Fuses loops: finds the statements that run over one axis in step.

t = x * x; s = sum(t); y = t / s      becomes      [for i: t, s += t], [for i: y]
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import field
from typing import Any

from tapeless.transforms.core.dims import Size, symbols
from tapeless.transforms.core.language import For, Let, Statement, Var, outputs, statements
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.schedule.axis_maps import axes_through_views, axis_of_entry
from tapeless.transforms.lowering.schedule.dependences import Dependences, is_array
from tapeless.transforms.lowering.schedule.loop_nests import Equal, LoopNest
from tapeless.transforms.lowering.schedule.row_loops import Spread
from tapeless.transforms.lowering.schedule.view_indices import is_view
from tapeless.transforms.ops.primitives.shapes import cast
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at
from tapeless.transforms.optimize.algebra.facts import as_written


@dataclass(eq=False)
class FusedNest:
    """A statement by itself, or stages that share a loop of this size, each with its axis."""

    statements: list[Statement]
    size: Size | None = None
    rank: int = 0
    axes: dict[LoopNest, int] = field(default_factory=dict)
    vars: dict[Var, int] = field(
        default_factory=dict
    )  # the axis of what it makes that it runs over
    cells: dict[Var, int] = field(default_factory=dict)  # the same of memory that it stores to
    needs: set[Var] = field(default_factory=set)
    reads: set[Any] = field(default_factory=set)
    writes: set[Any] = field(default_factory=set)


class Arrangement:
    """`stage` gives the loops of a statement, `open_axes` its axes that have no loop yet; `used`
    says whether anything reads a variable, `called` whether a call does what the loops would."""

    def __init__(
        self,
        memory: Dependences,
        equal: Equal,
        stage: Callable[[Statement], LoopNest | None],
        open_axes: Callable[[LoopNest], list[int]],
        bound_axes: Callable[[Var], Collection[int]],
        used: Callable[[Var], bool] = lambda v: False,
        called: Callable[[LoopNest], bool] = lambda stage: False,
        rank: int = 2,
    ) -> None:
        self.memory, self.equal, self.stage, self.open_axes = memory, equal, stage, open_axes
        self.bound_axes, self.used, self.called = bound_axes, used, called
        self.rank = rank  # axes from which on loops of the user run row by row
        self.items: list[FusedNest] = []
        self.made: dict[Var, FusedNest] = {}
        self.touched_by: dict[Any, list[FusedNest]] = {}  # by memory

    def run(self, body: Iterable[Statement]) -> list[FusedNest]:
        for s in body:
            item = self.place(s)
            item.statements.append(s)
            reads, writes = self.memory.reads(s), self.memory.writes(s)
            for cell in (reads | writes) - (item.reads | item.writes):
                self.touched_by.setdefault(cell, []).append(item)
            item.needs |= self.memory.needs(s)
            item.reads |= reads
            item.writes |= writes
            for v in outputs(s):
                self.made[v] = item
        return self.items

    def place(self, s: Statement) -> FusedNest:
        """The item that the statement goes to; a new one if need be."""
        stage = self.stage(s)
        free = self.open_axes(stage) if stage is not None else []
        low = self.lowest(s)
        if isinstance(s, For):
            return self.loop(s, low)
        if stage is None or not free or self.called(stage):
            return self.insert(FusedNest([]), low, self.is_light(s))
        joined = self.join(stage, free, low)
        if joined is not None:
            return joined
        axis = free[0]
        nest = FusedNest([], stage.space[axis], len(free))
        self.add(nest, stage, axis)
        return self.insert(nest, low)

    def insert(self, item: FusedNest, low: int, light: bool = False) -> FusedNest:
        """Smaller things go before the nests that do not need to come first: what is made of both
        can then join those. Light ones also go before what stands between them and such nests."""
        k = len(self.items)
        while k > low + 1 and self.items[k - 1].rank > item.rank:
            k -= 1
        if light:
            larger = (j for j in range(low + 1, k) if self.items[j].rank > item.rank)
            k = next(larger, k)
        self.items.insert(k, item)
        return item

    def is_light(self, s: Statement) -> bool:
        """Whether it makes a number of numbers, and cannot fail."""
        if not isinstance(s, Let) or any(is_array(v) for v in (*s.args, *s.outs)):
            return False
        if s.op is size_value:
            return all(x.given for x in symbols(s.params["size"]))
        if not (s.op.elementwise or s.op is cast):
            return False
        (v,) = s.outs
        return v.type.dtype.kind in "fc" and not v.type.weak

    def lowest(self, s: Statement) -> int:
        """The place of the last item that has to come first, -1 if none has."""
        reads, writes, needs = self.memory.reads(s), self.memory.writes(s), self.memory.needs(s)
        before = {self.made[v] for v in needs if v in self.made}
        touching = {item for cell in reads | writes for item in self.touched_by.get(cell, ())}
        for item in touching - before:
            if reads & item.writes or writes & (item.reads | item.writes):
                before.add(item)
        places = range(len(self.items) - 1, -1, -1)
        return next((k for k in places if self.items[k] in before), -1)

    def join(self, stage: LoopNest, free: list[int], low: int) -> FusedNest | None:
        for item in self.items[max(low, 0) :]:
            axis = self.shared_axis(stage, free, item)
            if axis is not None:
                self.add(item, stage, axis)
                return item
        return self.join_later(stage, free, low) if stage.stores else None

    def join_later(self, stage: LoopNest, free: list[int], low: int) -> FusedNest | None:
        """A nest that makes what is stored, and can wait for what has to come first.

        v = f(x); y = copy(x); y[1:-1] = v      becomes      y = copy(x); y[1:-1] = f(x)
        """
        needs = self.memory.needs(stage.let)
        for k, item in enumerate(self.items[: max(low, 0)]):
            axis = self.shared_axis(stage, free, item)
            if axis is None or not any(self.made.get(v) is item for v in needs):
                continue
            if all(self.are_independent(item, other) for other in self.items[k + 1 : low + 1]):
                self.items.insert(low, self.items.pop(k))
                self.add(item, stage, axis)
                return item
        return None

    def are_independent(self, item: FusedNest, later: FusedNest) -> bool:
        """Whether a nest may change places with one that comes later."""
        touched = later.reads & item.writes or later.writes & (item.reads | item.writes)
        return not touched and not any(self.made.get(v) is item for v in later.needs)

    def shared_axis(self, stage: LoopNest, free: list[int], item: FusedNest) -> int | None:
        """The axis along which a statement can share the loop of a nest; None if none is."""
        if item.size is None:
            return None
        s = stage.let
        reads, writes, needs = self.memory.reads(s), self.memory.writes(s), self.memory.needs(s)
        inside = {v for v in needs if self.made.get(v) is item}
        if item.rank != len(free) and (not inside or item.rank == 1):
            return None  # an innermost loop stays one, for vectors
        added = self.commuting_memory(item, s)
        reads, writes = reads - added, writes - added
        touched = reads & item.writes or writes & (item.reads | item.writes)
        for axis in free if inside and len(free) <= item.rank else free[:1]:
            if (
                self.equal(stage.space[axis], item.size)
                and self.in_step(stage, axis, item, inside)
                and (not touched or self.touches_other_elements(stage, axis, item, reads, writes))
            ):
                return axis
        return None

    def add(self, item: FusedNest, stage: LoopNest, axis: int) -> None:
        item.axes[stage] = axis
        if stage.stores:
            cell = self.memory.base(stage.let.args[0])
            for entries in axes_through_views(
                self.memory, stage.let.args[0], stage.entries_axes(), cell
            ):
                if cell is not None and axis in entries:
                    item.cells.setdefault(cell, entries.index(axis))
        elif axis in stage.out:
            item.vars[stage.var] = stage.out.index(axis)

    # -- loops of the user

    def loop(self, s: For, low: int) -> FusedNest:
        """The nest that a loop joins, or a new one, if it can run for each row by itself."""
        writes = self.memory.writes(s)
        free = {
            p: self.free(p)
            for k, p in enumerate(s.carries)
            if is_array(p) and (self.memory.base(p) in writes or not self.memory.in_place(s, k))
        }
        if not free or any(len(axes) < self.rank for axes in free.values()):
            return self.insert(FusedNest([]), low)
        rank = max(map(len, free.values()))
        for item in self.items[max(low, 0) :]:
            if item.size is not None and self.can_share_rows(s, item):
                item.rank = max(item.rank, rank)
                return item
        first, axes = next(iter(free.items()))
        nest = FusedNest([], first.type.shape[axes[0]], rank)
        return self.insert(nest if self.can_share_rows(s, nest) else FusedNest([]), low)

    def free(self, v: Var) -> list[int]:
        bound = self.bound_axes(v)
        return [k for k, n in enumerate(v.type.shape) if k not in bound and n != 1]

    def can_share_rows(self, s: For, item: FusedNest) -> bool:
        assert item.size is not None
        if any(g is not None and self.called(g) for g in map(self.stage, statements(s.body))):
            return False
        defined = {v for t in item.statements for v in outputs(t)}
        needs = self.memory.needs(s)
        if any(v in defined and v not in item.vars and self.memory.base(v) is v for v in needs):
            return False  # a sum over the rows, or a number
        if any(self.used(v) for v in outputs(s) if not getattr(v.type, "shape", True)):
            return False  # a number that each row would have by itself
        run = Spread(self.memory, self.equal, self.stage, item.size, item.vars, item.cells)
        reads, writes = self.memory.reads(s), self.memory.writes(s)
        shared = (reads & item.writes) | (writes & (item.reads | item.writes))
        if not shared <= set(item.cells):
            return False
        if not run.loop(s, lambda v: next(iter(self.free(v)), None)):
            return False
        if any(axis not in self.open_axes(stage) for stage, axis in run.axes.items()):
            return False  # a loop around runs over that axis, which is as long
        if run.goes_across(s):
            return False
        item.axes |= run.axes
        item.vars, item.cells = run.vars, run.cells
        return True

    def in_step(self, stage: LoopNest, axis: int, item: FusedNest, inside: set[Var]) -> bool:
        """Whether the stage reads of what the item makes only what its own pass makes."""
        for v in inside:
            if self.memory.cell(v) is not v or self.is_view(v):
                continue
            mine = item.vars.get(v)
            if mine is None or any(e[mine : mine + 1] != (axis,) for e in self.reading(stage, v)):
                return False  # an element of all passes has no such axis
        return True

    def is_view(self, v: Var) -> bool:
        s = self.memory.defs[v]
        return isinstance(s, Let) and is_view(s)

    def touches_other_elements(
        self,
        stage: LoopNest,
        axis: int,
        item: FusedNest,
        reads: frozenset[Any],
        writes: frozenset[Any],
    ) -> bool:
        """Whether different passes touch different elements of the memory that is overwritten."""
        shared = (reads & item.writes) | (writes & (item.reads | item.writes))
        for cell in shared:
            if not isinstance(cell, Var):
                return False
            patterns = [
                [(runs(e, at), e) for e in entries]
                for other, at in [*item.axes.items(), (stage, axis)]
                for entries in self.touching(other, cell)
            ]
            if not any(map(_in_step, zip(*patterns, strict=True))):
                return False
        return True

    def commuting_memory(self, item: FusedNest, s: Let) -> set[Any]:
        """Memory to which a nest and a statement only add, in whatever order."""
        if s.op is not add_at or as_written.get():
            return set()
        cells = self.memory.writes(s) & item.writes
        return {c for c in cells if all(self.only_adds(t, c) for t in (*item.statements, s))}

    def only_adds(self, s: Statement, cell: Var) -> bool:
        """Whether a statement leaves memory alone, or only adds to it: additions commute."""
        if cell not in self.memory.reads(s) | self.memory.writes(s):
            return True
        if not (isinstance(s, Let) and s.op is add_at):
            return False
        target, *others = s.args
        return self.memory.base(target) is cell and all(
            self.memory.base(a) is not cell for a in others
        )

    # -- which elements a stage reads: for each axis of a variable an axis of the space, or None

    def reading(self, stage: LoopNest, v: Var) -> list[tuple[Any, ...]]:
        elements = []
        for a, axes in zip(stage.let.args, stage.maps, strict=False):
            if isinstance(a, Var):
                elements += axes_through_views(
                    self.memory, a, self.picked_axes(stage) if axes is None else axes, v
                )
        return elements

    def picked_axes(self, stage: LoopNest) -> tuple[Any, ...]:
        """Along which axes of the space the part runs that a stage picks or stores to."""
        first = 2 if stage.stores and len(stage.maps) > 2 else 1
        space = tuple(range(len(stage.space)))
        return tuple(
            axis_of_entry(e, space, stage.let.args[first:], self.memory) for e in stage.entries
        )

    def touching(self, stage: LoopNest, cell: Var) -> list[tuple[Any, ...]]:
        """The elements of a cell that the stage reads or stores into."""
        elements = []
        for a, axes in zip(stage.let.args, stage.maps, strict=False):
            if is_array(a):
                elements += axes_through_views(
                    self.memory, a, self.picked_axes(stage) if axes is None else axes, cell
                )
        return elements


def runs(e: Any, axis: int) -> bool:
    """Whether an axis is read along an axis of the space, from anywhere."""
    return bool(e == axis if not isinstance(e, tuple) else e[0] == axis)


def _in_step(column: Iterable[tuple[bool, Any]]) -> bool:
    """Whether all go along the axis of their loops, and from the same element."""
    column = list(column)
    starts = {e[1:] if isinstance(e, tuple) else None for _, e in column}
    return all(along for along, _ in column) and len(starts) == 1
