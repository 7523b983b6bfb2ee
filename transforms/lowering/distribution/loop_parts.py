"""Knows which parts of arrays the passes of a loop read and store, and which of them a block of
passes leaves as they are.

for i in range(n): x[i] = f(x[i + 1 :])      passes 8 to 15 read x[16:], and leave it as it is
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import Builder, building, size_of, var_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, For, Let, Var
from tapeless.transforms.core.size_inequalities import Facts, not_negative
from tapeless.transforms.lowering.distribution.carried_arrays import (
    CarriedArray,
    carried_arrays,
    defined_in,
)
from tapeless.transforms.lowering.distribution.parts import (
    ArrayPart,
    AxisRange,
    ConsecutivePasses,
    are_apart,
    part_of,
    whole_array,
)
from tapeless.transforms.ops.primitives.shapes import transpose
from tapeless.transforms.ops.primitives.slices_and_gathers import index


class LoopParts:
    """A loop whose index goes up by one.

    facts   what is known of the sizes of the program
    first   the index in the first pass of a block
    passes  any passes of the loop, one after the other
    """

    def __init__(self, loop: For, facts: Facts, recorder: Builder) -> None:
        self.loop, self.recorder = loop, recorder
        with building(recorder):
            self.start, self.stop = size_of(loop.start), size_of(loop.stop)
        (self.symbol,) = dims.symbols(var_size(loop.index))
        self.first, later = Var(loop.index.type, "first"), dims.symbol("later", 0)
        ranges = {self.first: (self.start, self.stop - 1 - later)}
        self.facts = Facts(facts.sizes, {**facts.ranges, **ranges})
        self.certain: dict[Size, bool] = {}
        lower = 0 if self.is_certain(self.start) else None
        self.passes = ConsecutivePasses(self.symbol, var_size(self.first, lower), later)
        self.inside = defined_in(loop)
        self.definitions: dict[Atom, Let] = {
            v: s for s in loop.body.body if isinstance(s, Let) for v in s.outs
        }
        self.carried = carried_arrays(loop, self.part_of)

    def is_certain(self, size: Size) -> bool:
        """Whether a size is never negative in the loop."""
        if size not in self.certain:
            self.certain[size] = not_negative(size, self.facts)
        return self.certain[size]

    def part_of(self, s: Let) -> ArrayPart | None:
        """The part of an array that a statement reads or stores."""
        with building(self.recorder):
            return part_of(s, self.is_certain)

    def operand(self, a: Atom) -> ArrayPart | None:
        """The part of an array that a value is."""
        s = self.definitions.get(a) if isinstance(a, Var) else None
        if s is None:
            return whole_array(a) if a not in self.inside else None
        if s.op is transpose and s.args[0].type.ndim == 2:
            part = self.operand(s.args[0])
            return None if part is None else replace(part, turned=not part.turned)
        return self.part_of(s) if s.op is index else None

    def is_constant(self, part: ArrayPart) -> bool:
        """Whether no pass of a block changes a part, which depends on the block only."""
        if any(x.var in self.inside for axis in part.axes for x in _symbols(axis)):
            return False
        if part.array not in self.inside:
            return True
        array = self.array_of(part.array)
        return array is not None and self.are_apart(part, [*array.stores, *array.sums])

    def are_apart(self, part: ArrayPart, others: Iterable[ArrayPart | None]) -> bool:
        """Whether a part of a block has no element in common with what its passes name."""
        return all(
            other is not None and are_apart(part, self.over_block(other), self.is_certain)
            for other in others
        )

    def array_of(self, a: Atom) -> CarriedArray | None:
        """The carried array that a value is a version of."""
        return next((array for array in self.carried if a in array.versions), None)

    def over_block(self, part: ArrayPart) -> ArrayPart:
        """What the passes of a block name together, at most."""
        axes = []
        for axis, n in zip(part.axes, part.array.type.shape, strict=True):
            union = AxisRange(0, n)
            if None not in (self.passes.slope(axis.low), self.passes.slope(axis.high)):
                ends = self.passes.union(axis)
                union = union if any(x.var in self.inside for x in _symbols(ends)) else ends
            axes.append(union)
        return ArrayPart(part.array, tuple(axes))

    def left_of(self, axis: AxisRange, passes: ConsecutivePasses) -> AxisRange | None:
        """What a pass names of an axis and not all passes of its block; None if that is nothing."""
        common = passes.common(axis)
        if passes.slope(axis.low):
            last = common.low
            low_enough = self.is_certain(axis.high - last)
            return AxisRange(axis.low, last if low_enough else dims.minimum(last, axis.high))
        return AxisRange(common.high, axis.high) if passes.slope(axis.high) else None


def _symbols(axis: AxisRange) -> frozenset[dims.Symbol]:
    return dims.symbols(axis.low) | dims.symbols(axis.high)
