"""Writes arrays that lie end to end in the array of a stack.

extend(out, v); u = segment(out, -1)
    becomes      for i in range(n): out[top + i] = v[i]
                 top += n; start = top - n, and u[i] is out[start + i]
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Let, Literal, Var, blocks, statements
from tapeless.transforms.lowering.kernels.element_access import Buffer
from tapeless.transforms.lowering.kernels.stacks import Filled
from tapeless.transforms.lowering.schedule.fusion import FusedNest
from tapeless.transforms.ops.primitives.stacks import (
    SHORTENING,
    add_segment,
    extend,
    push,
    segment,
    set_segment,
    truncate,
)
from tapeless.transforms.python_text.python_source import template, to_source, write_template

Write = Callable[[list[Any]], None]

SIGNS = {set_segment: "=", add_segment: "+="}


class ArraysInStacks(Filled):
    """`multiplied` are operands of products of matrices, which may be calls of a library."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.multiplied: set[Any] = set()

    def stack(self, s: Let, after: list[FusedNest]) -> None:
        if s.op is extend:
            self.extend(s)
        elif s.op is segment:
            self.segment(s, after)
        elif s.op in SIGNS:
            self.store_segment(s)
        elif s.op is truncate:
            top = self.stacks[self.cell_of(s.args[0])]
            self.put(f"{top.id} -= {to_source(self.size(s.params['count']))}", s.origin)
        else:
            super().stack(s, after)

    def extend(self, s: Let) -> None:
        cell, value = self.cell_of(s.args[0]), s.args[1]
        top, shape = self.stacks[cell], value.type.shape
        length = to_source(self.size(dims.product(shape)))
        name = self.home[cell].name
        if cell in self.growing:
            with self.suite(f"while {name}.size < {top.id} + {length}:", s.origin):
                self.put(f"{name} = grown({name})")
        place = self.segment_at(cell, shape, top)

        def write(at: list[Any]) -> None:
            number = self.element_as(value, at, cell.type.item.dtype)
            self.put(f"{to_source(place.element(at))} = {to_source(number)}", s.origin)

        self.for_each(shape, write)
        self.put(f"{top.id} += {length}")

    def segment(self, s: Let, after: list[FusedNest]) -> None:
        """An array that a list has: there, unless that part of the list is stored to while the
        array is still read."""
        v, cell = s.outs[0], self.cell_of(s.args[0])
        shape = v.type.shape
        place = self.segment_at(cell, shape, self.start_of(s, cell))
        whole = {*self.wholes, *self.multiplied}
        needs_memory = {*self.live, *self.analysis.targets, *whole, *self.handed}
        if v not in needs_memory and self.keeps_place(cell, after):
            self.home[v] = place
            return
        if v in self.live:
            self.keep(v)
        else:
            self.home[v] = self.allocate(v, tuple(range(v.type.ndim)))
        self.for_each(
            shape,
            lambda at: self.put(
                f"{to_source(self.home_element(self.home[v], at))} = {to_source(place.element(at))}"
            ),
        )

    def store_segment(self, s: Let) -> None:
        cell, value = self.cell_of(s.args[0]), s.args[2]
        place = self.segment_at(cell, s.params["shape"], self.start_of(s, cell))
        sign = SIGNS[s.op]

        def write(at: list[Any]) -> None:
            number = self.element_as(value, at, cell.type.item.dtype)
            self.put(f"{to_source(place.element(at))} {sign} {to_source(number)}", s.origin)

        self.for_each(s.params["shape"], write)

    def segment_at(self, cell: Var, shape: tuple[Size, ...], start: ast.expr) -> Buffer:
        lengths = tuple(map(self.size, shape))
        return replace(self.home[cell], axes=tuple(range(len(shape))), lengths=lengths, start=start)

    def for_each(self, shape: tuple[Size, ...], write: Write) -> None:
        self.loops_over(list(shape), [None] * len(shape), write)

    def start_of(self, s: Let, cell: Var) -> ast.expr:
        """Where an array begins, which is counted from the end if its number is negative; raises
        IndexError where there is none."""
        top, k = self.stacks[cell], s.args[1]
        length = self.size(dims.product(s.params["shape"]))
        holes = {"k": self.atom(k), "n": length, "top": top}
        if isinstance(k, Literal) and k.value < 0:
            holes["k"] = ast.Constant(-k.value)
            text = "{top} - {n}" if k.value == -1 else "{top} - {k} * {n}"
            start = self.kept_as("start", template(text, holes))
            self.refuse_segment(write_template("{0} < 0", start), s)
        elif isinstance(k, Literal) or self.never_negative(self.as_size(k)):
            start = self.kept_as("start", template("{k} * {n}", holes))
            self.refuse_segment(write_template("{0} + {1} > {2}", start, length, top), s)
        else:
            text = "{k} * {n} if {k} >= 0 else {k} * {n} + {top}"
            start = self.kept_as("start", template(text, holes))
            self.refuse_segment(write_template("not 0 <= {0} <= {2} - {1}", start, length, top), s)
        return start

    def refuse_segment(self, test: str, s: Let) -> None:
        if self.analysis.boundscheck and s.params["error"] is not None:
            with self.suite(f"if {test}:", s.origin):
                self.put(f'raise IndexError("{s.params["error"]}")')

    def keeps_place(self, cell: Var, after: list[FusedNest]) -> bool:
        """Whether an array keeps its place in a list, behind which others come, or which only gets
        shorter."""
        changes = set()
        for item in after:
            if cell not in item.writes:
                continue
            for s in item.statements:
                inside = [s, *(t for b in blocks(s) for t in statements(b))]
                changes |= {
                    t.op
                    for t in inside
                    if isinstance(t, Let) and t.outs and cell in self.memory.writes(t)
                }
        return changes <= {push, extend} or changes <= SHORTENING
