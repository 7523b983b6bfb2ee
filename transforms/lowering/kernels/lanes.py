"""Runs elements of a batch that make passes of their own in step, some at a time (lanes): vectors
can do that.

for i in range(first, last):          for i in range(first, last, 32):
    x_2 = x[i]                            lanes = min(32, last - i)
    while x_2 > 1:                        for k in range(lanes): x_2[k] = x[i + k]
        x_2 = sin(x_2)                    going = 1
    out[i] = x_2                          while going > 0:
                                              going = 0
                                              for k in range(lanes):
                                                  x_3 = x_2[k]
                                                  more = x_3 > 1
                                                  x_2[k] = sin(x_3) if more else x_3
                                                  going += more
                                          for k in range(lanes): out[i + k] = x_2[k]

Numbers that one loop over the lanes makes and another one reads lie in short arrays.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    While,
    blocks,
    operands,
    outputs,
    statements,
)
from tapeless.transforms.lowering.kernels.lane_arrays import LANES, LaneArrays
from tapeless.transforms.lowering.schedule.dependences import is_array
from tapeless.transforms.lowering.schedule.lane_candidates import in_step, is_blank
from tapeless.transforms.optimize.loop_carries import carries, yields
from tapeless.transforms.python_text.python_source import template, to_source

Loop = For | While


class Lanes(LaneArrays):
    """`own_values` are those that the elements of the loop that is written make."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.own_values: set[Var] = set()

    def for_(self, s: For) -> None:
        if self.loops or not self.analysis.target.lanes or not in_step(self.memory, s):
            super().for_(s)
            return
        self.enter(s, s.carries, s.yields)
        spans = ast.parse(self.span(s), mode="eval").body.args  # type: ignore[attr-defined]
        first, last = spans if len(spans) > 1 else (ast.Constant(0), spans[0])
        index = self.names.new(s.index.name or "i")
        self.lane, self.lanes = self.names.new("k"), self.names.new("lanes")
        before = dict(self.local), self.carry_of
        self.carry_of, self.kept = {}, {}
        self.ranges[s.index] = (self.as_size(s.start), self.as_size(s.stop) - 1)
        self.ends[s.index] = self.as_size(s.start), self.as_size(s.stop)
        self.own_values = {v for t in s.body.body for v in outputs(t)}
        ends = ", ".join(map(to_source, (first, last)))
        with self.suite(f"for {index} in range({ends}, {LANES}):", s.origin):
            remaining = template(f"min({LANES}, {{0}} - {index})", {"0": last})
            self.put(f"{self.lanes} = {to_source(remaining)}")
            self.local[s.index] = template(f"{index} + {self.lane}", {})
            self.batches += 1
            self.group([t for t in s.body.body if not is_blank(t)])
            self.batches -= 1
        self.ranges.pop(s.index)
        self.ends.pop(s.index)
        self.local, self.carry_of = before
        self.finish(s, s.carries, [])

    def group(self, body: list[Statement]) -> None:
        """All that is done for the elements of one group."""
        waiting: list[Statement] = []
        for n, t in enumerate(body):
            if isinstance(t, Let) and t.op.name == "new_stack":
                self.open_stack(t.outs[0])
            elif isinstance(t, (For, While)):
                self.straight(waiting, body[n:])
                waiting = []
                self.loop_of_lanes(t)
            else:
                waiting.append(t)
        self.straight(waiting, [])

    # -- loops over the lanes

    def straight(self, body: list[Statement], later: list[Statement]) -> None:
        """Statements between loops, and what the next loop begins with."""
        loop = later[0] if later else None
        starts = _starts(loop) if isinstance(loop, (For, While)) else []
        wanted = _reads(later)
        wanted.subtract(a for _, a in starts if isinstance(a, Var))
        ends = [v for t in body for v in outputs(t) if wanted[v] > 0 and not is_array(v)]
        if not body and not starts:
            return
        again: dict[Var, ast.expr] = {}
        with self.over_lanes():
            body = [t for t in body if not self.read_again(t, ends, again, body, starts)]
            self.name_reused(_reads(body))
            self.body(body, {*ends, *(a for _, a in starts if isinstance(a, Var))})
            for v in ends:
                if v not in again:
                    self.keep_lane(v, v)
            for p, a in starts:
                self.keep_lane(p, a)
        self.kept |= again
        self.local |= self.kept

    def read_again(
        self,
        s: Statement,
        ends: list[Var],
        again: dict[Var, ast.expr],
        body: list[Statement],
        starts: list[tuple[Var, Atom]],
    ) -> bool:
        """Notes what can be read of its array wherever it is needed; whether that is only later."""
        stage = self.stage(s)
        if stage is None or stage.let.op.name != "index" or stage.var not in ends:
            return False
        if not self.own_values.isdisjoint(a for a in stage.let.args if isinstance(a, Var)):
            return False
        index = self.index_of(stage)
        again[stage.var] = self.value(stage, index)
        used = _reads(body)[stage.var] or any(a is stage.var for _, a in starts)
        if not used:
            self.check_index(stage.let, stage.entries, 1, index)
        return not used

    def name_reused(self, reads: Counter[Any]) -> None:
        """Gives names to numbers in arrays that are read more than once."""
        for v, place in self.kept.items():
            if reads[v] > 1:
                self.local[v] = self.named_lane(v, place)

    def named_lane(self, v: Var, value: ast.expr) -> ast.Name:
        name = self.names.new(v.name or self.names.nameless)
        self.put(f"{name} = {to_source(value)}")
        return ast.Name(name, ast.Load())

    # -- loops of the elements

    def loop_of_lanes(self, s: Loop) -> None:
        """A loop that all lanes make together, as often as one of them needs it."""
        tops = [self.tops[self.memory.cell(p)] for p in carries(s) if _is_stack(p)]
        if isinstance(s, While):
            self.while_together(s, tops)
        else:
            self.for_together(s, tops)
        for p, v in zip(carries(s), s.outs, strict=True):
            if not _is_stack(p):
                self.kept[v] = self.local[v] = self.kept[p]

    def while_together(self, s: While, tops: list[tuple[str, str]]) -> None:
        going = self.names.new("going")
        self.put(f"{going} = 1")
        with self.suite(f"while {going} > 0:", s.origin):
            self.make_room(tops)
            self.put(f"{going} = 0")
            with self.over_lanes():
                now = self.enter_lane(s)
                for p, q in zip(s.test.params, s.body.params, strict=True):
                    if q in now:
                        self.local[p] = self.local[q]
                test = s.test.results[0]
                self.body(s.test.body, {test} if isinstance(test, Var) else set())
                more = self.names.new("more")
                self.put(f"{more} = {to_source(self.atom(test))}")
                self.pass_of_lane(s, now, more)
                self.put(f"{going} += {more}")
            if tops:
                with self.suite(f"if {going} > 0:"):
                    self.advance_tops(tops)

    def for_together(self, s: For, tops: list[tuple[str, str]]) -> None:
        own = s.stop in self.own_values
        stop = self.atom(s.stop)
        end = self.longest(stop) if own else stop
        until = self.begin_passes(s)
        going = self.names.new("going") if until is not None else ""
        index = self.names.new(s.index.name.strip("_") or self.names.nameless)
        with self.suite(f"for {index} in {_span(s, end)}:", s.origin):
            if not s.reverse:
                self.make_room(tops)
            else:
                self.copy_popped(s, index)
            if going:
                self.put(f"{going} = 0")
            with self.over_lanes():
                self.local[s.index] = ast.Name(index, ast.Load())
                now = self.enter_lane(s)
                tests = [f"{index} < {to_source(stop)}"] if own else []
                tests += [to_source(until)] if until is not None else []
                more = self.names.new("more") if tests else ""
                if more:
                    self.put(f"{more} = {' and '.join(tests)}")
                self.pass_of_lane(s, now, more)
                if s.count is not None:
                    self.put(f"{to_source(self.kept[s.count])} += {more or 1}")
                if until is not None:
                    flag = template(f"{more} and not {{0}}", {"0": self.atom(s.body.results[0])})
                    self.put(f"{to_source(until)} = {to_source(flag)}")
                    self.put(f"{going} += {to_source(until)}")
            if not s.reverse:
                self.advance_tops(tops)
            if going:
                with self.suite(f"if {going} == 0:"):
                    self.put("break")
        if s.count is not None:
            self.local[s.count] = self.kept[s.count]

    def longest(self, stop: ast.expr) -> ast.expr:
        """The largest number of passes that a lane makes."""
        name = self.names.new("longest")
        self.put(f"{name} = 0")
        with self.over_lanes():
            self.put(f"{name} = max({name}, {to_source(stop)})")
        return ast.Name(name, ast.Load())

    def begin_passes(self, s: For) -> ast.expr | None:
        """Sets how many passes lanes have made, and where they go on: None if all do."""
        flag = Var(Type(np.dtype(bool)), "active") if s.until else None
        if flag is None and s.count is None:
            return None
        with self.over_lanes():
            if s.count is not None:
                self.keep_lane(s.count, Literal(0, s.count.type))
            if flag is not None:
                self.keep_lane(flag, Literal(True, flag.type))
        return self.kept.get(flag) if flag is not None else None

    def enter_lane(self, s: Loop) -> dict[Var, ast.expr]:
        """Names what a lane carries; the names."""
        now: dict[Var, ast.expr] = {}
        for p in carries(s):
            if not _is_stack(p):
                now[p] = self.local[p] = self.named_lane(p, self.kept[p])
        reads = _reads([s])
        for p in now:
            reads[p] = 0
        self.name_reused(reads)
        return now

    def pass_of_lane(self, s: Loop, now: dict[Var, ast.expr], more: str) -> None:
        """A pass of one lane; without `more` to do it keeps what it has."""
        results = [(p, y) for p, y in zip(carries(s), yields(s), strict=True) if p in now]
        flag = s.body.results[:1] if isinstance(s, For) and s.until else ()
        self.body(s.body.body, {y for y in (*flag, *(y for _, y in results)) if isinstance(y, Var)})
        for p, y in results:
            if y is p:
                continue
            value = self.scalar_text(y, p)
            if more:  # the value is made in any case: a branch would be no matter for vectors
                if not isinstance(value, (ast.Name, ast.Constant)):
                    value = self.named_lane(p, value)
                value = template(f"{{0}} if {more} else {{1}}", {"0": value, "1": now[p]})
            self.put(f"{to_source(self.kept[p])} = {to_source(value)}")


def _is_stack(p: Var) -> bool:
    return isinstance(p.type, StackType)


def _starts(s: Loop) -> list[tuple[Var, Atom]]:
    """What a loop begins with, for each number that it carries."""
    return [(p, a) for p, a in zip(carries(s), s.inits, strict=True) if not _is_stack(p)]


def _reads(body: Iterable[Statement]) -> Counter[Any]:
    """How often statements read what."""
    inside = list(statements(Block((), tuple(body), ())))
    reads = Counter(a for t in inside for a in operands(t))
    reads.update(a for t in inside for b in blocks(t) for a in b.results)
    return reads


def _span(s: For, end: ast.expr) -> str:
    start = int(s.start.value)  # type: ignore[union-attr]
    if s.reverse:
        return f"range({to_source(end)} - 1, {start - 1}, -1)"
    return f"range({to_source(end)})" if start == 0 else f"range({start}, {to_source(end)})"
