"""Writes bodies of loops: nests that statements share, and single statements.

t = x * x; y = t + 1      becomes      for i in range(x.shape[0]): y[i] = x[i] * x[i] + 1
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from tapeless.transforms.core import dims, scalar_form
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Effect,
    For,
    If,
    Let,
    Literal,
    Statement,
    Var,
    operands,
    outputs,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.lowering.kernels.buffer_reuse import Reuse
from tapeless.transforms.lowering.kernels.scratch import is_tiny
from tapeless.transforms.lowering.scalars import operations
from tapeless.transforms.lowering.schedule.dependences import is_array
from tapeless.transforms.lowering.schedule.fusion import Arrangement, FusedNest
from tapeless.transforms.lowering.schedule.live_after import remaining
from tapeless.transforms.lowering.schedule.loop_nests import OVERWRITES, LoopNest
from tapeless.transforms.lowering.schedule.parallel_nests import NestPartitioner
from tapeless.transforms.lowering.schedule.sink_producers import made_later
from tapeless.transforms.lowering.schedule.stored_values import stored_parts
from tapeless.transforms.lowering.schedule.view_indices import Place, ViewSpan, entries_of, is_view
from tapeless.transforms.ops.primitives.random_draws import draw
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot
from tapeless.transforms.python_text.python_source import number, template, to_source


class Nests(Reuse):
    """`weight` and `folded_reads` are of values that are written where they are used."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.weight: dict[Var, int] = {}
        self.folded_reads: dict[Var, bool] = {}
        self.carry_of: dict[Any, Var] = {}  # of numbers at the end of a pass
        self.cell_bound: dict[Any, frozenset[int]] = {}  # of arrays that are stored to
        self.wholes: set[Any] = set()  # arrays that routines get
        self.stored: set[Var] = set()  # values of this nest that later ones read in memory
        self.defined_by: dict[Var, Statement] = {}  # what they are apart from that

    def statement(self, s: Statement, after: list[FusedNest], later: set[Var]) -> None:
        """Writes a statement that shares no loop."""
        raise NotImplementedError

    def body(
        self,
        body: Iterable[Statement],
        live: set[Var],
        into: Iterable[tuple[Var, Var]] = (),
    ) -> None:
        """Writes statements. `into` are values that may take the memory of a carry, if nothing
        reads that any more."""
        body = list(body)
        with self.analysis.measured_here(body):
            self.statements(body, self.memory.with_needs(live), into)

    def statements(
        self, body: list[Statement], live: set[Var], into: Iterable[tuple[Var, Var]]
    ) -> None:
        held = self.begin_block(body)
        body = [s for s in body if not self.is_skipped(s)]
        defined = {v for s in body for v in outputs(s)}
        body = [s for s in body if not self.checked_first(s, defined)]
        into = list(into)
        arrangement = Arrangement(
            self.memory,
            self.equal,
            self.stage,
            self.open_axes,
            self.bound_axes,
            lambda v: v in live or self.uses.get(v, 0) > 0,
            self.is_library_call,
            self.analysis.target.rank,
        )
        arrangement.run(body)
        items = made_later(arrangement, live, into)
        self.redirect(items, into, live)
        self.chain(items)
        parts = self.parts_read(items, live)
        needs = [item.needs | _read_instead(item, parts) for item in items]
        laters = remaining(needs, live)
        used = remaining([*map(self.memory.bases, needs)], self.memory.bases(live))
        for k, (item, later, bases) in enumerate(zip(items, laters, used, strict=True)):
            if item.size is not None:
                self.nest(item, later, bases)
            else:
                self.statement(item.statements[0], items[k + 1 :], later)
            for part in (part for part, maker in parts.items() if maker is item):
                self.read_from(part)
            self.release(later | bases)
        self.end_block(held)

    def parts_read(self, items: list[FusedNest], live: set[Var]) -> dict[Let, FusedNest]:
        """Parts of memory that later nests read in the place of values, each with its nest."""
        parts: dict[Let, FusedNest] = {}
        for k, part in stored_parts(items, self.memory, self.stage):
            (v,) = part.outs
            if v not in live and v not in self.home and v not in self.analysis.targets:
                parts[part] = items[k]
        self.stored |= {v for part in parts for v in part.outs}
        return parts

    def read_from(self, part: Let) -> None:
        """From here on, a value is a part of memory."""
        (v,) = part.outs
        self.defined_by[v] = self.memory.defs[v]
        self.memory.defs[v] = self.memory.parts[v] = part
        self.home.pop(v, None)
        self.stored.discard(v)

    def forget_parts(self) -> None:
        """Values are again what the program says, for what is outside of this kernel."""
        self.memory.defs.update(self.defined_by)
        for v in self.defined_by:
            del self.memory.parts[v]
        self.defined_by.clear()

    def is_skipped(self, s: Statement) -> bool:
        if isinstance(s, Effect):
            return s.kind in ("blank", "errstate")
        if not isinstance(s, Let):
            return False
        if s in self.memory.inline or s.op.name == "empty":
            return True
        return is_view(s) and not any(isinstance(e, Place) for e in entries_of(s) or ())

    def nest(self, item: FusedNest, later: set[Var], used: set[Var | None]) -> None:
        self.hold_rows(item, used)
        begun = set(self.summing)
        for stage in [g for g in item.axes if g.let in item.statements]:
            v = self.memory.cell(stage.var)
            if item.axes[stage] in stage.reduced:
                if stage not in self.summing:
                    self.start_sum(stage, v)
            elif not stage.stores and stage not in self.summing:
                wanted = {stage.var, v} & later or v in used
                if v in self.home or v in self.stored:
                    continue
                if wanted or v in self.analysis.targets:
                    self.home[v] = self.allocate(v, self.free_axes(stage))
                    if v not in self.analysis.targets:
                        self.held.append(v)
        self.keep_carried(item, later, used)
        name = self.index_name()
        if item.size is None:
            raise AssertionError
        at = ast.Name(name, ast.Load())
        self.prepare(item)
        kept = dict(self.starts), dict(self.measured)
        passes = self.passes(item)
        self.passes_of[passes] = item.size
        mark, held = len(self.lines), set(self.scratch)
        with self.suite(f"for {name} in {passes}:"):
            self.loops += 1
            for stage, axis in item.axes.items():
                self.bound.setdefault(stage, {})[axis] = at
            for v, axis in item.vars.items():
                self.var_bound.setdefault(v, {})[axis] = at
            outside, self.cell_bound = self.cell_bound, dict(self.cell_bound)
            for v, axis in item.cells.items():
                self.cell_bound[v] = self.cell_bound.get(v, frozenset()) | {axis}
            before = set(self.local)
            self.body(item.statements, set())
            for v in set(self.local) - before:
                del self.local[v]
            self.loops -= 1
            self.cell_bound = outside
        self.indices.append(name)
        self.starts, self.measured = kept
        if not all(is_tiny(self.scratch[v]) for v in set(self.scratch) - held):
            self.one_after_another(mark)
        for stage, axis in item.axes.items():
            v = self.memory.cell(stage.var)
            ends = axis in stage.reduced and stage not in begun
            if ends and v in self.sums_of_thread:
                self.finish_sums(v)
            elif ends and v in self.local and v in self.home:
                index = [number(0) if k is None else self.index_of(stage)[k] for k in stage.out]
                target = self.home_element(self.home[v], index)
                self.put(f"{to_source(target)} = {to_source(self.local[v])}")

    def passes(self, item: FusedNest) -> str:
        """The range that the loop of a nest runs over."""
        assert item.size is not None
        passes = "each" if self.side_by_side(item) else "range"
        return f"{passes}({to_source(self.size(item.size))})"

    def side_by_side(self, item: FusedNest) -> bool:
        """Whether threads may share the passes of a nest; none adds to elements of memory then."""
        if not self.analysis.target.separate:
            return False
        sums = [g for g, axis in item.axes.items() if axis in g.reduced]
        totals = [self.memory.cell(g.var) for g in sums]
        own = all(v in self.local or v in self.sums_of_thread for v in totals)
        return own and NestPartitioner(self.memory, self.analysis, {}).side_by_side(item)

    def one_after_another(self, line: int) -> None:
        """Makes a loop one of a single thread: its passes take turns with memory."""
        head = next(k for k in (line, line + 1) if self.lines[k].lstrip().startswith("for "))
        self.lines[head] = self.lines[head].replace(" in each(", " in turns(")

    def bound_axes(self, v: Var) -> frozenset[int]:
        """The axes of a value that the loops around run over."""
        inside = self.cell_bound.get(self.memory.base(v), frozenset())
        return inside | frozenset(self.var_bound.get(v, ()))

    def keep_carried(self, item: FusedNest, later: set[Var], used: set[Var | None]) -> None:
        """Memory for what loops that run row by row end in, where other nests read it."""
        loops = [s for s in item.statements if isinstance(s, For)]
        for v in [v for s in loops for v in s.outs if is_array(v) and self.memory.cell(v) is v]:
            if v not in self.home and (v in later or v in used):
                self.home[v] = self.allocate(v, self.free_of(v))

    def prepare(self, item: FusedNest) -> None:
        """What is tested before the loop: all that is known there, for it may make no pass. Names
        for where slices start and how long they are, if the program computes that."""
        defined = {v for s in item.statements for v in outputs(s)}
        for s in item.statements:
            if not isinstance(s, Let):
                continue
            self.checked_first(s, defined)
            for t in (s, *self.memory.views(s)):
                for axis in range(len(self.entries_of(t) or ())):
                    self.keep_start(t, axis)
            stage = self.stage(s)
            if stage is not None:
                self.check_fit(stage)
            self.keep_lengths(stage.space if stage is not None else ())
            if stage is not None and stage.reduced:
                self.refuse_empty(stage)

    def keep_lengths(self, sizes: Iterable[Size]) -> None:
        """Names for lengths that are to be computed; of those that are called the same, in the
        order of the sizes."""
        lengths = dict.fromkeys(
            x for n in sizes for x in sorted(dims.symbols(self.canon(n)), key=str)
        )
        unknown = [
            x
            for x in lengths
            if x in self.analysis.lengths
            and x not in self.measured
            and not self.analysis.is_known(dims.single(x))
            and self.in_scope(self.analysis.lengths[x][0])
        ]
        for x in sorted(unknown, key=str):
            self.keep_start(*self.analysis.lengths[x])
            self.measured[x] = self.kept_as("length", self.length(*self.analysis.lengths[x]))

    def keep_start(self, s: Let, axis: int) -> None:
        """A name for where a slice starts, unless that is short to write."""
        e, first = self.entries_of(s)[axis], 2 if s.op.name in ("update", "add_at") else 1
        if (s, axis) in self.starts or not (isinstance(e, ViewSpan) and isinstance(e.start, Slot)):
            return
        start = self.start(e, s.args[0].type.shape[axis], s.args[first:])
        if not isinstance(start, (ast.Name, ast.Constant)):
            self.starts[s, axis] = self.kept_as("start", start)

    def kept_as(self, stem: str, value: ast.expr) -> ast.expr:
        name = self.names.new(stem)
        self.put(f"{name} = {to_source(value)}")
        return ast.Name(name, ast.Load())

    def single(self, stage: LoopNest, after: list[FusedNest], later: set[Var]) -> None:
        s = stage.let
        if self.is_library_call(stage):
            self.call(stage)
            return
        if s.op.name == "row_products":
            self.call_for_row(stage)
            return
        if s.op is size_value:
            self.keep_lengths([s.params["size"]])
        index = self.index_of(stage)
        self.check_integers(s, set())
        if s.op.name in ("index", "gather"):
            self.check_index(s, stage.entries, 1, index)
        if stage.stores:
            self.store(stage, index)
            return
        v = self.memory.cell(stage.var)
        if stage in self.summing:
            self.add(stage, v, index)
            return
        if stage.reduced:  # along axes of length one only
            value = self.value(stage, index)
        else:
            self.check_division(stage)
            self.check_shift(s)
            self.check_overflow(stage)
            self.check_draw(stage)
            value = self.value(stage, index)
        if v in self.analysis.targets | self.wholes and v.type.shape and v not in self.home:
            self.home[v] = self.allocate(v, self.free_axes(stage))
        if v in self.home:
            read_here = any(stage.var in item.needs or v in item.needs for item in after)
            if read_here and not isinstance(value, ast.Name):
                value = self.variable_for(stage, value)
            target = self.home_element(
                self.home[v], [number(0) if k is None else index[k] for k in stage.out]
            )
            self.put(f"{to_source(target)} = {to_source(value)}", s.origin)
            if read_here:
                self.local[v] = value
            return
        if s.op.name == "empty":
            return
        if s.op is size_value and not v.name and isinstance(value, (ast.Name, ast.Subscript)):
            self.local[v] = value  # a length that is kept already, or an axis of an array
        elif self.foldable(stage, after, later):
            self.local[v] = value
            self.folded_reads[v] = self.loads(stage)
            self.weight[v] = 1 + sum(self.weight.get(a, 0) for a in s.args if isinstance(a, Var))
        else:
            self.local[v] = self.variable_for(stage, value, self.carry_name(v, later))

    def carry_name(self, v: Var, later: set[Var]) -> str | None:
        """The name of the carry that a number becomes, if that is not read any more."""
        p = self.carry_of.get(v)
        held = None if p is None else self.local.get(p)
        if p in later or self.uses.get(v, 0) != 1 or not isinstance(held, ast.Name):
            return None
        written = [e for a in later if (e := self.local.get(a)) is not None]
        reads = {x.id for e in written for x in ast.walk(e) if isinstance(x, ast.Name)}
        return None if held.id in reads else held.id

    def variable_for(self, stage: LoopNest, value: ast.expr, name: str | None = None) -> ast.expr:
        if isinstance(value, ast.Constant) and name is None:
            return value
        name = name or self.names.new(stage.var.name or self.names.nameless)
        self.put(f"{name} = {to_source(value)}", stage.let.origin)
        return ast.Name(name, ast.Load())

    def foldable(self, stage: LoopNest, after: list[FusedNest], later: set[Var]) -> bool:
        """Whether the value is used once, by what follows here, before memory changes."""
        v = stage.var
        if stage.let.op is draw:
            return False  # each number is drawn once, where the program draws it
        if v in self.live and not self.uses.get(v) and not after and self.loops == 0:
            return not v.type.shape  # written where it is returned
        if (v.name and not v.name.endswith(("_bar", "_dot"))) or not self.used_once(v, after):
            return False
        if 1 + sum(self.weight.get(a, 0) for a in stage.let.args if isinstance(a, Var)) > 5:
            return False
        loads = self.loads(stage)
        if loads and v in self.live:
            return False  # read again where the kernel returns, when memory has changed
        for item in after:
            t = item.statements[0]
            if item.size is not None or not isinstance(t, Let):
                read_at_once = isinstance(t, If) and bool(item.writes)
                return isinstance(t, For | If) and v in operands(t) and (read_at_once or not loads)
            if v in operands(t):
                return not operations.repeats(t) and self.written_once(stage, t)
            if loads and (item.writes or t.outs[0] in self.into):
                return False
        return v in later and not loads  # a result of this block

    def used_once(self, v: Var, after: list[FusedNest]) -> bool:
        """Whether one statement uses a value: of this nest, if later ones read it in memory."""
        if v in self.stored:
            return sum(v in item.needs for item in after) == 1
        return self.uses.get(v, 0) == 1

    def written_once(self, stage: LoopNest, t: Let) -> bool:
        """Whether the statement spells an operand once: as an index, only i + 1 and the like."""
        picks = t.op.name in ("index", "gather") or stage.var in t.args[2:]
        if is_view(t):
            return False
        near = stage.let.op.name in ("add", "sub") and any(
            isinstance(a, Literal) for a in stage.let.args
        )
        return not (picks and t.op.name in ("index", "gather", "update", "add_at")) or near

    def loads(self, stage: LoopNest) -> bool:
        return bool(self.memory.reads(stage.let)) or any(
            self.folded_reads.get(a, False) for a in stage.let.args if isinstance(a, Var)
        )

    def store(self, stage: LoopNest, index: list[ast.expr]) -> None:
        s = stage.let
        first = 1 if s.op.name in OVERWRITES else 2
        self.check_index(s, stage.entries, first, index)
        self.check_fit(stage)
        value = self.value(stage, index)
        target = self.place(s.args[0], self.base_index(s, stage.entries, index, first))
        sign = "="
        if s.op.name == "add_at":
            sign = "+="
        elif s.op.name in OVERWRITES:
            sign = s.op.name.split()[1]
        dtype = s.outs[0].type.dtype
        if s in self.analysis.atomic:
            addition = template("add_at({0}, {1})", {"0": target, "1": value})
            self.put(to_source(addition), s.origin)
            return
        if sign != "=" and dtype.kind in "iu" and dtype != scalar_form.INT:
            holes = {"0": target, "1": value}
            combined = template(f"{{0}} {sign[0]} {{1}}", holes)
            value, sign = scalar_form.convert(dtype, combined), "="
        elif sign in ("+=", "-="):
            value, sign = _as_subtraction(value, sign)
        self.put(f"{to_source(target)} {sign} {to_source(value)}", s.origin)


def _read_instead(item: FusedNest, parts: Iterable[Let]) -> set[Var]:
    """The memory that an item reads in the place of values that it needs."""
    return {a for part in parts if part.outs[0] in item.needs for a in part.args}  # type: ignore[misc]


def _as_subtraction(value: ast.expr, sign: str) -> tuple[ast.expr, str]:
    """x -= v for x += -v, and x -= 2 * v for x += -2 * v."""
    opposite = "-=" if sign == "+=" else "+="
    match value:
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return inner, opposite
        case ast.BinOp(left=ast.UnaryOp(op=ast.USub(), operand=factor), op=ast.Mult(), right=v):
            return ast.BinOp(factor, ast.Mult(), v), opposite
    return value, sign
