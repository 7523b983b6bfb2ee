"""Makes products of the passes of a loop as products of matrices, for some passes at once, where
what a pass multiplies is a part of another size in each.

for i in range(n): y[i, i:] = x[:, i] @ x[:, i:]
    becomes      for first in range(0, n, 64):
                     end = min(first + 64, n)
                     ahead = x[:, first:end].T @ x[:, first:]
                     for i in range(first, end): y[i, i:] = ahead[i - first, i - first :]

What all passes of a block need of the summed axis is multiplied ahead of them, and what is left of
it in each pass: of  a[i, :i] @ b[:i], a[first:end, :first] @ b[:first] is. So blocks are as in
blocked factorisations (J. J. Dongarra, J. Du Croz, S. Hammarling and I. Duff, "A Set of Level 3
Basic Linear Algebra Subprograms", 1990). An array that the loop changes has to be changed
elsewhere, as long as a block runs.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import Builder, building, size_of, var_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Block, For, Let, Literal, Statement, Var
from tapeless.transforms.core.size_inequalities import Facts, not_negative
from tapeless.transforms.core.size_value import INT, size_value
from tapeless.transforms.lowering.distribution.carried_arrays import carried_arrays, defined_in
from tapeless.transforms.lowering.distribution.parts import (
    Axis,
    Part,
    Passes,
    are_apart,
    part_of,
    whole,
)
from tapeless.transforms.lowering.distribution.products import of_one_dtype
from tapeless.transforms.lowering.rewrite.formulas import Formula
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.shapes import transpose
from tapeless.transforms.ops.primitives.slices_and_gathers import index


@dataclass(frozen=True)
class PartProduct:
    """A product of a vector of the pass, and of a matrix or vector of which each pass reads a part.

    let      the statement
    vector   one axis of its array is the index of the pass
    matrix   what it is multiplied with
    is_first  whether the vector is the left operand
    """

    let: Let
    vector: Part
    matrix: Part
    is_first: bool

    @property
    def place(self) -> int:
        """The axis of the vector's array along which passes go on."""
        (k,) = (k for k, axis in enumerate(self.vector.axes) if axis.is_place)
        return k

    @property
    def summed(self) -> tuple[int, int]:
        """The axes of the two arrays over which the product sums."""
        (of_vector,), of_matrix = self.vector.order, self.matrix.order
        return of_vector, of_matrix[0 if self.is_first else -1]

    @property
    def free(self) -> list[int]:
        """The axes of the matrix that are axes of the product."""
        return [k for k in self.matrix.order if k != self.summed[1]]

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
        return bool(self.free) or self.summed[0] < self.place

    def grows(self, passes: Passes) -> bool | None:
        """Whether passes read parts of different sizes; None if they do not change evenly."""
        pairs = zip(self.summed, (self.vector, self.matrix), strict=True)
        ends = [(part.axes[k].low, part.axes[k].high) for k, part in pairs]
        ends += [(self.matrix.axes[k].low, self.matrix.axes[k].high) for k in self.free]
        slopes = [tuple(map(passes.slope, pair)) for pair in ends]
        if any(None in pair for pair in slopes) or slopes[0] != slopes[1] or all(slopes[0]):
            return None
        return any(map(any, slopes))

    def of_block(self, passes: Passes) -> tuple[Part, Part]:
        """The parts of both operands that are multiplied ahead of some passes."""
        of_vector, of_matrix = self.summed
        low = passes.least(self.vector.axes[self.place].low)
        rows = Axis(low, low + passes.later + 1)
        vector = self.vector.replaced(self.place, rows)
        vector = vector.replaced(of_vector, passes.common(vector.axes[of_vector]))
        matrix = self.matrix.replaced(of_matrix, passes.common(self.matrix.axes[of_matrix]))
        for k in self.free:
            matrix = matrix.replaced(k, passes.union(matrix.axes[k]))
        return vector, matrix


class _InLoops(Formula):
    """Statements inside of loops, whose indices they may read."""

    def __init__(self, indices: Container[Var]) -> None:
        super().__init__()
        self.indices = indices

    def in_scope(self, v: Var) -> bool:
        return v in self.indices or super().in_scope(v)


