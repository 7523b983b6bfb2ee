"""Completes sums to which a block of passes adds, and for some terms only some of the passes: the
vectors of these are zero elsewhere, so that the sum is a product of matrices, too.

for i in range(first, last): total[:, i:last] += outer(x[:, i], b)
    becomes      total[:, first:last] += x[:, first:last] @ rows, where row i is zero before i

A zero times what is not finite would not be zero: then the passes add it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tapeless.transforms.core.language import Atom
from tapeless.transforms.lowering.distribution.deferred_sums import DeferredSum, PassVector, Rows
from tapeless.transforms.lowering.distribution.loop_parts import LoopParts
from tapeless.transforms.lowering.distribution.parts import ArrayPart, AxisRange, ConsecutivePasses
from tapeless.transforms.ops.numpy.diagonals import tril, triu
from tapeless.transforms.ops.numpy.reductions import all_
from tapeless.transforms.ops.primitives.comparisons_and_rounding import isfinite


def closing_part(d: DeferredSum, loop: LoopParts, passes: ConsecutivePasses) -> ArrayPart | None:
    """The part of an array that is multiplied with zeros; None where a sum cannot be made so."""
    growing = [v for v in d.vectors if _grows(v.axis, passes)]
    if d.keeps_zeros or len(growing) != 1:
        return None
    axis = growing[0].axis
    if growing[0].part is not None:
        by_one = {passes.slope(axis.low), passes.slope(axis.high)} == {0, 1}
        if not by_one or not loop.is_constant(_rows(growing[0], passes)):
            return None
    some = passes.partial(axis)
    if not loop.is_certain(
        some.low - axis.low if passes.slope(axis.high) else axis.high - some.high
    ):
        return None  # a pass may name nothing at all
    factor = _factor(d, passes)
    if factor is None or not loop.is_constant(factor):
        return None
    array = loop.array_of(d.let.args[0])
    target = d.of_passes(passes, passes.partial)
    apart = array is not None and loop.are_apart(target, [*array.reads, *array.stores])
    return factor if apart else None


def finite_factors(
    closed: Iterable[DeferredSum], passes: ConsecutivePasses, latest: Callable[[Atom], Atom]
) -> dict[DeferredSum, Atom]:
    """For each sum whether its factors of zeros are finite, recorded in the open block.

    latest  finds what an array is when the block begins
    """
    tests: dict[ArrayPart, Atom] = {}
    finite_of = {}
    for d in closed:
        factor = _factor(d, passes)
        assert factor is not None
        if factor not in tests:
            numbers = factor.read(latest(factor.array), [0, 1])
            tests[factor] = all_(isfinite(numbers), axes=(0, 1), keepdims=False)
        finite_of[d] = tests[factor]
    return finite_of


def _grows(axis: AxisRange, passes: ConsecutivePasses) -> bool:
    return bool(passes.slope(axis.low) or passes.slope(axis.high))


def _factor(d: DeferredSum, passes: ConsecutivePasses) -> ArrayPart | None:
    """What the vectors that are partly zero are multiplied with."""
    if d.matrix is not None:
        axis = passes.partial(d.matrix.axes[d.contracted_axis])
        return ArrayPart(d.matrix.array, d.matrix.with_axis(d.contracted_axis, axis).axes)
    (other,) = (v for v in d.vectors if not _grows(v.axis, passes))
    return None if other.part is None else _rows(other, passes)


def _rows(v: PassVector, passes: ConsecutivePasses) -> ArrayPart:
    """The vectors of all passes, of which each is a row or a column of an array; of those that
    grow, what only some passes name."""
    assert v.part is not None
    (own,) = v.part.order
    low = passes.minimum_of(v.part.axes[1 - own].low)
    rows = v.part.with_axis(1 - own, AxisRange(low, low + passes.later + 1))
    rows = rows.with_axis(own, passes.partial(rows.axes[own]))
    return ArrayPart(rows.array, rows.axes)


def with_zeros(rows: Rows, passes: ConsecutivePasses) -> Rows:
    """Finds vectors of all passes that are zero where a pass names nothing: parts of arrays are
    not, until a triangle is taken of them."""

    def rows_with_zeros(v: PassVector, axis: AxisRange) -> Atom:
        vectors = rows(v, axis)
        if v.part is None or not _grows(v.axis, passes):
            return vectors
        below = passes.slope(v.axis.high)
        return tril(vectors, k=-1) if below else triu(vectors, k=0)  # type: ignore[no-any-return]

    return rows_with_zeros
