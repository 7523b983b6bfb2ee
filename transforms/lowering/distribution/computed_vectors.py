"""Computes vectors of the passes of a block ahead of it, where nothing that the passes change
decides them.

for i in range(first, end): y = (w * x[:, i]) @ x[:, i:]
    becomes      for i in range(first, end): rows[i - first] = w * x[:, i]
                 products = rows @ x[:, first:]; for i in range(first, end): ...
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import current
from tapeless.transforms.core.language import Atom, Block, Let, Type, Var
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.core.uses import reads
from tapeless.transforms.lowering.distribution.loop_parts import LoopParts
from tapeless.transforms.lowering.distribution.parts import ArrayPart, AxisRange, ConsecutivePasses
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.slices_and_gathers import index


@dataclass(frozen=True)
class ComputedVector:
    """A vector of the pass, and the array whose rows are those of a block.

    value  the vector
    axis   which elements it has of one that is the same for all passes
    rows   the array
    slice  the statements that compute it
    """

    value: Var
    axis: AxisRange
    rows: Var
    slice: tuple[Let, ...]

    def part(self, symbol: dims.Symbol, passes: ConsecutivePasses) -> ArrayPart:
        """The part of the array that is the vector of a pass."""
        row, low = dims.single(symbol) - passes.first, passes.union(self.axis).low
        elements = AxisRange(self.axis.low - low, self.axis.high - low)
        return ArrayPart(self.rows, (AxisRange(row, row + 1, is_place=True), elements))

    def type_of_rows(self, passes: ConsecutivePasses) -> Type:
        union = passes.union(self.axis)
        return Type(self.value.type.dtype, (passes.later + 1, union.high - union.low))

    def fill(self, loop: LoopParts, passes: ConsecutivePasses, first: Var, end: Var) -> None:
        """Records the loop that fills the array, in the open block."""
        self.rows.type = self.type_of_rows(passes)
        start = empty(shape=self.rows.type.shape, dtype=self.rows.type.dtype)
        filled = Var(self.rows.type, self.rows.name)
        with current().block() as body:
            for s in self.slice:
                current().emit(s)
            result = self.part(loop.symbol, passes).store_to(filled, self.value)
        block = Block((loop.loop.index, filled), tuple(body), (result,))
        new = replace(
            loop.loop,
            outs=(self.rows,),
            start=first,
            stop=end,
            inits=(start,),
            body=refresh(block)[0],
            mirror=None,
        )
        current().emit(new)


def computed_vector(value: Atom, axis: AxisRange, loop: LoopParts) -> ComputedVector | None:
    """A vector of the pass that can be computed ahead of a block; None if it cannot.

    axis  which elements it has of what it meets
    """
    if not isinstance(value, Var) or value not in loop.inside or value.type.ndim != 1:
        return None
    ends = loop.passes.slope(axis.low), loop.passes.slope(axis.high)
    slice_ = _slice(value, loop)
    if slice_ is None or None in ends or value.type.shape[0] != axis.high - axis.low:
        return None
    vector = ComputedVector(value, axis, Var(value.type, "rows"), slice_)
    vector.rows.type = vector.type_of_rows(loop.passes)
    return vector


def _slice(value: Var, loop: LoopParts) -> tuple[Let, ...] | None:
    """The statements of a pass that compute a value; None if they depend on what passes change, or
    cost more than to read what they compute."""
    needed: set[Let] = set()
    pending = [value]
    while pending:
        v = pending.pop()
        if v not in loop.inside or v is loop.loop.index:
            continue
        s = loop.definitions.get(v)
        if s is None or not s.op.pure or (s.op.costly and not s.op.elementwise):
            return None
        if s in needed:
            continue
        needed.add(s)
        arrays = [a for a in s.args if a in loop.inside and a not in loop.definitions]
        if any(a is not loop.loop.index for a in arrays):
            part = loop.part_of(s) if s.op is index else None
            if part is None or arrays != [s.args[0]] or not loop.is_constant(loop.over_block(part)):
                return None
            pending += [u for u in reads(s) if u is not s.args[0]]
        else:
            pending += reads(s)
    return tuple(s for s in loop.loop.body.body if s in needed)
