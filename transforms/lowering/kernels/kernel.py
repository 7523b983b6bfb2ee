"""Writes a run of statements as the text of one compiled function: loops over scalars.

y = x * x; s = sum(y)      becomes      for i in range(x.shape[0]): s = plus(s, x[i] * x[i])
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any

from tapeless.transforms.core import dims, scalar_form
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Let,
    Statement,
    Type,
    Var,
    blocks,
    operands,
    outputs,
)
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.kernels.blocked_sums import Blocks
from tapeless.transforms.lowering.kernels.dead_lines import without_unread
from tapeless.transforms.lowering.kernels.row_range import IN_PARALLEL, Launch, RowRangeWriter
from tapeless.transforms.lowering.kernels.scratch import helper, is_tiny, made_inside
from tapeless.transforms.lowering.kernels.writer_base import Names, NotCompiled
from tapeless.transforms.lowering.rewrite.array_routines import is_routine, searched
from tapeless.transforms.lowering.schedule.dependences import Dependences, is_array
from tapeless.transforms.lowering.schedule.parallel_nests import KernelPart
from tapeless.transforms.lowering.schedule.reassociable_sums import totals
from tapeless.transforms.lowering.schedule.stack_capacity import made_of
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.optimize.algebra.facts import as_written
from tapeless.transforms.python_text.line_breaking import wrap
from tapeless.transforms.python_text.python_source import to_source


@dataclass
class Kernel:
    """A finished kernel: its text, and what the driver passes and gets."""

    name: str
    text: str
    arguments: list[Atom | Size]
    scratch: list[tuple[Var, Type]]  # arrays that the driver makes first
    results: tuple[Var, ...]  # numbers that it returns, and arrays of what stacks hold
    same: dict[Var, Var]  # values that are found in the memory of another variable
    imports: set[tuple[str, str]]
    helpers: dict[str, None]
    launch: Launch | None = None  # how it is called, if threads may share its rows
    types: dict[str, Type] = field(default_factory=dict)  # of what the driver passes, by name
    inner: list[Type] = field(default_factory=list)  # of the arrays that it makes for itself
    tells: bool = False  # whether it gives errors of the user's by their numbers
    draws: bool = False  # whether it draws random numbers, in the order of the program
    stacks: frozenset[str] = frozenset()  # parameters that hold the stacks of all rows
    outline: tuple[int, ...] = ()  # what it has in common with those that do the same


class KernelWriter(RowRangeWriter):
    """Writes one kernel. `live` are the variables that are read after the run."""

    def __init__(self, name: str, memory: Dependences, analysis: Any, names: Names) -> None:
        super().__init__(memory, analysis, names)
        self.kernel_name = name

    def run(self, part: KernelPart, live: set[Var]) -> Kernel:
        body = part.statements
        self.begin(part)
        self.live = live
        self.count_uses(body)
        self.totals = {} if as_written.get() else totals(body, self.uses)
        defined = {v for s in body for v in outputs(s)}
        for s in body:
            for v in sorted(self.memory.needs(s), key=self.memory.order.__getitem__):
                if v not in defined and is_array(v) and not self.seen_through(v):
                    self.know_sizes(v)
        defined_here = [v for v in defined_in_order(body) if v in live]
        lists = {v for s in body if made_of(self.memory, s) is not None for v in outputs(s)}
        for v in defined_here:
            if not isinstance(v.type, Type):
                raise NotCompiled("a list is read behind the loop")
            if v.type.shape and not self.seen_through(v) and v not in lists:
                self.keep(v)
        self.body(body, live)
        results = tuple(v for v in defined_here if v in lists or self.is_returned(v))
        if results:
            values = [to_source(self.atom(v)) for v in results]
            self.put(f"return {', '.join(values)}")
        small = self.lines_of_limits()
        self.limit_rows()
        inner = self.inner(defined_here)
        first = made_inside(self, inner, self.analysis.hints)
        self.helpers |= helper(first)
        self.params = {a: self.params[a] for a in sorted(self.params, key=self.place_of)}
        parameters = (*self.bounds_of_rows, *self.params.values())
        head = wrap(f"def {self.kernel_name}({', '.join(parameters)}):")
        lines = without_unread("\n".join(head), [*small, *first, *self.lines] or ["    pass"])
        if self.analysis.target.sums_in_blocks:
            lines = self.in_blocks("\n".join(head), lines)
        launch = self.launch(results)
        if launch is not None and self.analysis.target.returns_numbers:
            self.helpers[IN_PARALLEL.strip()] = None
        decorator = '@njit(nogil=True, error_model="numpy")'
        same = {v: self.memory.cell(v) for v in defined_here if self.memory.cell(v) is not v}
        return Kernel(
            self.kernel_name,
            "\n".join([decorator, *head, *lines]),
            list(self.params),
            [(v, t) for v, t in self.scratch.items() if v in self.params],
            results,
            same,
            self.imports,
            self.helpers,
            launch,
            {name: self.type_of(a) for a, name in self.params.items()},
            [t for v, t in inner.items() if v not in self.params],
            self.tells,
        )

    def is_returned(self, v: Var) -> bool:
        """Whether the kernel returns a number: one of an array whose rows threads share is read by
        the driver when all have stored theirs."""
        shared_rows = self.part is not None and self.part.rows is not None
        return not (v.type.shape or (shared_rows and self.seen_through(v)))

    def type_of(self, a: Var | Size) -> Type:
        """What the driver passes: an array, a number, or a size."""
        if isinstance(a, Var):
            return self.scratch.get(a) or a.type
        return Type(scalar_form.INT, (), True)

    def in_blocks(self, head: str, lines: list[str]) -> list[str]:
        """The lines with sums in blocks. The kernel is for loops that are no longer, then, than
        those that get none may be."""
        size = self.analysis.canon
        passes = {k: dims.evaluate(size(n), self.analysis.hints) for k, n in self.passes_of.items()}
        blocks = Blocks(self.names, self.summed, passes, as_written.get())
        lines = blocks.lines(head, lines)
        self.helpers |= blocks.helpers
        for text, most in blocks.limits.items():
            n = size(self.passes_of.get(text, 0))
            if (
                not isinstance(n, int)
                and passes[text] is not None
                and self.analysis.is_known_outside(n)
            ):
                self.relied.append((">=", most, n))
        return lines

    def inner(self, defined: Iterable[Var]) -> dict[Var, Type]:
        """Arrays that nothing outside reads; what belongs to one row is made here if it is tiny,
        else threads that share rows get theirs from outside."""
        homes = (self.home.get(self.memory.cell(v)) for v in defined)
        kept = {home.name for home in homes if home is not None}
        candidates = {v: self.scratch[v] for v in self.own} if self.part else self.scratch
        wanted = is_tiny if self.part else lambda t: True
        inner = {v: t for v, t in candidates.items() if self.params[v] not in kept and wanted(t)}
        self.own = [v for v in self.own if v not in inner]
        return inner

    def place_of(self, a: Any) -> tuple[int, int]:
        """Parameters come in the order of the program, then sizes, then memory for the kernel."""
        if a in self.scratch:
            return 2 + (a in self.own) + 2 * (a in self.sums), 0
        return (0, self.memory.order[a]) if isinstance(a, Var) else (1, 0)

    def count_uses(self, body: Iterable[Statement]) -> None:
        for s in body:
            for a in operands(s):
                self.use(a)
            if is_routine(s) or (isinstance(s, Let) and s.op is searched):
                self.wholes |= {self.memory.base(a) for a in operands(s)}
            if isinstance(s, Let) and s.op is matmul:
                self.multiplied |= {self.memory.base(a) for a in operands(s)}
            for v in s.params.values() if isinstance(s, Let) else ():
                for x in _size_vars(v):
                    self.uses[x] = 2
            for b in blocks(s):
                self.count_uses(b.body)
                self.handed.update(b.results)
                for a in b.results:
                    self.use(a)

    def use(self, a: Any) -> None:
        if isinstance(a, Var):
            self.uses[a] = self.uses.get(a, 0) + 1


def defined_in_order(body: Iterable[Statement]) -> list[Var]:
    return [v for s in body for v in outputs(s)]


def _size_vars(value: Any) -> list[Var]:
    if isinstance(value, dims.Dim):
        return [x.var for x in dims.symbols(value) if x.var is not None]
    if isinstance(value, tuple):
        return [x for v in value for x in _size_vars(v)]
    return []
