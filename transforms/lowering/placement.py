"""Says which kernel each statement of loop form is in, and which of its values have memory there.

y = x * 2; z = sum(y)      becomes      both in f_kernel, where y is a number in a register
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from tapeless.transforms.core.language import (
    Block,
    For,
    Statement,
    Type,
    Var,
    While,
    blocks,
    outputs,
)
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.kernels.element_access import Buffer
from tapeless.transforms.lowering.kernels.kernel import Kernel
from tapeless.transforms.lowering.obstacles import Obstacle
from tapeless.transforms.lowering.schedule.analysis import Analysis
from tapeless.transforms.lowering.schedule.dependences import Dependences


@dataclass(frozen=True)
class DriverLoop:
    """A loop that Python runs: as it is in loop form, as the driver has it, and why."""

    loop: For | While
    lowered: Statement
    obstacle: Obstacle


@dataclass
class Placement:
    """Where the statements of a program in loop form ended up.

    block    the program, before it was split
    analysis what its kernels know of it: loop nests, lengths, and which values share memory
    kernels  the kernel that a statement is in, with all that stands in its blocks; those that are
             in none are statements of the driver
    axes     the axes along which a value has memory in its kernel, by cell; what is not here and is
             defined in a kernel is a number in a register
    inner    the arrays that a kernel makes for itself
    loops    the loops that the driver has to run
    shared   those that it runs because each of their passes is worth all threads
    """

    block: Block
    analysis: Analysis
    kernels: dict[Statement, str] = field(default_factory=dict)
    axes: dict[Var, tuple[int, ...]] = field(default_factory=dict)
    inner: dict[str, list[Type]] = field(default_factory=dict)
    loops: list[DriverLoop] = field(default_factory=list)
    shared: set[Statement] = field(default_factory=set)

    @property
    def memory(self) -> Dependences:
        return self.analysis.memory

    def put(self, run: Iterable[Statement], kernel: Kernel, homes: Mapping[Var, Buffer]) -> None:
        """Statements that became one kernel."""
        self.kernels |= dict.fromkeys(run, kernel.name)
        self.axes |= {cell: buffer.axes for cell, buffer in homes.items()}
        self.inner[kernel.name] = kernel.inner

    def in_registers(self) -> set[Var]:
        """The cells of what kernels define and keep in registers."""
        defined = (v for s in self.kernels for v in _defined_by(s))
        return {cell for v in defined if (cell := self.memory.cell(v)) not in self.axes}


def _defined_by(s: Statement) -> Iterator[Var]:
    yield from outputs(s)
    for b in blocks(s):
        yield from b.params
        for t in b.body:
            yield from _defined_by(t)
