"""Estimates what statements cost: operations on numbers, and bytes that go to and from memory.

y = sin(x) * 2      in one kernel is      2 operations an element, which loads x and stores y
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

from tapeless.explain.formulas import largest, log2, minimum
from tapeless.explain.known_numbers import KnownNumbers
from tapeless.transformations.compilation.cost_analysis import elements, operations
from tapeless.transforms.core.language import (
    Block,
    Effect,
    For,
    Let,
    StackType,
    Statement,
    Type,
    Var,
    blocks,
)
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.obstacles import library_of
from tapeless.transforms.lowering.placement import Placement
from tapeless.transforms.lowering.schedule.loop_nests import STORING
from tapeless.transforms.lowering.schedule.view_indices import is_view
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, index


@dataclass(frozen=True)
class Work:
    """Operations on numbers, and bytes that are loaded and stored, whatever cache has them; while
    they are added up, each may be a `SizeFormula`, which is added and multiplied as a number is."""

    operations: float = 0.0
    bytes: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(self.operations + other.operations, self.bytes + other.bytes)

    def __mul__(self, times: float) -> Work:
        return Work(times * self.operations, times * self.bytes)


@dataclass(frozen=True)
class WorkStep:
    """A statement as it runs: in which kernel (None: the driver), how often, and what it costs."""

    statement: Statement
    kernel: str | None
    passes: float
    work: Work


class WorkWalk:
    """Goes over the statements of a program in loop form, or in array form without a placement."""

    def __init__(self, numbers: KnownNumbers, placement: Placement | None = None) -> None:
        self.numbers, self.placement = numbers, placement
        self.registers = placement.in_registers() if placement else set[Var]()

    def steps(
        self, block: Block, kernel: str | None = None, passes: float = 1.0
    ) -> Iterator[WorkStep]:
        """Each statement, outer before inner; a `while` counts once, and so does a loop whose
        length arguments do not decide."""
        for s in block.body:
            inside = kernel or (self.placement.kernels.get(s) if self.placement else None)
            work = self.work(s, inside) if isinstance(s, Let) else Work()
            if not (isinstance(s, Effect) and s.kind == "blank"):
                yield WorkStep(s, inside, passes, work * passes)
            times = self.numbers.passes(s) if isinstance(s, For) else 1
            for b in blocks(s):
                yield from self.steps(b, inside, passes * (1 if times is None else times))

    def work(self, s: Let, kernel: str | None) -> Work:
        """What one run of a statement costs."""
        lists = any(isinstance(a.type, StackType) for a in (*s.outs, *s.args))
        if is_view(s) or s.op is empty or (lists and kernel is None):  # lists hold references
            return Work()
        count = 1.0 * operations(s, self.numbers.length)
        return Work(self.of_library(s, kernel) if count == 0 else count, self.traffic(s))

    def of_library(self, s: Let, kernel: str | None) -> float:
        """The operations of a transform or a factorisation, by the leading term."""
        first = next((a.type for a in s.args if isinstance(a.type, Type) and a.type.shape), None)
        if kernel is not None or first is None:
            return 0.0
        lengths, kind = [self.numbers.length(n) for n in first.shape], library_of(s)[0]
        if kind == "FFT":
            return 5.0 * math.prod(lengths) * log2(largest(2, lengths[-1]))  # type: ignore[no-any-return]
        if kind == "LAPACK":
            leading = math.prod(lengths)
            return 1.0 * leading * functools.reduce(minimum, lengths[-2:])
        return 0.0

    def traffic(self, s: Let) -> float:
        """The bytes that a statement loads and stores."""
        if s.op in STORING:  # a part of the first operand is stored to
            times = 2 if s.op is add_at else 1
            loaded = [a for a in s.args[1:] if isinstance(a, Var)]
            return times * self.stored_bytes(s) + sum(map(self.loaded_bytes, loaded))
        if s.op is index:
            size = self.size(s.outs[0].type)
            return size + (size if self.has_memory(s.outs[0]) else 0)
        stored_bytes = sum(self.size(v.type) for v in s.outs if self.has_memory(v))
        return stored_bytes + sum(self.loaded_bytes(a) for a in s.args if isinstance(a, Var))

    def stored_bytes(self, s: Let) -> float:
        """The bytes of the part that a statement stores to."""
        stage = self.placement.analysis.stages.get(s) if self.placement else None
        if stage is None:
            return self.size(s.args[1].type if len(s.args) > 1 else s.outs[0].type)
        lengths = (self.numbers.length(n) for n in stage.space)
        size: float = 1.0 * math.prod(lengths) * s.outs[0].type.dtype.itemsize
        return size

    def loaded_bytes(self, v: Var) -> float:
        return self.size(v.type) if self.has_memory(v) else 0.0

    def has_memory(self, v: Var) -> bool:
        """Whether a value is an array in memory, or a part of one."""
        if not isinstance(v.type, Type) or not v.type.shape:
            return False
        if self.placement is None:
            return True
        base = self.placement.memory.base(v)
        return base is not None and base not in self.registers

    def size(self, kind: object) -> float:
        """The bytes of a value."""
        if not isinstance(kind, Type):
            return 0.0
        return 1.0 * elements(kind, self.numbers.length) * kind.dtype.itemsize
