"""Describes what passes of a loop add to parts of an array, where some passes can add it together
when they are done.

total[:, i:] += outer(a, b)      the passes from `first` to `last` add a_rows.T @ b_rows to
                                 total[:, last:], where these hold a and b of each pass
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let
from tapeless.transforms.lowering.distribution.loop_parts import LoopParts
from tapeless.transforms.lowering.distribution.part_products import has_place, is_of_pass
from tapeless.transforms.lowering.distribution.parts import ArrayPart, AxisRange, ConsecutivePasses
from tapeless.transforms.lowering.distribution.products import of_one_dtype
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.arithmetic import mul
from tapeless.transforms.ops.primitives.comparisons_and_rounding import not_equal
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import reshape, transpose
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at


@dataclass(frozen=True)
class PassVector:
    """A vector of a pass.

    value  the vector
    axis   which elements it has of one that is the same for all passes
    part   the part of an array that it is, if that is still there when a block ends; None: the
           vectors of a block have to be kept
    is_chosen  whether some passes keep zeros in its place
    """

    value: Atom
    axis: AxisRange
    part: ArrayPart | None
    is_chosen: bool = False

    def of_axis(self, axis: AxisRange) -> Atom:
        """Some of its elements, recorded in the open block."""
        some = AxisRange(axis.low - self.axis.low, axis.high - self.axis.low)
        return ArrayPart(self.value, (some,)).read(self.value, [0])


Rows = Callable[[PassVector, AxisRange], Atom]
Latest = Callable[[Atom], Atom]
OfAxis = Callable[[AxisRange], AxisRange]


@dataclass(frozen=True)
class DeferredSum:
    """A statement that adds a product to a part of an array.

    let      the statement
    target   the part, of an array of two axes
    vectors  the factors of an outer product, in the order of the axes; or the one vector that a
             matrix is multiplied with, where the index of the pass names the other axis
    matrix   that matrix
    keeps_zeros  whether zeros of the second factor stay zero where the first one is not finite
    """

    let: Let
    target: ArrayPart
    vectors: tuple[PassVector, ...]
    matrix: ArrayPart | None = None
    keeps_zeros: bool = False

    @property
    def place(self) -> int:
        """The axis of the target that is the index of the pass."""
        (k,) = (k for k, axis in enumerate(self.target.axes) if axis.is_place)
        return k

    @property
    def contracted_axis(self) -> int:
        """The axis of the matrix's array over which the product sums."""
        assert self.matrix is not None
        return self.matrix.order[1]

    @property
    def multiplications(self) -> Size:
        """How many numbers are multiplied in a pass."""
        axes = self.target.axes if self.matrix is None else self.matrix.axes
        return dims.product(axis.high - axis.low for axis in axes)

    def of_passes(self, passes: ConsecutivePasses, of_axis: OfAxis) -> ArrayPart:
        """The part to which some passes add together.

        of_axis  what they name together of an axis
        """
        axes = []
        for axis in self.target.axes:
            common = of_axis(axis)
            low = passes.minimum_of(axis.low)
            axes.append(AxisRange(low, low + passes.later + 1) if axis.is_place else common)
        return ArrayPart(self.target.array, tuple(axes))

    def increment(self, rows: Rows, latest: Latest, of_axis: OfAxis) -> Atom:
        """What is added to that part, recorded in the open block.

        rows     finds the vectors of all passes, of which it takes some elements
        latest   finds what an array is after the passes
        of_axis  what the passes name together of an axis
        """
        if self.matrix is None:
            a, b = (rows(v, of_axis(v.axis)) for v in self.vectors)
            return matmul(transpose(a, axes=(1, 0)), b)  # type: ignore[no-any-return]
        (vector,) = self.vectors
        matrix = self.matrix.with_axis(
            self.contracted_axis, of_axis(self.matrix.axes[self.contracted_axis])
        )
        free, summed = self.matrix.order
        all_rows = rows(vector, of_axis(vector.axis))
        array = latest(matrix.array)
        if self.place == 0:
            return matmul(all_rows, matrix.read(array, [summed, free]))  # type: ignore[no-any-return]
        columns = transpose(all_rows, axes=(1, 0))
        return matmul(matrix.read(array, [free, summed]), columns)  # type: ignore[no-any-return]

    def add_remaining(self, passes: ConsecutivePasses, loop: LoopParts) -> Atom:
        """The array after a pass has added what is left for it, recorded in the open block."""
        array = self.let.args[0]
        if self.matrix is None:
            return self._outer_product_left(passes, loop)
        (vector,) = self.vectors
        axis = loop.left_of(self.matrix.axes[self.contracted_axis], passes)
        if axis is None:
            return array
        matrix = self.matrix.with_axis(self.contracted_axis, axis)
        of_vector = loop.left_of(vector.axis, passes)
        assert of_vector is not None
        product = matmul(matrix.read(matrix.array, self.matrix.order), vector.of_axis(of_vector))
        return add_at(array, product, *self.let.args[2:], **self.let.params)  # type: ignore[no-any-return]

    def all_left(self) -> Atom:
        """The array after a pass has added all, and has kept zeros, recorded in the open block."""
        a, b = (v.value for v in self.vectors)
        column = reshape(a, shape=(a.type.shape[0], 1))
        product = mul(b, select(not_equal(b, 0), column, 0.0))
        return add_at(self.let.args[0], product, *self.let.args[2:], **self.let.params)  # type: ignore[no-any-return]

    def _outer_product_left(self, passes: ConsecutivePasses, loop: LoopParts) -> Atom:
        lefts = [loop.left_of(axis, passes) for axis in self.target.axes]
        if not any(lefts):
            return self.let.args[0]
        target = self.target
        factors = [v.value for v in self.vectors]
        for k, axis in enumerate(lefts):
            if axis is not None:
                target = target.with_axis(k, axis)
                of_vector = loop.left_of(self.vectors[k].axis, passes)
                assert of_vector is not None
                factors[k] = self.vectors[k].of_axis(of_vector)
        column = reshape(factors[0], shape=(factors[0].type.shape[0], 1))
        return target.add_to(self.let.args[0], mul(column, factors[1]))


