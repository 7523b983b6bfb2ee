"""Writes reductions: the value that they start with, and the step for one more element."""

from __future__ import annotations

import ast
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Type, Var
from tapeless.transforms.lowering.kernels.element_access import Buffer
from tapeless.transforms.lowering.kernels.hoisted_checks import AheadChecks
from tapeless.transforms.lowering.scalars import operations
from tapeless.transforms.lowering.schedule.loop_nests import LoopNest
from tapeless.transforms.lowering.schedule.reassociable_sums import MULTIPLIED, PLUS
from tapeless.transforms.python_text.python_source import number, template, to_source

FEW_SUMS = 16  # sums that a thread of a GPU has in registers
Place = list[ast.expr | None]  # an index, open along the axes that no loop around has bound
STEMS = {"max": "largest", "min": "smallest", "prod": "product", "any": "found", "all": "hold"}


class Sums(AheadChecks):
    """`summing` are reductions that have begun; `sums_of_thread` the few sums of a row of a GPU: an
    array of each thread until they are complete, and which part of the result they are."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.summing: set[LoopNest] = set()
        self.sums_of_thread: dict[Var, tuple[Buffer, Place]] = {}

    def variable_for(self, stage: LoopNest, value: ast.expr) -> ast.expr:
        """A variable with this value."""
        raise NotImplementedError

    def start_sum(self, stage: LoopNest, v: Var) -> None:
        """Sets the result of a reduction to what it starts with."""
        self.summing.add(stage)
        s = stage.let
        name = "sum" if s.op.name == "matmul" else s.op.name
        self.refuse_empty(stage)
        first = operations.identity(name, v.type.dtype)
        bound = self.bound.get(stage, {})
        free = [k for k in stage.out if k is not None and k not in bound and stage.space[k] != 1]
        if not free:
            total = self.names.new(v.name or STEMS.get(name, "total"))
            self.local[v] = ast.Name(total, ast.Load())
            self.put(f"{total} = {to_source(first)}", s.origin)
            return
        if self.has_few_sums(stage, v):
            axes = tuple(k for k in self.free_axes(stage) if v.type.shape[k] != 1)
            shape = tuple(v.type.shape[k] for k in axes)
            name = v.name or STEMS.get(name, "total")
            totals = self.allocate(v, axes, own=Var(Type(v.type.dtype, shape), name))
            self.sums_of_thread[v] = totals, self.place_of_sums(stage)
        elif v not in self.home:
            self.home[v] = self.allocate(v, self.free_axes(stage))
        self.fill(v, stage, first)

    def adds_each_row_up(self) -> bool:
        """Whether each row of this kernel has sums of its own."""
        return True

    def has_few_sums(self, stage: LoopNest, v: Var) -> bool:
        """Whether a thread of a GPU has the sums that each row of the kernel adds up at once."""
        if not (self.analysis.target.separate and self.adds_each_row_up()):
            return False
        count = dims.product([v.type.shape[k] for k in self.free_axes(stage)])
        return isinstance(count, int) and 0 < count <= FEW_SUMS

    def finish_sums(self, v: Var) -> None:
        """Stores the sums that each thread has, where they are wanted in memory."""
        totals, place = self.sums_of_thread.pop(v)
        home = self.home.setdefault(v, totals)
        if home is totals:  # what follows in this row reads them
            return
        self.loops_over(
            list(v.type.shape),
            place,
            lambda at: self.put(
                f"{to_source(self.home_element(home, at))} = "
                f"{to_source(self.home_element(totals, at))}"
            ),
        )

    def fill(self, v: Var, stage: LoopNest, first: ast.expr) -> None:
        place = self.place_of_sums(stage)
        self.loops_over(list(v.type.shape), place, lambda at: self.set(v, at, first))

    def place_of_sums(self, stage: LoopNest) -> Place:
        """Which part of the result the loops around have."""
        bound = self.bound.get(stage, {})
        return [number(0) if k is None else bound.get(k) for k in stage.out]

    def loops_over(self, shape: list[Size], index: Place, write: Any) -> None:
        """Loops over the axes that have no index yet, then what `write` writes there."""
        open_ = [k for k, e in enumerate(index) if e is None]
        if not open_:
            write(index)
            return
        k = open_[0]
        if shape[k] == 1:
            self.loops_over(shape, [*index[:k], number(0), *index[k + 1 :]], write)
            return
        name = self.index_name()
        passes = "each" if self.analysis.target.separate else "range"
        with self.suite(f"for {name} in {passes}({to_source(self.size(shape[k]))}):"):
            self.loops += 1
            self.loops_over(shape, [*index[:k], ast.Name(name, ast.Load()), *index[k + 1 :]], write)
            self.loops -= 1
        self.indices.append(name)

    def set(self, v: Var, index: list[ast.expr], value: ast.expr) -> None:
        target = self.home_element(self.total_of(v), index)
        if to_source(target) != to_source(value):
            self.put(f"{to_source(target)} = {to_source(value)}")

    def total_of(self, v: Var) -> Buffer:
        """Where the elements of a reduction are added up."""
        totals = self.sums_of_thread.get(v)
        return totals[0] if totals else self.buffer(v)

    def add(self, stage: LoopNest, v: Var, index: list[ast.expr]) -> None:
        """One more element of a reduction."""
        s = stage.let
        if v in self.local:
            total = self.local[v]
        else:
            total = self.home_element(
                self.total_of(v),
                [number(0) if k is None else index[k] for k in stage.out],
            )
        holes = {"0": total}
        if s.op.name in ("sum", "matmul"):
            self.note_sum(total, v.type.dtype)
        match s.op.name:
            case "matmul":
                self.helpers[MULTIPLIED.strip()] = None
                holes["1"], holes["2"] = (self.read(stage, k, index) for k in (0, 1))
                term = template("plus_product({0}, {1}, {2})", holes)
            case "sum" if v.type.dtype.kind in "fc":
                self.helpers[PLUS.strip()] = None
                term = template("plus({0}, {1})", {**holes, "1": self.value(stage, index)})
            case name:
                value: Any = self.value(stage, index)
                if name in ("max", "min") and not isinstance(value, ast.Name):
                    value = self.variable_for(stage, value)
                holes["1"] = value
                term = operations.reduction_step(name, v.type.dtype, holes)
        self.put(f"{to_source(total)} = {to_source(term)}", s.origin)
