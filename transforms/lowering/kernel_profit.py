"""Estimates whether a run of statements is worth a kernel."""

from __future__ import annotations

from tapeless.transforms.core.language import (
    Block,
    For,
    Let,
    Statement,
    Var,
    While,
    statements,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.device_numbers import DeviceNumbers
from tapeless.transforms.lowering.obstacles import made_first
from tapeless.transforms.lowering.rewrite.array_routines import is_routine
from tapeless.transforms.lowering.schedule.analysis import Analysis
from tapeless.transforms.lowering.schedule.dependences import Dependences
from tapeless.transforms.lowering.schedule.library_products import is_called
from tapeless.transforms.lowering.schedule.loop_nests import LoopNest
from tapeless.transforms.lowering.schedule.view_indices import is_view
from tapeless.transforms.lowering.target import Target
from tapeless.transforms.ops.primitives.shapes import cast, copy
from tapeless.transforms.ops.primitives.slices_and_gathers import index

SEVERAL = 8  # numbers that take Python longer to compute than to call a kernel
MOVES = frozenset([copy, cast, index])  # what NumPy does as fast


@dataclass(frozen=True)
class KernelProfit:
    """What a kernel saves, for the target of a program with these parameters."""

    memory: Dependences
    analysis: Analysis
    target: Target
    params: tuple[Var, ...]
    numbers: DeviceNumbers

    def pays_off(self, run: list[Statement]) -> bool:
        """Whether a kernel saves more than its call costs; a library copies arrays as fast."""
        if self.target.separate and [getattr(s, "op", None) for s in run] == [copy]:
            return False
        if any(isinstance(s, (For, While)) or is_routine(s) for s in run):
            return True
        if any(map(self.is_of_device, run)):
            return True
        stages = [self.analysis.stage(s) for s in run]
        if any(
            g is not None
            and g.space
            and not made_first(g, self.target)
            and not self.library_is_as_fast(g)
            for g in stages
        ):
            return True
        inside_run = statements(Block((), tuple(run), ()))
        if not self.target.library and any(map(self.reads_arrays, inside_run)):
            return True
        numbers = [g for g in stages if g is not None and g.let.op is not size_value]
        if not any(getattr(p.type, "shape", True) for p in self.params):
            return bool(numbers)
        few = sum(not self.library_is_as_fast(g) for g in numbers) < SEVERAL
        return self.target.returns_numbers and not few

    def reads_arrays(self, s: Statement) -> bool:
        """Whether a statement computes with whole arrays: it is no part of one."""
        if not isinstance(s, Let) or is_view(s) or s.op in MOVES:
            return False
        stage = self.analysis.stage(s)
        is_array = (getattr(a.type, "shape", ()) for a in s.args)
        return stage is not None and any(is_array) and not is_called(stage, self.memory)

    def is_of_device(self, s: Statement) -> bool:
        """Whether a statement makes a number of others that lie in the memory of the device."""
        if self.target.returns_numbers or not isinstance(s, Let):
            return False
        stage = self.analysis.stage(s)
        if stage is None or made_first(stage, self.target) or self.library_is_as_fast(stage):
            return False
        return any(isinstance(a, Var) and a not in self.numbers.host for a in s.args)

    def library_is_as_fast(self, stage: LoopNest) -> bool:
        """Whether a library is as fast."""
        moved = stage.let.op in MOVES and self.target.returns_numbers
        return moved or is_called(stage, self.memory)
