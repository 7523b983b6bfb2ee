"""Partitions statements into kernels whose rows are independent, so that threads may share them.

t = sum(x); y = x / t      becomes      rows of [t += x[i]], then rows of [y[i] = x[i] / t]
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    Statement,
    Var,
    While,
    blocks,
    outputs,
)
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.rewrite.array_routines import is_routine
from tapeless.transforms.lowering.schedule.analysis import Analysis
from tapeless.transforms.lowering.schedule.dependences import Dependences, size_of_atom
from tapeless.transforms.lowering.schedule.fusion import Arrangement, FusedNest
from tapeless.transforms.lowering.schedule.independent_passes import joins_of_independent_passes
from tapeless.transforms.lowering.schedule.library_products import is_called
from tapeless.transforms.lowering.schedule.loop_nests import LoopNest, takes_long
from tapeless.transforms.lowering.schedule.sink_producers import made_later
from tapeless.transforms.lowering.schedule.view_indices import is_view
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.numpy.reductions import REDUCTIONS
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.random_draws import draw

HEAVY = 1 << 24  # additions from which nests are worth kernels of their own, and threads
#: The same beside products of matrices, which a library makes: what lies between kernels is given
#: back as soon as it was read.
BESIDE_PRODUCTS = 1 << 21
COMPUTED = 12  # additions for each element that are worth threads in each pass of a loop
COSTLY = 12  # additions that take as long as a logarithm, in vectors both
MANY_PASSES = 16  # of loops that run-time values end
#: How results of parts are put together, by the operation that made them.
JOINED = {"matmul": "sum", **{name: name for name in ("sum", "prod", "max", "min", "any", "all")}}


@dataclass
class KernelPart:
    """Statements of one kernel; `rows` and the work of one, if threads may share the rows."""

    statements: list[Statement]
    rows: Size | None = None
    work: Size = 0
    nests: list[FusedNest] = field(default_factory=list)
    loop: For | None = None  # where the rows are the passes of a loop
    joined: dict[Var, str] = field(default_factory=dict)  # numbers that its passes add up


class NestPartitioner:
    """Cuts a run of statements into parts; `hints` are the sizes in the first call."""

    def __init__(
        self, memory: Dependences, analysis: Analysis, hints: Mapping[dims.Symbol, int]
    ) -> None:
        self.memory, self.analysis, self.hints = memory, analysis, hints
        self.relied: list[tuple[str, Size, Size]] = []  # what holds in calls of little work
        self.arrangement = self.arrange([])

    def arrange(self, run: list[Statement]) -> Arrangement:
        """Which of the statements share a loop."""
        arrangement = Arrangement(
            self.memory,
            self.analysis.equal,
            self.analysis.stage,
            _long_axes,
            lambda v: (),
            called=lambda stage: is_called(stage, self.memory),
            rank=self.analysis.target.rank,
        )
        arrangement.run(run)
        return arrangement

    def partition(self, run: list[Statement], live: Collection[Var]) -> list[KernelPart]:
        """One kernel where all rows are apart; several only where there is much to do. `live` is
        read after the run."""
        written = [s for s in run if not self.read_through(s)]
        parts = list(self.parts_with_rows(written, live))
        if not self.analysis.target.separate:
            if len(parts) > 1:
                parts = list(_serial_together(parts, self.heavy(parts)))
            least = self.least_work(parts)
            if all(p.rows is None or _is_less(p.rows * p.work, least) for p in parts):
                return [KernelPart(run)]
        return self.with_views(parts, run) if parts else [KernelPart(run)]

    def share_a_pass(self, body: list[Statement], live: Collection[Var]) -> bool:
        """Whether most of what a pass of a loop does is worth the threads, in this call; whether it
        is, calls for which the program is made have to agree on. `live` is read after the pass.

        It is where much is computed for each element: a nest that only moves numbers has to wait
        for the memory, and is faster in one kernel with the whole loop, which makes no arrays anew.
        """
        parts = list(self.parts_with_rows([s for s in body if not self.read_through(s)], live))
        shared = [p for p in parts if p.rows is not None]
        work = self.analysis.canon(sum((p.rows or 1) * p.work for p in shared))
        elements = sum((p.rows or 1) * self.elements_of_row(n) for p in shared for n in p.nests)
        total = self.work_of_pass(Block((), tuple(body), ()))
        work_now, elements_now, total_now = map(self.in_this_call, (work, elements, total))
        if work_now < max(COMPUTED * elements_now, total_now / 2) or not self.heavy(parts):
            return False
        self.relied += [(">=", work, self.least_work(parts))] * (not isinstance(work, int))
        return True

    def with_views(self, parts: list[KernelPart], run: list[Statement]) -> list[KernelPart]:
        """The parts with what is read through, and in the order of the run."""
        self.place([s for s in run if self.read_through(s)], parts)
        order = {id(s): k for k, s in enumerate(run)}
        for part in parts:
            part.statements.sort(key=lambda s: order[id(s)])
        return parts

    def read_through(self, s: Statement) -> bool:
        """Whether nothing is written for a statement: what it stands for is where it is read."""
        if isinstance(s, Effect):
            return s.kind in ("blank", "errstate")
        return isinstance(s, Let) and (s in self.memory.inline or s.op is empty or is_view(s))

    def place(self, free: list[Statement], parts: list[KernelPart]) -> None:
        """Puts statements to the first part that reads what they stand for."""
        needs = [set().union(*map(self.memory.needs, p.statements)) for p in parts]
        for s in free:
            wanted = (k for k, names in enumerate(needs) if not names.isdisjoint(s.outs))
            parts[next(wanted, -1)].statements.append(s)

    # -- parts

    def parts_with_rows(self, run: list[Statement], live: Collection[Var]) -> Iterator[KernelPart]:
        """Parts with rows, each after the numbers that it needs, and what is between them."""
        waiting: list[Statement] = []
        late: list[Statement] = []  # numbers that nothing has needed yet
        open_: KernelPart | None = None
        self.arrangement = self.arrange(run)
        for item in made_later(self.arrangement, live, ()):
            loop = self.elements(item)
            if loop is None and self.may_be_late(item):
                late += item.statements
                continue
            needed = self.needed_numbers(item, late)
            if loop is None and open_ is not None and self.may_come_first(needed, open_, waiting):
                open_.statements += needed
                late = [s for s in late if s not in needed]
            else:
                waiting, late = [*late, *waiting], []
            if loop is not None:
                if open_ is not None:
                    yield open_
                if not all(self.may_repeat(s, item) for s in waiting):
                    yield KernelPart(waiting)
                    waiting = []
                yield replace(loop, statements=[*waiting, *loop.statements])
                open_, waiting = None, []
            elif self.is_of_library(item):
                yield from [open_] if open_ is not None else []
                yield from [KernelPart(waiting)] if waiting else []
                yield KernelPart(item.statements)
                open_, waiting = None, []
            elif not self.has_independent_rows(item):
                waiting += item.statements
            elif open_ is not None and not waiting and self.joins(item, open_):
                self.add(item, open_)
            else:
                waiting, late = [*late, *waiting], []
                if open_ is not None:
                    yield open_
                if not all(self.may_repeat(s, item) for s in waiting):
                    yield KernelPart(waiting)
                    waiting = []
                open_ = KernelPart(waiting, item.size)
                self.add(item, open_)
                waiting = []
        if open_ is not None:
            yield open_
        if waiting or late:
            yield KernelPart([*late, *waiting])

    def may_be_late(self, item: FusedNest) -> bool:
        """Whether an item makes numbers that may as well be made later, by what needs them."""
        return self.analysis.target.separate and all(
            isinstance(s, Let) and self.may_repeat(s, item) for s in item.statements
        )

    def needed_numbers(self, item: FusedNest, late: list[Statement]) -> list[Statement]:
        """Those of the numbers that an item needs, and what they are made of."""
        wanted = set().union(*map(self.memory.needs, item.statements))
        needed = []
        for s in reversed(late):
            if not wanted.isdisjoint(outputs(s)):
                wanted |= self.memory.needs(s)
                needed.append(s)
        return needed[::-1]

    def may_come_first(
        self, numbers: list[Statement], part: KernelPart, waiting: list[Statement]
    ) -> bool:
        """Whether numbers can be made before the nests of a part, and before what waits."""
        nests = [s for nest in part.nests for s in nest.statements]
        defined = {v for s in (*nests, *waiting) for v in outputs(s)}
        return not any(defined & self.memory.needs(s) for s in numbers)

    def is_of_library(self, item: FusedNest) -> bool:
        """Whether the driver calls a library for a product, which no kernel of its own can do."""
        if not self.analysis.target.separate or item.size is not None:
            return False
        stage = self.analysis.stage(item.statements[0])
        return stage is not None and is_called(stage, self.memory)

    def elements(self, item: FusedNest) -> KernelPart | None:
        """The loop over a batch, or of the user, that an item is, if its passes are apart."""
        s = item.statements[0]
        if not isinstance(s, For) or len(item.statements) > 1 or item.size is not None:
            return None
        atomic = set[Let]()
        may_add = self.analysis.may_add_atomically
        joined = joins_of_independent_passes(self.memory, s, may_add, atomic)
        is_length_known = joined is not None and self.analysis.is_known_outside(self.length(s))
        if not is_length_known or not (joined or s.carries):
            return None
        self.analysis.atomic |= atomic
        return KernelPart(
            [s], self.length(s), self.work_of_pass(s.body), loop=s, joined=joined or {}
        )

    def length(self, s: For) -> Size:
        return size_of_atom(self.memory, s.stop) - size_of_atom(self.memory, s.start)

    def work_of_pass(self, block: Block) -> Size:
        """What is done in a pass, as far as that is known: loops may make any number of passes."""
        total: Size = 0
        for s in block.body:
            inner = sum(map(self.work_of_pass, blocks(s)))
            if is_routine(s):
                inner = MANY_PASSES * self.known_part(dims.product(s.outs[0].type.shape))
            elif isinstance(s, Let):
                inner = self.work(s, {})
            total = total + inner * self.known_passes(s)
        return total

    def known_passes(self, s: Statement) -> Size:
        if not isinstance(s, (For, While)):
            return 1
        if isinstance(s, For) and not s.until and s.step == Literal(1, s.step.type):
            length = self.length(s)
            if self.analysis.is_known_outside(length):
                return dims.maximum(length, 0)
        return MANY_PASSES

    def add(self, item: FusedNest, part: KernelPart) -> None:
        part.statements += item.statements
        part.nests.append(item)
        part.work = part.work + self.memory_traffic(item)
        for s in item.statements:
            part.work = part.work + self.work(s, item.axes)

    def may_repeat(self, s: Statement, item: FusedNest) -> bool:
        """Whether each thread may compute a number for itself."""
        if isinstance(s, Effect):
            return s.kind == "check"
        stage = self.analysis.stage(s)
        if stage is None or stage.stores or stage.var.type.shape or stage.reduced:
            return False
        if stage.let.op is draw:
            return False
        return not self.memory.reads(s) & item.writes

    def joins(self, item: FusedNest, part: KernelPart) -> bool:
        """Whether a nest runs over the rows of a part, and reads of them its own row only."""
        assert item.size is not None
        nests = {s for before in part.nests for s in before.statements}
        return (
            self.analysis.equal(item.size, part.rows or 1)
            and all(self.may_repeat(s, item) for s in part.statements if s not in nests)
            and all(self.in_step(item, before) for before in part.nests)
        )

    def in_step(self, item: FusedNest, before: FusedNest) -> bool:
        for s in item.statements:
            if isinstance(s, For) and self.memory.needs(s) & self.variables_of(before):
                return False
        for stage, axis in item.axes.items():
            needs = self.memory.needs(stage.let)
            inside = {v for v in needs if self.arrangement.made.get(v) is before}
            if not self.arrangement.in_step(stage, axis, before, inside):
                return False
            reads, writes = self.memory.reads(stage.let), self.memory.writes(stage.let)
            touched = reads & before.writes or writes & (before.reads | before.writes)
            if touched and not self.arrangement.touches_other_elements(
                stage, axis, before, reads, writes
            ):
                return False
        return True

    def variables_of(self, item: FusedNest) -> set[Any]:
        return {v for v, maker in self.arrangement.made.items() if maker is item}

    # -- rows

    def has_independent_rows(self, item: FusedNest) -> bool:
        """Whether the rows of a nest may be made in any order, by several threads."""
        if item.size is None or not self.analysis.is_known_outside(item.size):
            return False
        return all(isinstance(s, (Let, For)) for s in item.statements) and all(
            self.stage_apart(stage, axis, item) for stage, axis in item.axes.items()
        )

    def stage_apart(self, stage: LoopNest, axis: int, item: FusedNest) -> bool:
        if axis in stage.reduced and stage.let.op not in (matmul, *REDUCTIONS):
            return False
        reads, writes = self.memory.reads(stage.let), self.memory.writes(stage.let)
        if not reads & item.writes and not writes:
            return True
        if self.arrangement.touches_other_elements(stage, axis, item, reads, writes):
            return True
        return self.adds_atomically(stage, item)

    def adds_atomically(self, stage: LoopNest, item: FusedNest) -> bool:
        """Whether passes only add to elements of an array that several of them may add to, in an
        order that does not matter."""
        if not self.analysis.may_add_atomically(stage.let):
            return False
        others: list[Statement] = [g.let for g in item.axes if g is not stage]
        others += [s for s in item.statements if not isinstance(s, Let)]
        writes = self.memory.writes(stage.let)
        if any(writes & (self.memory.reads(s) | self.memory.writes(s)) for s in others):
            return False
        self.analysis.atomic.add(stage.let)
        return True

    def side_by_side(self, item: FusedNest) -> bool:
        """Whether the passes of a nest inside of a kernel may be made by several threads."""
        return all(isinstance(s, (Let, For)) for s in item.statements) and all(
            self.stage_apart(stage, axis, item) for stage, axis in item.axes.items()
        )

    # -- work

    def heavy(self, parts: list[KernelPart]) -> set[int]:
        """Which parts are worth kernels of their own in this call. The calls for which the program
        is made have to agree."""
        work = {id(p): self.analysis.canon(p.rows * p.work) for p in parts if p.rows is not None}
        total, least = sum(work.values()), self.least_work(parts)
        sizes = dict.fromkeys([total, *work.values()])
        in_call = {size: dims.evaluate(size, self.hints) for size in sizes}
        total_in_call = in_call[total]
        if total_in_call is None:
            return set()
        if total_in_call < least:
            self.rely_on_less([total], least)
            return set()
        heavy = {p for p, size in work.items() if (in_call[size] or 0) >= least}
        if not heavy:
            self.rely_on_less(work.values(), least)
        return heavy

    def rely_on_less(self, sizes: Iterable[Size], least: int) -> None:
        """Notes that these amounts of work are not worth kernels of their own."""
        for size in dict.fromkeys(sizes):
            self.relied += [(">=", least - 1, size)] * (not isinstance(size, int))

    def least_work(self, parts: list[KernelPart]) -> int:
        """The additions from which a part is worth a kernel of its own."""
        stages = [self.analysis.stage(s) for p in parts for s in p.statements]
        products = any(stage is not None and is_called(stage, self.memory) for stage in stages)
        return BESIDE_PRODUCTS if products else HEAVY

    def in_this_call(self, size: Size) -> float:
        """A size in the call that the program is made for; infinite if that does not tell."""
        n = dims.evaluate(self.analysis.canon(size), self.hints)
        return math.inf if n is None else n

    def elements_of_row(self, item: FusedNest) -> Size:
        """How many elements a row of a nest has."""
        stage, axis = next(iter(item.axes.items()))
        return self.inner(stage, axis)

    def memory_traffic(self, item: FusedNest) -> Size:
        """What it takes to read and write a row of a nest."""
        return self.analysis.target.memory * self.elements_of_row(item)

    def inner(self, stage: LoopNest, axis: int | None) -> Size:
        return self.known_part(dims.product(n for k, n in enumerate(stage.space) if k != axis))

    def work(self, s: Statement, axes: Mapping[LoopNest, int]) -> Size:
        """How much is done for a row, in additions; sizes that the driver does not know count as
        one."""
        if isinstance(s, For):
            return self.passes(s) * sum(self.work(t, axes) for t in s.body.body)
        if isinstance(s, If):
            return sum(self.work(t, axes) for b in (s.then, s.orelse) for t in b.body)
        stage = self.analysis.stage(s)
        if stage is None or self.read_through(s):
            return 0
        costly = COSTLY if stage.let.op.elementwise and takes_long(stage.let) else 1
        scalar = stage.let.op.scalar
        work = scalar.work if scalar is not None and scalar.work else costly
        return work * self.inner(stage, axes.get(stage))

    def passes(self, s: For) -> Size:
        bounds = [a for a in (s.start, s.stop, s.step) if isinstance(a, Literal)]
        if len(bounds) < 3:
            return 1
        return len(range(*(int(a.value) for a in bounds)))

    def known_part(self, size: Size) -> Size:
        size = self.analysis.canon(size)
        return dims.substitute(
            size, lambda x: None if self.analysis.is_known(dims.single(x)) else 1
        )


def _serial_together(parts: list[KernelPart], heavy: set[int]) -> Iterator[KernelPart]:
    """The parts; what is not heavy is done by one thread, in one kernel with what is next to it."""
    waiting: list[Statement] = []
    for part in parts:
        if id(part) not in heavy:
            waiting += part.statements
            continue
        if waiting:
            yield KernelPart(waiting)
        waiting = []
        yield part
    if waiting:
        yield KernelPart(waiting)


def _is_less(work: Size, least: int) -> bool:
    """Whether threads pay in no call."""
    return isinstance(work, int) and work < least


def _long_axes(stage: LoopNest) -> list[int]:
    return [k for k, n in enumerate(stage.space) if n != 1]
