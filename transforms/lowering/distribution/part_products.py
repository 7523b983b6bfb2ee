"""Describes products, in each pass of a loop, of a vector and a part of a matrix, and how some
passes make them together.

y[i, i:] = x[:, i] @ x[:, i:]      in the passes from `first` to `last` the product is a part of
                                   a row of x[:, first : last + 1].T @ x[:, first:]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Let
from tapeless.transforms.lowering.distribution.parts import ArrayPart, AxisRange, ConsecutivePasses


@dataclass(frozen=True)
class PartProduct:
    """A product of a vector of the pass, and of a matrix or vector of which each pass reads a part.

    let      the statement
    vector   one axis of its array is the index of the pass
    matrix   what it is multiplied with
    is_first  whether the vector is the left operand
    """

    let: Let
    vector: ArrayPart
    matrix: ArrayPart
    is_first: bool

    @property
    def place(self) -> int:
        """The axis of the vector's array along which passes go on."""
        (k,) = (k for k, axis in enumerate(self.vector.axes) if axis.is_place)
        return k

    @property
    def contracted_axes(self) -> tuple[int, int]:
        """The axes of the two arrays over which the product sums."""
        (of_vector,), of_matrix = self.vector.order, self.matrix.order
        return of_vector, of_matrix[0 if self.is_first else -1]

    @property
    def free(self) -> list[int]:
        """The axes of the matrix that are axes of the product."""
        return [k for k in self.matrix.order if k != self.contracted_axes[1]]

    @property
    def multiplications(self) -> Size:
        """How many numbers are multiplied in a pass."""
        axes = [self.matrix.axes[k] for k in self.matrix.order]
        return dims.product(axis.high - axis.low for axis in axes)

    @property
    def numbers(self) -> Size:
        """How many numbers the product of a pass is."""
        return dims.product(self.let.outs[0].type.shape)

    @property
    def gains_by_blocks(self) -> bool:
        """Whether a product of a block takes less than those of its passes: it is one of matrices,
        or reads along rows what they read along columns."""
        return bool(self.free) or self.contracted_axes[0] < self.place

    @property
    def contracted_ranges(self) -> list[tuple[Size, Size]]:
        """Where the summed axis begins and ends in each of the two arrays."""
        pairs = zip(self.contracted_axes, (self.vector, self.matrix), strict=True)
        return [(part.axes[k].low, part.axes[k].high) for k, part in pairs]

    def leaves_terms(self, passes: ConsecutivePasses) -> bool:
        """Whether passes sum over ranges of their own, of which each has some terms left."""
        return any(passes.slope(end) != 0 for ends in self.contracted_ranges for end in ends)

    def grows(self, passes: ConsecutivePasses) -> bool | None:
        """Whether passes read parts of different sizes; None if they do not change evenly."""
        ends = self.contracted_ranges
        ends += [(self.matrix.axes[k].low, self.matrix.axes[k].high) for k in self.free]
        slopes = [tuple(map(passes.slope, pair)) for pair in ends]
        if any(None in pair for pair in slopes) or slopes[0] != slopes[1] or all(slopes[0]):
            return None
        return any(map(any, slopes))

    def of_block(self, passes: ConsecutivePasses) -> tuple[ArrayPart, ArrayPart]:
        """The parts of both operands that are multiplied ahead of some passes."""
        of_vector, of_matrix = self.contracted_axes
        low = passes.minimum_of(self.vector.axes[self.place].low)
        rows = AxisRange(low, low + passes.later + 1)
        vector = self.vector.with_axis(self.place, rows)
        vector = vector.with_axis(of_vector, passes.common(vector.axes[of_vector]))
        matrix = self.matrix.with_axis(of_matrix, passes.common(self.matrix.axes[of_matrix]))
        for k in self.free:
            matrix = matrix.with_axis(k, passes.union(matrix.axes[k]))
        return vector, matrix


def part_products(
    s: Let, parts: list[ArrayPart | None], passes: ConsecutivePasses
) -> Iterator[PartProduct]:
    """A statement as the product of a vector of the pass and of something else, in each order."""
    a, b = parts
    if a is None or b is None or len(a.order) > 2 or len(b.order) > 2:
        return
    if is_of_pass(a, passes) and not has_place(b, passes):
        yield PartProduct(s, a, b, is_first=True)
    if is_of_pass(b, passes) and not has_place(a, passes):
        yield PartProduct(s, b, a, is_first=False)


def is_of_pass(part: ArrayPart, passes: ConsecutivePasses) -> bool:
    """Whether a part is a vector, in whose place in a matrix there is the next one in the next
    pass."""
    places = [axis for axis in part.axes if axis.is_place]
    return len(part.axes) == 2 and len(places) == 1 and passes.slope(places[0].low) == 1


def has_place(part: ArrayPart, passes: ConsecutivePasses) -> bool:
    """Whether a part is at an index that is another one in each pass."""
    return any(axis.is_place and passes.slope(axis.low) != 0 for axis in part.axes)
