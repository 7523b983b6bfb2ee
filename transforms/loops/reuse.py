"""Memory that is used again: by what a loop carries on, and by the rows of a nest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tapeless.transforms.core.language import For, Let, Var, While
from tapeless.transforms.loops.along import through
from tapeless.transforms.loops.arrange import Item
from tapeless.transforms.loops.products import Products
from tapeless.transforms.sharing import has_memory


class Reuse(Products):
    """`into` are values that are written to the memory of a carry; `becomes` what a loop begins
    with, made in the memory of its carry."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.into: dict[Var, Var] = {}
        self.becomes: dict[Any, Var] = {}
        self.uses: dict[Var, int] = {}
        self.live: set[Var] = set()

    def redirect(self, items: list[Item], into: Iterable[tuple[Var, Var]], live: set[Var]) -> None:
        held = self.memory.bases(live)
        for y, p in into:
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

    def elementwise(self, item: Item, y: Var, p: Var) -> bool:
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
            if k > order or stage.space != maker.space or stage.reduced:
                return False
            for a, axes in zip(stage.let.args, stage.maps, strict=False):
                at = stage.entries_axes() if axes is None else axes
                if any(e != maker.out for e in through(self.memory, a, at, p)):
                    return False
        return True

    def chain(self, items: list[Item]) -> None:
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
                    made = stage is not None and stage.let in self.statements_of(items)
                    if not made or self.memory.in_place(s, k) or a in self.home:
                        continue
                    if stage in item.axes or stage.stores or stage.let in self.memory.inline:  # type: ignore[union-attr]
                        continue
                    self.home[a] = self.home.get(out) or self.allocate(p, self.free_of(p))
                    self.becomes[a] = p

    def statements_of(self, items: list[Item]) -> set[Any]:
        return {s for item in items for s in item.statements}

    def hold_rows(self, item: Item, used: set[Var | None]) -> None:
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

    def rows_only(self, item: Item, cell: Var) -> bool:
        axis = item.cells[cell]
        return all(
            e[axis] == at
            for stage, at in item.axes.items()
            for a, axes in zip(stage.let.args, stage.maps, strict=False)
            for e in through(self.memory, a, stage.entries_axes() if axes is None else axes, cell)
        )
