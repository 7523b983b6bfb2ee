"""Finds loops of the user that run for each row of their arrays by itself.

for t: x = f(x)      becomes      for i: for t: x[i] = f(x[i])

Each row is then read and written while it is at hand, not once a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, For, If, Let, Statement, Var
from tapeless.transforms.lowering.schedule.axis_maps import axes_through_views, steps
from tapeless.transforms.lowering.schedule.dependences import Dependences, is_array
from tapeless.transforms.lowering.schedule.loop_nests import Axes, Equal, LoopNest
from tapeless.transforms.lowering.schedule.view_indices import is_view


class Unspread(Exception):  # noqa: N818 (a result, not an error)
    """Rows are not independent."""


class Spread:
    """Which axis of each value runs over the rows. `vars` and `cells` say it of what a nest holds;
    both grow."""

    def __init__(
        self,
        memory: Dependences,
        equal: Equal,
        stage: Callable[[Statement], LoopNest | None],
        size: Size,
        with_rows: dict[Var, int],
        cells: dict[Var, int],
    ) -> None:
        self.memory, self.equal, self.stage = memory, equal, stage
        self.size, self.vars, self.cells = size, dict(with_rows), dict(cells)
        self.axes: dict[LoopNest, int] = {}

    def loop(self, s: For, first: Callable[[Var], int | None]) -> bool:
        """Whether the loop can be spread; `first` is the outermost axis of a variable."""
        try:
            self.for_(s, first)
            self.for_(s, first)  # again, with all memory known
        except Unspread:
            return False
        return bool(self.axes)

    def goes_across(self, s: For) -> bool:
        """Whether all that a loop carries are arrays of several axes, whose elements for one row
        are apart in memory: y[t, i] for all t. The loop is then better left outside."""
        arrays = [p for p in s.carries if is_array(p)]
        cells = [self.memory.cell(p) for p in arrays]
        return bool(arrays) and all(
            cell is not p and cell.type.ndim > 1 and self.cells.get(cell) == cell.type.ndim - 1
            for p, cell in zip(arrays, cells, strict=True)
        )

    def for_(self, s: For, first: Callable[[Var], int | None]) -> None:
        for k, (p, init, out) in enumerate(zip(s.carries, s.inits, s.outs, strict=True)):
            if not is_array(p) or self.memory.in_place(s, k):
                continue
            axis = self.axis_of(init) if isinstance(init, Var) else None
            axis = first(p) if axis is None else axis
            if axis is None or not self.equal(p.type.shape[axis], self.size):
                raise Unspread
            self.vars[p] = self.vars[out] = axis
        self.body(s.body.body, first)
        for k, (p, y) in enumerate(zip(s.carries, s.yields, strict=True)):
            if p in self.vars and not self.memory.in_place(s, k):
                self.same_axis(y, self.vars[p])

    def body(self, body: Iterable[Statement], first: Callable[[Var], int | None]) -> None:
        for s in body:
            match s:
                case Let() if is_view(s):
                    pass
                case Let():
                    stage = self.stage(s)
                    if stage is None or not s.op.pure:
                        raise Unspread
                    if s not in self.memory.inline:
                        self.place(stage)
                case For():
                    self.for_(s, first)
                case If():
                    self.branch(s, first)
                case _:
                    raise Unspread

    def branch(self, s: If, first: Callable[[Var], int | None]) -> None:
        for side in (s.then, s.orelse):
            self.body(side.body, first)
        for v, a, b in zip(s.outs, s.then.results, s.orelse.results, strict=True):
            if not is_array(v) or self.memory.cell(v) is not v:
                continue
            axis = self.axis_of(a)
            axis = self.axis_of(b) if axis is None else axis
            if axis is None:
                raise Unspread
            self.same_axis(a, axis)
            self.same_axis(b, axis)
            self.vars[v] = axis

    def axis_of(self, a: Atom) -> int | None:
        """The axis of a value that runs over the rows, if that is known."""
        axis = next(self.row_axes(a, tuple(range(a.type.ndim))), None)
        if isinstance(axis, tuple):
            raise Unspread  # from another row on: x[1:]
        return axis

    def row_axes(self, a: Atom, axes: Axes) -> Iterator[Any]:
        """The axes that run over the rows in what is read where `a` is read at `axes`."""
        for x, at in steps(self.memory, a, axes):
            for v in dict.fromkeys((x, self.memory.cell(x))):
                yield from (at[held[v]] for held in (self.vars, self.cells) if v in held)

    def same_axis(self, a: Atom, axis: int) -> None:
        row_axis = self.axis_of(a)
        if row_axis is not None and row_axis != axis:
            raise Unspread
        if row_axis is None and not self.equal(a.type.shape[axis], self.size):
            raise Unspread

    def place(self, stage: LoopNest) -> None:
        row_axes: set[Any] = set()
        for k, (a, axes) in enumerate(zip(stage.let.args, stage.maps, strict=False)):
            if not is_array(a):
                continue
            if k == 0 and stage.stores:
                continue
            at = stage.entries_axes() if axes is None else axes
            row_axes.update(self.row_axes(a, at))
        cell = self.memory.base(stage.let.args[0]) if stage.stores else None
        with_rows = self.vars | self.cells
        if cell in with_rows and cell is not None:
            row_axes |= {e[with_rows[cell]] for e in self.target(stage, cell)}
        if not row_axes and not stage.space and cell is None:
            return  # a number that is the same for all rows
        if not row_axes and stage.space and self.equal(stage.space[0], self.size):
            row_axes = {0}
        if len(row_axes) != 1:
            raise Unspread
        (axis,) = row_axes
        if not isinstance(axis, int):
            raise Unspread  # one row, or rows from another one on: x[1:]
        if axis in stage.reduced or not self.equal(stage.space[axis], self.size):
            raise Unspread  # a sum over the rows, or a part of them: x[:-1]
        self.axes[stage] = axis
        if cell is not None:
            for entries in self.target(stage, cell):
                if axis not in entries:
                    raise Unspread
                self.cells.setdefault(cell, entries.index(axis))
        elif axis in stage.out:
            self.vars[stage.var] = stage.out.index(axis)
        else:
            raise Unspread

    def target(self, stage: LoopNest, cell: Var) -> list[tuple[Any, ...]]:
        return axes_through_views(self.memory, stage.let.args[0], stage.entries_axes(), cell)