class BlocksOfPasses:
    """A loop whose index goes up by one, and its products that blocks of passes make together.

    facts  what is known of the sizes of the program
    """

    def __init__(self, loop: For, facts: Facts, recorder: Builder) -> None:
        self.loop, self.recorder = loop, recorder
        with building(recorder):
            self.start, self.stop = size_of(loop.start), size_of(loop.stop)
        index_size = var_size(loop.index)
        (self.symbol,) = dims.symbols(index_size)
        self.first, later = Var(loop.index.type, "first"), dims.symbol("later", 0)
        ranges = {self.first: (self.start, self.stop - 1 - later)}
        self.facts = Facts(facts.sizes, {**facts.ranges, **ranges})
        lower = 0 if self.is_certain(self.start) else None
        self.passes = Passes(self.symbol, var_size(self.first, lower), later)
        self.inside = defined_in(loop)
        self.definitions = {v: s for s in loop.body.body if isinstance(s, Let) for v in s.outs}
        self.carried = carried_arrays(loop, self.part_of)
        self.products = list(self.movable_products())

    def is_certain(self, size: Size) -> bool:
        """Whether a size is never negative in the loop."""
        return not_negative(size, self.facts)

    def part_of(self, s: Let) -> Part | None:
        """The part of an array that a statement reads or stores."""
        with building(self.recorder):
            return part_of(s, self.is_certain)

    # -- the products

    def movable_products(self) -> Iterator[PartProduct]:
        """The products whose operands are there when a block begins."""
        for s in self.loop.body.body:
            if not isinstance(s, Let) or s.op is not matmul or not of_one_dtype(s):
                continue
            parts = [self.operand(a) for a in s.args]
            for p in _products(s, parts, self.passes):
                if p.grows(self.passes) is not None and all(
                    map(self.is_there, p.of_block(self.passes))
                ):
                    yield p
                    break

    def operand(self, a: Atom) -> Part | None:
        """The part of an array that an operand is."""
        s = self.definitions.get(a) if isinstance(a, Var) else None
        if s is None:
            return whole(a) if a not in self.inside else None
        if s.op is transpose and s.args[0].type.ndim == 2:
            part = self.operand(s.args[0])
            return None if part is None else replace(part, turned=not part.turned)
        return self.part_of(s) if s.op is index else None

    def is_there(self, part: Part) -> bool:
        """Whether no pass of a block changes what it would read of an array."""
        if any(x.var in self.inside for axis in part.axes for x in _symbols(axis)):
            return False
        if part.array not in self.inside:
            return True
        array = self.array_of(part)
        return array is not None and all(
            stored is not None and are_apart(part, self.over_block(stored), self.is_certain)
            for stored in array[1].stores
        )

    def array_of(self, part: Part):
        """The carried array of which a part is, and its place among the carries."""
        return next((a for a in self.carried if part.array in a[1].versions), None)

    def over_block(self, stored: Part) -> Part:
        """What the passes of a block store."""
        axes = []
        for axis, n in zip(stored.axes, stored.array.type.shape, strict=True):
            over = Axis(0, n)
            if None not in (self.passes.slope(axis.low), self.passes.slope(axis.high)):
                union = self.passes.union(axis)
                if not any(x.var in self.inside for x in _symbols(union)):
                    over = union
            axes.append(over)
        return Part(stored.array, tuple(axes))

    # -- the new statements

    def at_once(self) -> list[Statement]:
        """The products of all passes, and the loop without them."""
        passes = Passes(self.symbol, self.start, dims.maximum(self.stop - self.start, 0) - 1)
        b = self.formula()
        with building(b):
            ahead = {p.let: self.ahead(p, passes, self.loop.inits) for p in self.products}
        body = self.body(ahead, passes)
        return [*b.blocks[0], replace(self.loop, body=body, mirror=None)]

    def by_blocks(self, length: int) -> list[Statement]:
        """The loop over blocks of so many passes."""
        end = Var(INT, "end")
        carries = tuple(Var(c.type, c.name, c.origin) for c in self.loop.carries)
        b = self.formula()
        with building(b):
            first = var_size(self.first)
            stop = dims.minimum(first + length, self.stop)
            b.let((end,), size_value, (), {"size": stop})
            passes = Passes(self.symbol, first, stop - 1 - first)
            ahead = {p.let: self.ahead(p, passes, carries) for p in self.products}
        inner = replace(
            self.loop,
            outs=tuple(Var(v.type, v.name, v.origin) for v in self.loop.outs),
            start=self.first,
            stop=end,
            inits=carries,
            body=self.body(ahead, passes),
            mirror=None,
        )
        block = Block((self.first, *carries), (*b.blocks[0], inner), inner.outs)
        step = Literal(length, self.loop.step.type)
        return [replace(self.loop, step=step, body=block, mirror=None)]

    def formula(self) -> Formula:
        """What records statements, and knows how integers are computed."""
        b = _InLoops(self.facts.ranges)
        b.origin = self.loop.origin
        b.definitions = dict(self.recorder.definitions)
        return b

    def ahead(self, p: PartProduct, passes: Passes, carries: tuple[Atom, ...]) -> Atom:
        """The product of some passes, recorded in the open block: a row for each."""
        vector, matrix = p.of_block(passes)
        n, rows = vector.array.type.shape[p.place], vector.axes[p.place]
        if not self.is_certain(n - self.passes.largest(p.vector.axes[p.place].high)):
            high = dims.maximum(dims.minimum(rows.high, n), rows.low)  # an index may not be there
            vector = vector.replaced(p.place, Axis(rows.low, high))
        of_vector, of_matrix = p.summed
        return matmul(  # type: ignore[no-any-return]
            vector.read(self.at_first(vector, carries), [p.place, of_vector]),
            matrix.read(self.at_first(matrix, carries), [of_matrix, *p.free]),
        )

    def at_first(self, part: Part, carries: tuple[Atom, ...]) -> Atom:
        """The array of a part as it is when a block begins."""
        array = self.array_of(part)
        return part.array if array is None else carries[array[0]]

    def body(self, ahead: dict[Let, Atom], passes: Passes) -> Block:
        """The body of the loop over some passes, whose products are there."""
        b = self.formula()
        products = {p.let: p for p in self.products}
        with building(b):
            for s in self.loop.body.body:
                if s not in products:
                    b.emit(s)
                    continue
                b.origin = s.origin
                b.let(s.outs, identity, (self.in_pass(products[s], ahead[s], passes),), {})
        return replace(self.loop.body, body=tuple(b.blocks[0]))

    def in_pass(self, p: PartProduct, ahead: Atom, passes: Passes) -> Atom:
        """The product of one pass, recorded in the open block."""
        row = dims.single(self.symbol) - passes.first
        axes = [Axis(row, row + 1, is_place=True)]
        for k in p.free:
            axis, low = p.matrix.axes[k], passes.union(p.matrix.axes[k]).low
            axes.append(Axis(axis.low - low, axis.high - low))
        total = Part(ahead, tuple(axes)).read(ahead, list(range(1, len(axes))))
        of_vector, of_matrix = p.summed
        left = self.left_of(p.vector.axes[of_vector], passes)
        if left is None:
            return total
        vector = p.vector.replaced(of_vector, left)
        matrix = p.matrix.replaced(of_matrix, self.left_of(p.matrix.axes[of_matrix], passes))
        parts = [part.read(part.array, part.order) for part in (vector, matrix)]
        return add(total, matmul(*(parts if p.is_first else parts[::-1])))

    def left_of(self, axis: Axis, passes: Passes) -> Axis | None:
        """What a pass names of an axis and not all passes of its block; None if that is nothing."""
        common = passes.common(axis)
        if passes.slope(axis.low):
            return Axis(axis.low, self.smaller(common.low, axis.high))
        if passes.slope(axis.high):
            return Axis(common.high, axis.high)
        return None

    def smaller(self, a: Size, b: Size) -> Size:
        return a if self.is_certain(b - a) else dims.minimum(a, b)


def _symbols(axis: Axis) -> frozenset[dims.Symbol]:
    return dims.symbols(axis.low) | dims.symbols(axis.high)


def _products(s: Let, parts: list[Part | None], passes: Passes) -> Iterator[PartProduct]:
    """A statement as the product of a vector of the pass and of something else, in each order."""
    a, b = parts
    if a is None or b is None or len(a.order) > 2 or len(b.order) > 2:
        return
    if _is_of_pass(a, passes) and not _has_place(b, passes):
        yield PartProduct(s, a, b, is_first=True)
    if _is_of_pass(b, passes) and not _has_place(a, passes):
        yield PartProduct(s, b, a, is_first=False)


def _is_of_pass(part: Part, passes: Passes) -> bool:
    """Whether a part is a vector, in whose place in a matrix there is the next one in the next
    pass."""
    places = [axis for axis in part.axes if axis.is_place]
    return len(part.axes) == 2 and len(places) == 1 and passes.slope(places[0].low) == 1


def _has_place(part: Part, passes: Passes) -> bool:
    """Whether a part is at an index that is another one in each pass."""
    return any(axis.is_place and passes.slope(axis.low) != 0 for axis in part.axes)