class SumsFinder:
    """Finds what a loop adds to arrays and may add later."""

    def __init__(self, loop: LoopParts) -> None:
        self.loop, self.passes = loop, loop.passes

    def run(self) -> Iterator[DeferredSum]:
        for s in self.loop.loop.body.body:
            if (
                isinstance(s, Let)
                and s.op is add_at
                and (deferred := self.deferrable_sum(s)) is not None
            ):
                yield deferred

    def deferrable_sum(self, s: Let) -> DeferredSum | None:
        """The sum of a statement, if it can wait."""
        array, target = self.loop.array_of(s.args[0]), self.loop.part_of(s)
        product = self.loop.definitions.get(s.args[1])
        if array is None or target is None or len(target.axes) != 2:
            return None
        if product is None or product.op not in (mul, matmul):
            return None
        if product.outs[0].type.dtype != target.array.type.dtype or not of_one_dtype(product):
            return None
        deferred = self.outer_product(s, target, product) or self.of_matrix(s, target, product)
        if deferred is None:
            return None
        part = deferred.of_passes(self.passes, self.passes.common)
        return deferred if self.loop.are_apart(part, [*array.reads, *array.stores]) else None

    def outer_product(self, s: Let, target: ArrayPart, product: Let) -> DeferredSum | None:
        """The sum, if an outer product is added to a part of which one axis may be another one in
        each pass."""
        evenly = [self.slopes(axis) for axis in target.axes]
        if product.op is not mul or any(axis.is_place for axis in target.axes):
            return None
        if None in evenly or sum(slopes != (0, 0) for slopes in evenly) > 1:
            return None
        for a, row in (product.args, product.args[::-1]):
            column = self.without_mask(a, row)
            vector = self.column(column)
            if vector is None or row.type.ndim != 1:
                continue
            values = zip((vector, row), target.axes, strict=True)
            keeps_zeros = column is not a
            vectors = [self.vector(v, axis, keeps_zeros) for v, axis in values]
            if None not in vectors:
                return DeferredSum(s, target, tuple(vectors), keeps_zeros=keeps_zeros)  # type: ignore[arg-type]
        return None

    def without_mask(self, a: Atom, row: Atom) -> Atom:
        """The column of which a factor takes zeros where the other one, a row, is zero."""
        s = self.loop.definitions.get(a)
        if s is None or s.op is not select or s.args[2] != atom(0.0):
            return a
        test = self.loop.definitions.get(s.args[0])
        is_zero_test = test is not None and test.op is not_equal and test.args == (row, atom(0))
        return s.args[1] if is_zero_test else a

    def column(self, a: Atom) -> Atom | None:
        """The vector that a column is made of."""
        s = self.loop.definitions.get(a)
        if s is None or s.op is not reshape or s.args[0].type.ndim != 1:
            return None
        return s.args[0] if a.type.shape == (s.args[0].type.shape[0], 1) else None

    def of_matrix(self, s: Let, target: ArrayPart, product: Let) -> DeferredSum | None:
        """The sum, if the product of a matrix and a vector is added to a row or column."""
        places = [k for k, axis in enumerate(target.axes) if axis.is_place]
        if product.op is not matmul or len(places) != 1 or not self.is_row(target, places[0]):
            return None
        if self.slopes(target.axes[1 - places[0]]) != (0, 0):
            return None
        for k, value in enumerate(product.args):
            matrix = self.loop.operand(product.args[1 - k])
            if matrix is None or len(matrix.order) != 2 or has_place(matrix, self.passes):
                continue
            matrix = replace(matrix, turned=matrix.turned == (k == 1))
            free, summed = matrix.order
            axis = matrix.axes[summed]
            if self.slopes(matrix.axes[free]) != (0, 0) or self.slopes(axis) is None:
                continue
            vector = self.vector(value, axis)
            of_block = matrix.with_axis(summed, self.passes.common(axis))
            if vector is not None and self.loop.is_constant(of_block):
                return DeferredSum(s, target, (vector,), matrix)
        return None

    def vector(self, value: Atom, axis: AxisRange, is_chosen: bool = False) -> PassVector | None:
        """A value as a vector of the pass.

        axis  which elements it has of what it meets
        is_chosen  whether some passes keep zeros in its place
        """
        if value not in self.loop.inside or value.type.ndim != 1:
            return None
        part = self.loop.operand(value)
        if part is not None and not is_chosen and is_of_pass(part, self.passes):
            (own,) = (k for k in part.order)
            (place,) = (k for k in (0, 1) if k != own)
            rows = self.passes.union(part.axes[place])
            of_block = part.with_axis(own, self.passes.common(part.axes[own]))
            of_block = of_block.with_axis(place, replace(rows, is_place=False))
            same = self.slopes(part.axes[own]) == self.slopes(axis)
            if same and self.is_row(part, place) and self.loop.is_constant(of_block):
                return PassVector(value, part.axes[own], part)
        suits = value.type.shape[0] == axis.high - axis.low
        return PassVector(value, axis, None, is_chosen) if suits else None

    def is_row(self, part: ArrayPart, place: int) -> bool:
        """Whether a part is at the index of the pass, along an axis that has all of these."""
        axis = part.axes[place]
        last = self.passes.largest(axis.high)
        n = part.array.type.shape[place]
        return self.passes.slope(axis.low) == 1 and self.loop.is_certain(n - last)

    def slopes(self, axis: AxisRange) -> tuple[int, int] | None:
        """By how much the ends of an axis grow from pass to pass; None if not evenly, or both."""
        low, high = self.passes.slope(axis.low), self.passes.slope(axis.high)
        if low is None or high is None or (low and high):
            return None
        return low, high
