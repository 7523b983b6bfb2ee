"""Keeps what outlives a loop over lanes (`lanes.py`): numbers in short arrays, and stacks.

push(saved, v)      becomes, for lane k,      saved[top + k] = v

Stacks hold a row of all lanes for each pass.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tapeless.transforms.core.language import Atom, For, Let, Type, Var
from tapeless.transforms.lowering.kernels.control_flow import Control
from tapeless.transforms.lowering.kernels.element_access import subscript
from tapeless.transforms.lowering.schedule.fusion import FusedNest
from tapeless.transforms.lowering.schedule.stack_capacity import FIRST, GROWN
from tapeless.transforms.python_text.python_source import to_source

LANES = 32  # with more of them, more wait for the last one; fewer are no full vectors


class LaneArrays(Control):
    """`lane` is the index of loops over the lanes, `lanes` how many there are; `kept` says where
    the numbers are that one such loop makes and another one reads."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.lane, self.lanes = "", ""
        self.kept: dict[Var, ast.expr] = {}
        self.tops: dict[Var, tuple[str, str]] = {}  # arrays of stacks, and their cursors

    @contextmanager
    def over_lanes(self) -> Iterator[None]:
        """A loop over the lanes; numbers in variables are gone after it."""
        before = dict(self.local)
        with self.suite(f"for {self.lane} in range({self.lanes}):"):
            self.loops += 1
            yield
            self.loops -= 1
        self.local = before

    def keep_lane(self, v: Var, a: Atom) -> None:
        """Stores a number for the loops over the lanes that come."""
        self.put(f"{to_source(self.place_of_lane(v))} = {to_source(self.scalar_text(a, v))}")

    def place_of_lane(self, v: Var) -> ast.expr:
        if v not in self.kept:
            place = Var(Type(v.type.dtype, (LANES,)), v.name)
            name = self.allocate(place, (0,), place).name
            self.kept[v] = subscript(name, [ast.Name(self.lane, ast.Load())])
        return self.kept[v]

    # -- stacks: a row of all lanes for each pass

    def open_stack(self, v: Var) -> None:
        stack = Var(Type(v.type.item.dtype, (FIRST * LANES,)), v.name or "saved")
        top = self.names.new(f"{v.name}_top" if v.name else "top")
        self.tops[v] = self.allocate(stack, (0,), stack).name, top
        self.helpers[GROWN.strip()] = None
        self.put(f"{top} = 0")

    def make_room(self, tops: Iterable[tuple[str, str]]) -> None:
        for saved, top in tops:
            with self.suite(f"if {top} + {LANES} > {saved}.size:"):
                self.put(f"{saved} = grown({saved})")

    def advance_tops(self, tops: Iterable[tuple[str, str]]) -> None:
        for _, top in tops:
            self.put(f"{top} += {LANES}")

    def stack(self, s: Let, after: list[FusedNest]) -> None:
        memory_and_top = self.tops.get(self.memory.cell(s.args[0])) if s.args else None  # type: ignore[arg-type]
        if memory_and_top is None:
            super().stack(s, after)
            return
        saved, top = memory_and_top
        if s.op.name == "push":
            value = self.element_as(s.args[1], [], s.args[0].type.item.dtype)
            self.put(f"{saved}[{top} + {self.lane}] = {to_source(value)}", s.origin)
            return
        self.local.setdefault(s.outs[1], self.kept[s.outs[1]])

    def copy_popped(self, s: For, index: str) -> None:
        """What a pass takes from stacks, in arrays of its own: LLVM knows that these are apart from
        all others, which it does not of what `grown` may have replaced."""
        pops = [t for t in s.body.body if isinstance(t, Let) and t.op.name == "pop"]
        start = int(s.start.value)  # type: ignore[union-attr]
        row = f"({index} - {start})" if start else index
        if not pops:
            return
        with self.over_lanes():
            for t in pops:
                saved, _ = self.tops[self.memory.cell(t.args[0])]  # type: ignore[arg-type]
                place = to_source(self.place_of_lane(t.outs[1]))
                self.put(f"{place} = {saved}[{LANES} * {row} + {self.lane}]", t.origin)
