"""Splits a program into runs of statements that become kernels, and the driver around them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from tapeless.transforms.analysis.suggested_names import nameless_stem
from tapeless.transforms.core import dims, passes
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    StackType,
    Statement,
    Type,
    Var,
    While,
    blocks,
    operands,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.size_inequalities import Facts, Relation
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.device_memory import (
    memory,
    stack_places,
)
from tapeless.transforms.lowering.device_numbers import DeviceNumbers
from tapeless.transforms.lowering.device_stacks import counted_kernels
from tapeless.transforms.lowering.kernel_calls import KernelCalls
from tapeless.transforms.lowering.kernel_profit import KernelProfit
from tapeless.transforms.lowering.kernels.duplicate_kernels import twin
from tapeless.transforms.lowering.kernels.flat_points import flatten_kernel
from tapeless.transforms.lowering.kernels.kernel import Kernel, KernelWriter
from tapeless.transforms.lowering.kernels.merged_rows import merged_rows
from tapeless.transforms.lowering.kernels.verify_rows import verify_rows
from tapeless.transforms.lowering.kernels.writer_base import Names, NotCompiled
from tapeless.transforms.lowering.obstacles import Obstacle, Obstacles, by_writer
from tapeless.transforms.lowering.optimize.driver_views import (
    shows_a_size,
    views_for_driver,
    without_unread_views,
)
from tapeless.transforms.lowering.optimize.own_branch_results import own_branch_results
from tapeless.transforms.lowering.placement import DriverLoop, Placement
from tapeless.transforms.lowering.remove_copies import remove_copies
from tapeless.transforms.lowering.result_memory import with_result_memory
from tapeless.transforms.lowering.rewrite.array_routines import NAMES, TEXTS
from tapeless.transforms.lowering.scalars.operations import form_of
from tapeless.transforms.lowering.schedule.analysis import Analysis
from tapeless.transforms.lowering.schedule.dependences import Dependences, variables_inside
from tapeless.transforms.lowering.schedule.element_loops import (
    NotInLoops,
    over_batch,
)
from tapeless.transforms.lowering.schedule.host_numbers import is_length
from tapeless.transforms.lowering.schedule.library_products import is_called
from tapeless.transforms.lowering.schedule.live_after import remaining
from tapeless.transforms.lowering.schedule.long_runs import shorter
from tapeless.transforms.lowering.schedule.loop_nests import STORES
from tapeless.transforms.lowering.schedule.parallel_nests import KernelPart, NestPartitioner
from tapeless.transforms.lowering.schedule.stack_capacity import (
    is_of_stacks,
    lists_to_fill,
    made_of,
    reads_filled,
    stacks_in,
)
from tapeless.transforms.lowering.schedule.view_indices import entries_of, is_view
from tapeless.transforms.lowering.target import CPU, Target
from tapeless.transforms.ops.primitives import complex_functions, module_functions
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.random_draws import draw
from tapeless.transforms.optimize.placeholders import with_placeholders

DEVICE = "each of its passes is work for all threads of the device"
LARGER = "larger arrays in each pass outweigh the launches"

RESERVED = (
    *(
        "np",
        "empty",
        "njit",
        "plus",
        "plus_product",
        "compensated",
        "product",
        "matrix",
        "matmul",
        "scratch",
        "grown",
        "filled",
        *("each", "turns", "apart", "add_at", "rows", "results", "error", "room", "read"),
    ),
    *("range", "max", "min", "abs", "len"),
    *NAMES,
    *module_functions.NAMES,
    *complex_functions.NAMES,
)


@dataclass
class LoopForm:
    """A program of operations that have loop form, where they have one, and what is known of it.

    sizes    those that are equal
    facts    which sizes cannot be negative
    checks   statements that compare sizes when the driver runs
    relied   relations of sizes that the loops rely on
    donated  parameters whose memory results are in
    """

    block: Block
    sizes: Any
    facts: Facts
    checks: list[Statement]
    relied: list[Relation]
    donated: list[Var]


class Lowering:
    """Splits blocks into runs of compiled statements and the rest."""

    def __init__(
        self,
        name: str,
        prepared: LoopForm,
        hints: Mapping[dims.Symbol, int],
        boundscheck: bool,
        parallel: bool,
        target: Target = CPU,
        on_device: Collection[Var] = (),
        in_memory: bool = False,
    ) -> None:
        """`in_memory` says that kernels have memory for arrays whose lengths their loops change."""
        self.in_memory = in_memory
        self.name, self.prepared, self.block = name, prepared, prepared.block
        self.memory = Dependences()
        self.memory.learn(self.block)
        self.analysis = Analysis(self.memory, prepared.sizes, boundscheck, prepared.facts)
        self.kernels: list[Kernel] = []
        self.hints, self.parallel = hints, parallel
        self.analysis.hints, self.analysis.target, self.target = self.hints, target, target
        self.names, self.nameless = Names(), nameless_stem(prepared.block)
        self.same: dict[Var, Atom] = {}
        self.shown = {a for a in self.block.results if isinstance(a, Var)}  # to the caller
        self.analysis.returned = {self.memory.cell(v) for v in self.shown}
        self.fallbacks: list[str] = []
        self.numbers = DeviceNumbers(self.block, on_device, target)
        params = self.block.params
        self.profit = KernelProfit(self.memory, self.analysis, target, params, self.numbers)
        self.calls = KernelCalls(self.block, self.analysis, target, self.numbers, self.shown)
        self.notes: list[str] = []  # what runs on one block of a GPU, and why
        for s in self.memory.defs.values():
            if isinstance(s, Let) and s.op.name == "index" and is_view(s):
                self.analysis.measure(s, entries_of(s), s.outs[0].type.shape)
        self.constants(self.block)
        lists = self.kept_lists()
        self.obstacles = Obstacles(self.memory, self.analysis, lists, in_memory=in_memory)
        self.placement = Placement(self.block, self.analysis)

    def run(self) -> Block:
        live = {a for a in self.block.results if isinstance(a, Var)}
        stored = frozenset[Var | None](self.analysis.targets)
        body = self.body(self.block.body, live, True)
        body = own_branch_results(body, self.memory, stored)
        driver = Block(self.block.params, (*self.prepared.checks, *body), self.block.results)
        passed = {a for v in self.calls.passed if isinstance(a := self.same.get(v, v), Var)}
        kept = {*self.block.params} - {*self.analysis.targets, *self.prepared.donated}
        driver = remove_copies(substitute(driver, self.same), self.kernels, kept, memory)
        driver = self.numbers.with_read_lengths(without_unread_views(driver))
        driver = driver if self.target.library != "NumPy" else with_result_memory(driver)
        return with_placeholders(driver, passed, memory)

    def constants(self, block: Block) -> None:
        """Notes what is stored into, and which constants can be written where they are read."""
        stored = set(self.stored_arrays(block))
        for s in self.memory.defs.values():
            stage = self.analysis.stage(s)
            if stage is not None and stage.constant and stage.var not in stored:
                self.memory.write_inline(stage.let)
        self.analysis.targets = stored
        self.analysis.unset = {
            v for v in stored if getattr(self.memory.defs.get(v), "op", None) is empty
        }

    def stored_arrays(self, block: Block) -> Iterable[Var]:
        for s in block.body:
            if isinstance(s, Let) and s.op.name in (*STORES, *TEXTS) and isinstance(s.args[0], Var):
                base = self.memory.base(s.args[0])
                assert base is not None
                yield base
            for b in blocks(s):
                yield from self.stored_arrays(b)

    def kept_lists(self) -> set[Var]:
        """The stacks that stay lists: something is done with them that has no loop form."""
        variables = {*self.shown}
        for s in statements(self.block):
            if not blocks(s) and not is_of_stacks(s):
                variables |= {a for a in operands(s) if isinstance(a, Var)}
        return {self.memory.cell(v) for v in variables if isinstance(v.type, StackType)}

    @staticmethod
    def inside_of(run: Iterable[Statement]) -> set[Var]:
        return {v for t in run for v in outputs(t)}

    # -- splitting

    def body(self, body: tuple[Statement, ...], live: set[Var], top: bool) -> list[Statement]:
        live = self.memory.with_needs(live)
        statements_of_driver: list[Statement] = []
        run: list[Statement] = []
        after = self.live_after(body, live)
        fills = any(made_of(self.memory, s) is not None for s in body)
        for s, later in zip(body, after, strict=True):
            if isinstance(s, Effect) and s.kind == "blank":
                continue
            host = self.numbers.is_of_host(s)
            obstacle = None if host else self.obstacle(s, top)
            if not host and obstacle is None and not self.shares_passes(s):
                reads = fills and reads_filled(self.memory, s, run)
                if reads or self.is_as_long(s, run):
                    run, started = lists_to_fill(self.memory, run, [s])
                    needed = later.union(*map(self.memory.needs, [s, *started]))
                    statements_of_driver += self.flush(run, needed, top)
                    run = started
                run.append(s)
                continue
            if self.can_go_before(s, run):
                statements_of_driver.append(s)
                continue
            run, started = lists_to_fill(self.memory, run, [s])
            needed = later.union(*map(self.memory.needs, [s, *started]))
            statements_of_driver += self.flush(run, needed, top)
            run = started
            statements_of_driver += self.inner(s, needed, obstacle)
        return statements_of_driver + self.flush(run, live, top)

    def is_as_long(self, s: Statement, run: list[Statement]) -> bool:
        """Whether a statement makes an array whose size a loop of the run finds out: the driver has
        to know it first."""
        if self.in_memory:
            return False
        sizes = {x for v in outputs(s) for x in sizes_in(v.type)}
        makers = (self.analysis.lengths[x][0] for x in sizes if x in self.analysis.lengths)
        parts = {t for t in makers if t in run}
        named = {x.var for x in sizes if x.var is not None}.union(*(t.args[1:] for t in parts))
        return bool(named) and any(v in named for t in run if blocks(t) for v in outputs(t))

    def obstacle(self, s: Statement, top: bool) -> Obstacle | None:
        """What keeps a statement out of kernels; None if nothing does."""
        obstacle = self.obstacles.obstacle_of(s, top)
        if obstacle is None and not self.in_one_kernel(s):
            return Obstacle(s, DEVICE, LARGER, s)
        return obstacle

    def in_one_kernel(self, s: Statement) -> bool:
        """Whether a loop or branch is made by the threads of one kernel; else the driver makes it,
        and each of its passes may be several kernels."""
        if self.target.separate and isinstance(s, If):
            return not self.has_arrays(s)
        if not self.target.separate or not isinstance(s, (For, While)):
            return True
        self.surround([s])
        parts = NestPartitioner(self.memory, self.analysis, self.hints)
        (item,) = parts.arrangement.run([s])
        if item.size is not None or parts.elements(item) is not None:
            return True
        if not self.has_arrays(s):
            return True
        inner = [self.analysis.stage(t) for b in blocks(s) for t in statements(b)]
        if any(g is not None and is_called(g, self.memory) for g in inner):
            return False
        work = parts.work_of_pass(Block((), tuple(t for b in blocks(s) for t in b.body), ()))
        steps = dims.evaluate(self.analysis.canon(work), self.hints)
        small = steps is not None and steps < self.target.one_block
        if small and not isinstance(work, int):
            self.prepared.relied.append((">=", self.target.one_block, work))
        return small

    def shares_passes(self, s: Statement) -> bool:
        """Whether each pass of a loop is worth all threads: the driver makes the passes then."""
        if self.target.separate or not self.parallel or not isinstance(s, (For, While)):
            return False
        self.surround([s])
        parts = NestPartitioner(self.memory, self.analysis, self.hints)
        (item,) = parts.arrangement.run([s])
        if item.size is not None or parts.elements(item) is not None:
            return False
        body = s.body.body
        if any(map(self.shares_passes, body)):
            self.placement.shared.add(s)
            return True
        self.surround([*body])
        results = {a for b in blocks(s) for a in b.results if isinstance(a, Var)}
        shares = parts.share_a_pass(list(body), self.memory.with_needs(results))
        self.prepared.relied += parts.relied
        self.placement.shared |= {s} if shares else set()
        return shares

    def has_arrays(self, s: Statement) -> bool:
        """Whether a loop or branch is about more than numbers."""
        stages = (self.analysis.stage(t) for b in blocks(s) for t in statements(b))
        return any(g is not None and any(n != 1 for n in g.space) for g in stages)

    def live_after(self, body: Iterable[Statement], live: set[Var]) -> Iterator[set[Var]]:
        return remaining(list(map(self.memory.needs, body)), self.memory.with_needs(live))

    def can_go_before(self, s: Statement, run: list[Statement]) -> bool:
        """Whether a new array can be made before the run that is open."""
        if not self.numbers.is_of_host(s):
            stage = self.analysis.stage(s)
            if stage is None or not stage.constant:
                return False
        defined = self.inside_of(run)
        named = sizes_in(list(s.params.values())) if isinstance(s, Let) else set()
        shown = sizes_in([v.type for v in defined]) if named else set()
        made_here = any(x.var is None and not x.given for x in named & shown)
        return not (made_here or self.memory.needs(s) & defined)

    def inner(self, s: Statement, later: set[Var], obstacle: Any = None) -> list[Statement]:
        """A statement of the driver, whose blocks may call kernels, and what it waits for."""
        if not blocks(s):
            return self.numbers.with_read_results(self.numbers.with_read_indices(s))
        if over_batch(s):
            raise NotInLoops

        def lower_block(b: Block) -> Block:
            live = later | {a for a in b.results if isinstance(a, Var)}
            if isinstance(s, (For, While)):
                live |= self.memory.needs(s)
            self.analysis.closed -= variables_inside(s)
            new = replace(b, body=tuple(self.body(b.body, live, False)))
            self.analysis.closed |= variables_inside(s)
            return new

        new = with_blocks(s, lower_block)
        if obstacle is not None and isinstance(s, (For, While)):
            self.placement.loops.append(DriverLoop(s, new, obstacle))
        return [new] if self.target.returns_numbers else self.numbers.waiting(new)

    def flush(self, run: list[Statement], live: set[Var], top: bool) -> list[Statement]:
        if not run or not self.profit.pays_off(run):
            return run
        error = NotCompiled()
        for parts in self.cuts(run, live):
            state = len(self.kernels), dict(self.same), set(self.names.taken)
            try:
                return self.kernels_for(parts, live)
            except NotCompiled as e:
                count, self.same, self.names.taken = state
                del self.kernels[count:]
                for s in run:
                    self.placement.kernels.pop(s, None)
                error = e
        lists = stacks_in(self.memory, run) - self.obstacles.lists
        if lists:  # the driver has these, and kernels what else they can
            self.obstacles.lists |= lists
            self.obstacles.reasons |= dict.fromkeys(lists, error)
            return self.body(tuple(run), live, top)
        if len(run) > 1 and not self.target.library:
            return self.in_pieces(run, live)
        later = self.live_after(run, live)
        pairs = zip(run, later, strict=True)
        return [t for s, after in pairs for t in self.inner(s, after, by_writer(s, error))]

    def in_pieces(self, run: list[Statement], live: set[Var]) -> list[Statement]:
        """Kernels for what is between loops, and else for each statement, where there is no library
        that would do without."""
        groups = groupby(run, lambda s: s if blocks(s) else None)
        pieces = [[*group] for _, group in groups]
        if len(pieces) == 1:
            pieces = [[s] for s in run]
        needs = [set().union(*map(self.memory.needs, piece)) for piece in pieces]
        after = remaining(needs, self.memory.with_needs(live))
        return [
            t for p, later in zip(pieces, after, strict=True) for t in self.flush(p, later, False)
        ]

    def cuts(self, run: list[Statement], live: set[Var]) -> Iterator[list[KernelPart]]:
        """Ways to cut a run into kernels, the best first."""
        self.surround(run)
        parts = NestPartitioner(self.memory, self.analysis, self.hints)
        kernel_parts = [KernelPart(run)]
        if self.parallel or self.target.separate:
            kernel_parts = parts.partition(run, live)
            self.prepared.relied += parts.relied
        after = self.read_after(kernel_parts, live)
        yield [
            x
            for p, later in zip(kernel_parts, after, strict=True)
            for x in shorter(parts, p, later)
        ]
        yield [KernelPart(run)]

    def kernels_for(self, parts: list[KernelPart], live: set[Var]) -> list[Statement]:
        """A kernel for each part that is worth one."""
        statements_of_driver: list[Statement] = []
        if len(parts) > 1:
            statements_of_driver, parts = self.lengths_first(parts)
        for part, later in zip(parts, self.read_after(parts, live), strict=True):
            is_kernel = self.profit.pays_off(part.statements)
            statements_of_driver += (
                self.kernel(part, later)
                if is_kernel
                else self.numbers.with_read_results(part.statements)
            )
        return statements_of_driver

    def lengths_first(self, parts: list[KernelPart]) -> tuple[list[Statement], list[KernelPart]]:
        """Integers that are made of lengths and integers, which the driver computes ahead of the
        kernels of several parts; and the parts without them."""
        run = sorted(
            (s for p in parts for s in p.statements),
            key=lambda s: min((self.memory.order.get(v, 0) for v in outputs(s)), default=0),
        )
        inside = {v for s in run for v in outputs(s)}
        ahead: dict[Statement, Let] = {}
        for s in run:
            number = self.length(s) if isinstance(s, Let) and is_length(s) else None
            if number is not None and inside.isdisjoint(_needed_by(number)):
                ahead[s] = number
                inside -= set(number.outs)
        shorter_parts = [
            replace(p, statements=[s for s in p.statements if s not in ahead]) for p in parts
        ]
        return [*ahead.values()], [p for p in shorter_parts if p.statements]

    def length(self, s: Let) -> Let | None:
        """An integer made of lengths, spelled by arrays that the driver has; None if it has not."""
        if s.op is not size_value:
            return s
        size = self.analysis.canon(s.params["size"])
        shown_to_driver = all(x.given or x.var is not None for x in dims.symbols(size))
        return replace(s, params={"size": size}) if shown_to_driver else None

    def read_after(self, parts: list[KernelPart], live: set[Var]) -> list[set[Var]]:
        """What is read after each part."""
        read = [self.memory.with_needs(live)]
        for part in reversed(parts[1:]):
            read.append(read[-1].union(*map(self.memory.needs, part.statements)))
        return read[::-1]

    def surround(self, run: list[Statement]) -> None:
        """Notes what a run defines, and which sizes are known before it."""
        analysis = self.analysis
        analysis.inside = {v for s in run for v in (*outputs(s), *variables_inside(s))}
        analysis.seen = {
            x
            for v in set().union(*map(self.memory.needs, run)) - analysis.inside
            if not self.unseen(v)
            for n in getattr(v.type, "shape", ())
            for x in dims.symbols(n)
        }

    def kernel(self, part: KernelPart, live: set[Var]) -> list[Statement]:
        run = part.statements
        analysis = self.analysis
        self.surround(run)
        name = self.name_kernel()
        names = Names({*RESERVED, *self.target.names, *imported_names(run)}, self.nameless)
        writer = KernelWriter(name, self.memory, analysis, names)
        try:
            kernel = writer.run(part, live)
        finally:
            writer.forget_parts()
        self.prepared.relied += writer.relied
        if passes.checks():
            verify_rows(kernel)
        if self.target.separate:
            kernel = merged_rows(flatten_kernel(kernel, analysis.canon), analysis.canon)
            self.notes += one_block(kernel, run)
            counted = counted_kernels(kernel)
            if counted is not None:
                self.same |= kernel.same
                return self.counting(*counted)
        same = twin(kernel, self.kernels)
        if same is None:
            self.kernels.append(kernel)
        else:
            self.names.taken.discard(name)
            kernel.name = same.name
        kernel.draws = any(map(is_draw, statements(Block((), tuple(run), ()))))
        self.placement.put(run, kernel, writer.home)
        self.same |= kernel.same
        analysis.hidden |= analysis.inside.difference(kernel.results)
        views = [s for s in run if isinstance(s, Let) and (is_view(s) or s in self.memory.inline)]
        wanted = live | set(kernel.results)
        return [
            *self.calls.call(kernel),
            *views_for_driver(views, wanted, analysis.inside, self.memory),
        ]

    def counting(
        self, first: Kernel, kernel: Kernel, stacks: list[tuple[Var, Var, Var]]
    ) -> list[Statement]:
        """A kernel that counts what stacks hold, memory for that, and the kernel that fills it."""
        self.kernels += [first, kernel]
        assert kernel.launch is not None
        statements_of_driver: list[Statement] = []
        for counts, _, _ in stacks:
            params = {"shape": (kernel.launch.rows,), "dtype": counts.type.dtype}
            statements_of_driver.append(Let((counts,), memory, (), params))
        statements_of_driver += self.calls.call(first)
        for counts, places, items in stacks:
            total = Var(Type(counts.type.dtype, (), True), "total")
            self.numbers.host.add(total)
            length = dims.symbol("total", None, total)
            statements_of_driver.append(Let((places, total), stack_places, (counts,), {}))
            params = {"shape": (length,), "dtype": items.type.dtype}
            statements_of_driver.append(Let((items,), memory, (), params))
        return [*statements_of_driver, *self.calls.call(kernel)]

    def unseen(self, v: Var) -> bool:
        """Whether the driver may not have an array."""
        s = self.memory.defs.get(v)
        is_view_of_kernels = isinstance(s, Let) and is_view(s) and not shows_a_size(v)
        return is_view_of_kernels or s in self.memory.inline

    def name_kernel(self) -> str:
        return self.names.new(f"{self.name}_kernel")


def is_draw(s: Statement) -> bool:
    return isinstance(s, Let) and s.op is draw


def one_block(kernel: Kernel, run: list[Statement]) -> list[str]:
    """That a kernel with loops runs on one block of a GPU, and why."""
    if kernel.launch is not None or not re.search(r"^ *(for|while) ", kernel.text, re.MULTILINE):
        return []
    origins = [s.origin for s in run if isinstance(s, (For, While)) and s.origin is not None]
    loop = f"the passes of the loop in {origins[0].note.strip('# ')}" if origins else "its loops"
    return [f"{kernel.name} runs on one block of threads: {loop} need each other's results"]


def _needed_by(s: Let) -> Iterator[Any]:
    """The variables of which a statement makes an integer."""
    yield from s.args
    yield from (x.var for x in sizes_in(list(s.params.values())) if not x.given)


def imported_names(body: Iterable[Statement]) -> Iterator[str]:
    """Names of functions that compiled statements may call: no variable has them."""
    for s in body:
        form = form_of(s) if isinstance(s, Let) else None
        if form is not None:
            yield from (name for _, name in form.imports)
        for b in blocks(s):
            yield from imported_names(b.body)
