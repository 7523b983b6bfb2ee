"""Reuses memory: of what a loop carries on, of the rows of a nest, and of arrays that nobody reads
any more.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from typing import Any

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import For, Let, Statement, Var, While
from tapeless.transforms.lowering.kernels.element_access import Buffer
from tapeless.transforms.lowering.kernels.matrix_products import Products
from tapeless.transforms.lowering.schedule.axis_maps import axes_through_views
from tapeless.transforms.lowering.schedule.fusion import FusedNest
from tapeless.transforms.lowering.schedule.loop_nests import LoopNest
from tapeless.transforms.memory.aliasing import has_memory


class Reuse(Products):
    """`into` are values that are written to the memory of a carry; `becomes` what a loop begins
    with, made in the memory of its carry; `spare` are arrays that nobody reads any more; `level` is
    how many blocks are around, `level_of` where arrays begin that are stored to, `held` what was
    made in the open block and may become spare, `needed` what was not read for the last time when
    that was last asked; it is looked at when memory is wanted, or the block ends."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.into: dict[Var, Var] = {}
        self.becomes: dict[Any, Var] = {}
        self.uses: dict[Var, int] = {}
        self.live: set[Var] = set()
        self.spare: dict[Any, list[Buffer]] = {}
        self.level = 0
        self.level_of: dict[Var, int] = {}
        self.held: list[Var] = []
        self.needed: Collection[Any] | None = None
        self.names_in: dict[int, tuple[ast.expr, frozenset[str]]] = {}

    # -- memory that nobody reads any more

    def allocate(self, v: Var, axes: tuple[int, ...], own: Var | None = None) -> Buffer:
        self.make_spare()
        known_before = all(self.analysis.is_known_outside(v.type.shape[k]) for k in axes)
        here = self.level_of.get(v, self.level) == self.level
        if own is None and here and known_before and self.may_share():
            spares = self.spare.get(self.kind(v, axes))
            if spares:
                spare = spares.pop()
                return Buffer(spare.name, axes, spare.one)
        return super().allocate(v, axes, own)

    def may_share(self) -> bool:
        """Whether what is written here is done by one thread after the other."""
        return True

    def kind(self, v: Var, axes: tuple[int, ...]) -> tuple[Any, ...]:
        """Arrays that can take one another's place: also by what they are called."""
        shape = tuple(self.canon(self.analysis.driver_size(v.type.shape[k])) for k in axes)
        return v.name or "out", v.type.dtype, shape

    def begin_block(self, body: Iterable[Statement]) -> list[Var]:
        """Notes what the block makes that is stored to later; returns what was held before."""
        self.make_spare()
        before, self.held = self.held, []
        self.level += 1
        for s in body:
            if isinstance(s, Let) and s.outs[0] in self.analysis.unset:
                self.level_of[s.outs[0]] = self.level
                self.held.append(s.outs[0])
        return before

    def end_block(self, before: list[Var]) -> None:
        self.make_spare()
        self.held = before
        self.level -= 1

    def release(self, needed: Collection[Any]) -> None:
        """Notes that nothing else is needed any more of what was made in this block."""
        if self.may_share():
            self.needed = needed

    def make_spare(self) -> None:
        """Makes memory spare that nothing needs any more."""
        if self.needed is None:
            return
        unneeded = [v for v in self.held if v in self.home and v not in self.needed]
        self.needed = None
        if not unneeded:
            return
        names = self.spelled_names()
        for v in unneeded:
            home = self.home[v]
            if home.name not in names:
                self.held.remove(v)
                self.spare.setdefault(self.kind(v, home.axes), []).append(home)

    def spelled_names(self) -> set[str]:
        """What is read by numbers that are written where they are used."""
        names: set[str] = set()
        for e in self.local.values():
            if not isinstance(e, ast.Name | ast.Constant):
                names |= self.names_of(e)
        return names

    def names_of(self, e: ast.expr) -> frozenset[str]:
        """The names in an expression, which stays as it is."""
        if id(e) not in self.names_in:
            names = frozenset(x.id for x in ast.walk(e) if isinstance(x, ast.Name))
            self.names_in[id(e)] = e, names
        return self.names_in[id(e)][1]

    def redirect(
        self, items: list[FusedNest], into: Iterable[tuple[Var, Var]], live: set[Var]
    ) -> None:
        held = self.memory.bases(live)
        for y, p in into:
            inner = self.carry_of_inner_loop(items, y, p)
            if inner is not None and p in self.home and not {y, inner} & self.home.keys():
                if p not in held and y not in self.live:
                    self.home[y] = self.home[p]
                    self.into[y], self.becomes[p] = p, inner
                continue
            k = next((k for k, item in enumerate(items) if y in item.vars), None)
            if k is None or p not in self.home or y in self.home or y in self.live:
                continue
            if any(p in other.reads for other in items[k + 1 :]):
                continue
            if p in held:
                continue  # the old value is carried on, too
            if self.elementwise(items[k], y, p):
                self.into[y] = p
                self.home[y] = self.home[p]

    def carry_of_inner_loop(self, items: list[FusedNest], y: Var, p: Var) -> Var | None:
        """The carry of a loop inside that begins with carry p of this one, which nothing else
        reads, and ends with what p becomes: one array does for both."""
        if self.uses.get(p) != 1:
            return None
        for s in (s for item in items for s in item.statements if isinstance(s, For | While)):
            carries = s.carries if isinstance(s, For) else s.body.params
            for k, (q, a, out) in enumerate(zip(carries, s.inits, s.outs, strict=True)):
                if a is p and out is y and has_memory(q) and not self.memory.in_place(s, k):
                    return q
        return None

    def elementwise(self, item: FusedNest, y: Var, p: Var) -> bool:
        """Whether an element of p is read only for the same element of y, and before it is made."""
        maker = self.stage(self.memory.defs[y])
        if maker is None or maker not in item.axes or maker.reduced or maker.stores:
            return False
        order = item.statements.index(maker.let) if maker.let in item.statements else -1
        if order < 0 or not all(isinstance(s, Let) for s in item.statements):
            return False
        for k, s in enumerate(item.statements):
            stage = self.stage(s)
            if stage is None or not self.memory.reads(stage.let) & {p}:
                continue
            if k > order or not self.same_shape(stage.space, maker.space) or stage.reduced:
                return False
            if item.axes.get(stage) != item.axes[maker] or not self.in_order(stage, item):
                return False
            for a, axes in zip(stage.let.args, stage.maps, strict=False):
                at = stage.entries_axes() if axes is None else axes
                if any(e != maker.out for e in axes_through_views(self.memory, a, at, p)):
                    return False
        return True

    def same_shape(self, space: tuple[Size, ...], other: tuple[Size, ...]) -> bool:
        return len(space) == len(other) and all(map(self.equal, space, other))

    def in_order(self, stage: LoopNest, item: FusedNest) -> bool:
        """Whether loops inside of a nest run over the axes of all that it makes in one order."""
        return len(stage.space) < 3 or all(
            list(run) == sorted(run)
            for other in item.axes
            for a, axes in zip(other.let.args, other.maps, strict=False)
            if a in item.vars
            for run in [[k for k in axes or () if k is not None]]
        )

    def chain(self, items: list[FusedNest]) -> None:
        """What a loop begins with is made in the memory of its carry, if nobody else reads it."""
        for item in items:
            for s in item.statements:
                if not isinstance(s, For | While):
                    continue
                carries = s.carries if isinstance(s, For) else s.body.params
                for k, (p, a, out) in enumerate(zip(carries, s.inits, s.outs, strict=True)):
                    if not (has_memory(p) and isinstance(a, Var) and self.uses.get(a) == 1):
                        continue
                    stage = self.stage(self.memory.defs[a]) if a in self.memory.defs else None
                    is_made_here = stage is not None and stage.let in self.statements_of(items)
                    if not is_made_here or self.memory.in_place(s, k) or a in self.home:
                        continue
                    if stage in item.axes or stage.stores or stage.let in self.memory.inline:  # type: ignore[union-attr]
                        continue
                    self.home[a] = self.home.get(out) or self.allocate(p, self.free_of(p))
                    self.becomes[a] = p

    def statements_of(self, items: list[FusedNest]) -> set[Any]:
        return {s for item in items for s in item.statements}

    def hold_rows(self, item: FusedNest, used: set[Var | None]) -> None:
        """Memory for what is stored to and read in one nest only: a row of it is enough. `used`
        is what is read later."""
        for cell in sorted(item.writes & self.analysis.unset, key=self.memory.order.__getitem__):
            if cell in self.home or self.analysis.defined_outside(cell):
                continue
            row = cell not in used and cell in item.cells and self.rows_only(item, cell)
            bound = self.var_bound.get(cell, {})
            axes = [k for k in range(cell.type.ndim) if k not in bound]
            if row:
                axes.remove(item.cells[cell])
                item.vars.setdefault(cell, item.cells[cell])
            self.home[cell] = self.allocate(cell, tuple(axes))

    def rows_only(self, item: FusedNest, cell: Var) -> bool:
        axis = item.cells[cell]
        return all(
            e[axis] == at
            for stage, at in item.axes.items()
            for a, axes in zip(stage.let.args, stage.maps, strict=False)
            for e in axes_through_views(
                self.memory, a, stage.entries_axes() if axes is None else axes, cell
            )
        )
