"""Writes kernels whose rows threads share: they get the first row and the one after the last.

for i in range(x.shape[0]): y[i] = ...      becomes      for i in range(first, last): y[i] = ...
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import For, Let, Literal, Var
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.kernels.element_access import Buffer
from tapeless.transforms.lowering.kernels.lanes import Lanes
from tapeless.transforms.lowering.kernels.small_integers import SHORT
from tapeless.transforms.lowering.kernels.writer_base import NotCompiled
from tapeless.transforms.lowering.schedule.fusion import FusedNest
from tapeless.transforms.lowering.schedule.loop_nests import LoopNest
from tapeless.transforms.lowering.schedule.parallel_nests import JOINED, KernelPart
from tapeless.transforms.python_text.python_source import to_source

IN_PARALLEL = '''
def in_parallel(kernel, rows, work, *args, own=(), sums=(), join=""):
    """Calls a kernel for all its rows at once; threads may also share them."""
    return kernel(0, rows, *args, *own, *sums)
'''


@dataclass(frozen=True)
class Launch:
    """How the driver calls a kernel for rows.

    own   arrays that hold what belongs to one row: each thread needs some of its own
    sums  arrays that are made anew by each part, and put together
    join  how these, and the numbers that parts return, are put together
    """

    rows: Size
    work: Size
    own: tuple[Var, ...]
    sums: tuple[Var, ...]
    join: tuple[str, ...]

    def text(self, name: str, count: int) -> str:
        """The call, with a hole for each of so many arguments: `own` and `sums` are the last."""
        holes = [f"{{{k}}}" for k in range(count)]
        first, second = count - len(self.own) - len(self.sums), count - len(self.sums)
        arguments = [name, *holes[:first]]
        for keyword, names in (("own", holes[first:second]), ("sums", holes[second:])):
            if names:
                arguments.append(f"{keyword}=({', '.join(names)},)")
        if self.join:
            arguments.append(f'join="{" ".join(self.join)}"')
        return f"in_parallel({', '.join(arguments)})"


def device_call(name: str, count: int, launch: Launch | None) -> str:
    """The call of a kernel of a GPU, with a hole for each of so many arguments: the number of rows
    comes first, None where it has none."""
    holes = [f"{{{k}}}" for k in range(count)]
    if launch is None:
        return f"{name}({', '.join(['None', *holes])})"
    first, second = count - len(launch.own) - len(launch.sums), count - len(launch.sums)
    arguments = holes[:first]
    for keyword, names in (("own", holes[first:second]), ("sums", holes[second:])):
        if names:
            arguments.append(f"{keyword}=({', '.join(names)},)")
    return f"{name}({', '.join(arguments)})"


class RowRangeWriter(Lanes):
    """`part` is what the kernel is for; rows are the passes of its outermost loops."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.part: KernelPart | None = None
        self.own: list[Var] = []
        self.sums: dict[Var, str] = {}
        self.joined: dict[Var, str] = {}  # numbers
        self.bounds_of_rows: list[str] = []
        self.in_element = False  # inside of the loop over a batch
        self.row_axes: dict[Let, int] = {}  # the axis of a statement that the rows run over

    def begin(self, part: KernelPart) -> None:
        if part.rows is not None:
            self.part = part
            self.row_axes = {g.let: k for nest in part.nests for g, k in nest.axes.items()}
            self.bounds_of_rows = [self.names.new("first"), self.names.new("last")]
            self.joined |= part.joined

    @property
    def in_row(self) -> bool:
        """Whether what is written now is done for each row by itself."""
        return self.loops > 0 or self.in_element

    def for_(self, s: For) -> None:
        before = self.in_element
        self.in_element |= self.part is not None and s is self.part.loop
        super().for_(s)
        self.in_element = before

    def span(self, s: For) -> str:
        if self.part is not None and s is self.part.loop:
            if s.start == Literal(0, s.start.type):
                return f"range({', '.join(self.bounds_of_rows)})"
            start = to_source(self.atom(s.start))
            return f"range({', '.join(f'{start} + {bound}' for bound in self.bounds_of_rows)})"
        return super().span(s)

    def limit_rows(self) -> None:
        """Tells the compiler how many rows there are at most, where the kernel relies on that."""
        if self.part is None or self.part.rows is None or not self.natural:
            return
        rows, small = self.canon(self.part.rows), set[dims.Symbol]()
        most = self.magnitude_bound(rows, small)
        if most is None or most > SHORT or not small <= self.natural:
            return
        first, last = self.bounds_of_rows
        before, after = f"range({first}, {last})", f"range({first}, min({last}, {SHORT}))"
        self.lines = [line.replace(f" in {before}:", f" in {after}:") for line in self.lines]
        if before in self.passes_of:
            self.passes_of[after] = self.passes_of[before]

    def are_apart(self, s: For) -> bool:
        return (self.part is None or s is not self.part.loop) and super().are_apart(s)

    def open_axes(self, stage: LoopNest) -> list[int]:
        """The axis of the rows comes first."""
        axes = super().open_axes(stage)
        if self.part is None or self.in_row:
            return axes
        return sorted(axes, key=lambda k: k != self.row_axes.get(stage.let))

    def passes(self, item: FusedNest) -> str:
        if self.part is None or self.in_row:
            return super().passes(item)
        same = item.size is not None and self.analysis.equal(item.size, self.part.rows or 1)
        if not same or any(self.row_axes.get(g.let, k) != k for g, k in item.axes.items()):
            raise NotCompiled("what is written goes along another axis than what was cut")
        return f"range({', '.join(self.bounds_of_rows)})"

    def over_elements(self, v: Var, write: Callable[[list[Any]], None]) -> None:
        """Each thread has the elements of its rows."""
        if self.part is None or self.part.rows is None or self.in_row:
            super().over_elements(v, write)
            return
        index: list[ast.expr | None] = [None] * v.type.ndim
        name = self.index_name()
        index[self.row_axis(v)] = ast.Name(name, ast.Load())
        with self.suite(f"for {name} in range({', '.join(self.bounds_of_rows)}):"):
            self.loops += 1
            self.loops_over(list(v.type.shape), index, write)
            self.loops -= 1
        self.indices.append(name)

    def row_axis(self, v: Var) -> int:
        """The axis of an array along which rows are shared."""
        assert self.part is not None
        v = self.copy_of.get(v, v)
        axes = {nest.vars[v] for nest in self.part.nests if v in nest.vars}
        if len(axes) != 1:
            raise NotCompiled("rows are shared along several axes")
        return axes.pop()

    def allocate(self, v: Var, axes: tuple[int, ...], own: Var | None = None) -> Buffer:
        before = set(self.scratch)
        buffer = super().allocate(v, axes, own)
        if self.part is not None and self.in_row:
            self.own += [w for w in self.scratch if w not in before]
        return buffer

    def may_share(self) -> bool:
        return self.part is None or self.in_row

    def hold_rows(self, item: FusedNest, used: set[Var | None]) -> None:
        size = item.size
        if self.part is not None and size is not None and self.canon(size) in self.sizes:
            self.size(size)  # arguments get their names before what is made here
        before = set(self.home)
        super().hold_rows(item, used)
        if self.part is None or self.in_row:
            return
        for cell in [v for v in self.home if v not in before]:
            if item.cells.get(cell) not in self.home[cell].axes:
                self.own.append(self.memory_of(cell))

    def adds_each_row_up(self) -> bool:
        return self.part is None or self.in_row

    def start_sum(self, stage: LoopNest, v: Var) -> None:
        super().start_sum(stage, v)
        if self.part is None or self.in_row:
            return
        word = JOINED[stage.let.op.name]
        if v in self.home:
            self.sums[self.memory_of(v)] = word
        else:
            self.joined[v] = word

    def memory_of(self, v: Var) -> Var:
        """What the driver makes for a value."""
        names = {self.params[w]: w for w in self.scratch}
        return names[self.home[v].name]

    def launch(self, results: Iterable[Var]) -> Launch | None:
        """How the driver calls the kernel that was written."""
        if self.part is None or self.part.rows is None:
            return None
        join = [self.joined.get(self.memory.cell(v), "first") for v in results]
        return Launch(
            self.analysis.exact(self.part.rows),
            self.part.work,
            tuple(self.own),
            tuple(self.sums),
            (*self.sums.values(), *join),
        )
