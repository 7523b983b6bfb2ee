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
from dataclasses import replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import Builder, building, var_size
from tapeless.transforms.core.builder import current as current_builder
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    Statement,
    Var,
)
from tapeless.transforms.core.size_inequalities import Facts
from tapeless.transforms.core.size_value import INT, size_value
from tapeless.transforms.core.uses import reads_of
from tapeless.transforms.lowering.distribution.closed_sums import (
    closing_part,
    finite_factors,
    with_zeros,
)
from tapeless.transforms.lowering.distribution.computed_vectors import (
    ComputedVector,
    computed_vector,
)
from tapeless.transforms.lowering.distribution.deferred_sums import (
    DeferredSum,
    PassVector,
    SumsFinder,
)
from tapeless.transforms.lowering.distribution.loop_parts import LoopParts
from tapeless.transforms.lowering.distribution.part_products import PartProduct, part_products
from tapeless.transforms.lowering.distribution.parts import ArrayPart, AxisRange, ConsecutivePasses
from tapeless.transforms.lowering.distribution.products import of_one_dtype
from tapeless.transforms.lowering.rewrite.formulas import Formula
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.numpy.reductions import all_
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.comparisons_and_rounding import isfinite
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.new_arrays import empty, zeros
from tapeless.transforms.ops.primitives.selection import select


class _InLoops(Formula):
    """Statements inside of loops, whose indices they may read."""

    def __init__(self, indices: Container[Var]) -> None:
        super().__init__()
        self.indices = indices

    def in_scope(self, v: Var) -> bool:
        return v in self.indices or super().in_scope(v)


class BlocksOfPasses:
    """A loop whose index goes up by one, and its products that blocks of passes make together.

    products  those made ahead of a block
    sums      what is added after it
    kept      the vectors of passes that a block keeps for that
    computed  the vectors that it computes ahead, by the arrays that hold them
    closed    the sums of which nothing is left for the passes, if numbers are finite
    """

    def __init__(self, loop: For, facts: Facts, recorder: Builder) -> None:
        self.loop, self.recorder = loop, recorder
        self.parts = LoopParts(loop, facts, recorder)
        self.sums = list(SumsFinder(self.parts).run())
        uses = reads_of(loop.body)
        deferred = {d.let.args[1] for d in self.sums if uses[d.let.args[1]] == 1}  # type: ignore[index]
        self.computed: dict[Atom, ComputedVector] = {}
        self.products = [p for p in self.movable_products() if p.let.outs[0] not in deferred]
        vectors = [v for d in self.sums for v in d.vectors if v.part is None]
        self.kept = list(dict.fromkeys(vectors))
        self.closed = [d for d in self.sums if closing_part(d, self.parts, self.parts.passes)]

    # -- the products

    def movable_products(self) -> Iterator[PartProduct]:
        """The products whose operands are there when a block begins."""
        passes = self.parts.passes
        for s in self.loop.body.body:
            if not isinstance(s, Let) or s.op is not matmul or not of_one_dtype(s):
                continue
            for operands in self.operands(s):
                movable = [p for p in part_products(s, operands, passes) if self.is_movable(p)]
                if movable:
                    yield movable[0]
                    break

    def is_movable(self, p: PartProduct) -> bool:
        """Whether the operands of a product are there when a block begins."""
        passes = self.parts.passes
        grows = p.grows(passes)
        if grows is None or (p.vector.array in self.computed and not grows):
            return False
        return all(map(self.parts.is_constant, p.of_block(passes)))

    def operands(self, s: Let) -> Iterator[list[ArrayPart | None]]:
        """The operands of a product as parts of arrays: of those that there are, and of those that
        a block computes ahead."""
        operands = [self.parts.operand(a) for a in s.args]
        yield operands
        for k, value in enumerate(s.args):
            other = operands[1 - k]
            if other is None or len(other.order) != 2:
                continue
            axis = other.axes[other.order[0 if k == 0 else -1]]
            vector = computed_vector(value, axis, self.parts)
            if vector is not None:
                part = vector.part(self.parts.symbol, self.parts.passes)
                self.computed[part.array] = vector
                yield [part, other] if k == 0 else [other, part]

    @property
    def grows(self) -> bool:
        """Whether passes multiply parts of different sizes, or what a block has to keep."""
        return bool(self.sums) or any(p.grows(self.parts.passes) for p in self.products)

    @property
    def leave_terms(self) -> bool:
        """Whether passes have something left to add, the more the longer blocks are."""
        products = any(p.leaves_terms(self.parts.passes) for p in self.products)
        return bool(self.sums) or products

    @property
    def gain(self) -> bool:
        """Whether products of blocks take less than those of the passes."""
        return bool(self.sums) or any(p.gains_by_blocks for p in self.products)

    # -- the new statements

    def at_once(self) -> list[Statement]:
        """The products of all passes, and the loop without them."""
        start, stop = self.parts.start, self.parts.stop
        count = (
            stop - start if self.parts.is_certain(stop - start) else dims.maximum(stop - start, 0)
        )
        passes = ConsecutivePasses(self.parts.symbol, start, count - 1)
        return self.of_passes(passes, self.loop, self.loop.inits, self.loop.outs)

    def by_blocks(self, length: int) -> list[Statement]:
        """The loop over blocks of so many passes."""
        end, first = Var(INT, "end"), self.parts.first
        carries, outs = (_copies(vs) for vs in (self.loop.carries, self.loop.outs))
        b = self.formula()
        with building(b):
            stop = dims.minimum(var_size(first) + length, self.parts.stop)
            b.let((end,), size_value, (), {"size": stop})
            passes = ConsecutivePasses(
                self.parts.symbol, var_size(first), stop - 1 - var_size(first)
            )
            for a in dict.fromkeys(p.vector.array for p in self.products):
                if a in self.computed:
                    self.computed[a].fill(self.parts, passes, first, end)
        inner = replace(self.loop, start=first, stop=end)
        body = [*b.blocks[0], *self.of_passes(passes, inner, carries, outs)]
        block = Block((first, *carries), tuple(body), outs)
        step = Literal(length, self.loop.step.type)
        return [replace(self.loop, step=step, body=block, mirror=None)]

    def of_passes(
        self, passes: ConsecutivePasses, loop: For, inits: tuple[Atom, ...], outs: tuple[Var, ...]
    ) -> list[Statement]:
        """The products of some passes, the loop over these, and what it adds later.

        inits  the carries ahead of it
        outs   those after it
        """
        b = self.formula()
        with building(b):
            ahead = {p.let: self.product_of_passes(p, passes, inits) for p in self.products}
            empties = [self.empty_rows(v, passes) for v in self.kept]
            finite_of = finite_factors(self.closed, passes, lambda a: self.current_value(a, inits))
        rows = {v: Var(a.type, "rows") for v, a in zip(self.kept, empties, strict=True)}
        filled = {v: Var(a.type, "rows") for v, a in zip(self.kept, empties, strict=True)}
        added_to = {self.carry_of(d) for d in self.sums}
        before = tuple(
            Var(v.type, v.name, v.origin) if k in added_to else v for k, v in enumerate(outs)
        )
        new = replace(
            loop,
            inits=(*inits, *empties),
            outs=(*before, *filled.values()),
            body=self.body(ahead, rows, passes, finite_of),
            mirror=None,
        )
        after = self.formula()
        with building(after):
            self.add_later(passes, before, outs, filled, finite_of)
        return [*b.blocks[0], new, *after.blocks[0]]

    def formula(self) -> Formula:
        """What records statements, and knows how integers are computed."""
        b = _InLoops(self.parts.facts.ranges)
        b.origin = self.loop.origin
        b.definitions = dict(self.recorder.definitions)
        return b

    def product_of_passes(
        self, p: PartProduct, passes: ConsecutivePasses, inits: tuple[Atom, ...]
    ) -> Atom:
        """The product of some passes, recorded in the open block: a row for each."""
        vector, matrix = p.of_block(passes)
        n, rows = vector.array.type.shape[p.place], vector.axes[p.place]
        last = self.parts.passes.largest(p.vector.axes[p.place].high)
        if not self.parts.is_certain(n - last):
            high = dims.maximum(dims.minimum(rows.high, n), rows.low)  # an index may not be there
            vector = vector.with_axis(p.place, AxisRange(rows.low, high))
        of_vector, of_matrix = p.contracted_axes
        return matmul(  # type: ignore[no-any-return]
            vector.read(self.current_value(vector.array, inits), [p.place, of_vector]),
            matrix.read(self.current_value(matrix.array, inits), [of_matrix, *p.free]),
        )

    def current_value(self, a: Atom, carries: tuple[Atom, ...]) -> Atom:
        """What an array is where the carries are these."""
        array = self.parts.array_of(a)
        return a if array is None else carries[array.carry]

    # -- the passes

    def body(
        self,
        ahead: dict[Let, Atom],
        rows: dict[PassVector, Var],
        passes: ConsecutivePasses,
        finite_of: dict[DeferredSum, Atom],
    ) -> Block:
        """The body of the loop over some passes.

        ahead      the products that are there
        rows       the arrays to which it stores vectors
        finite_of  the sums of which nothing is left for the passes where a test holds
        """
        b = self.formula()
        products = {p.let: p for p in self.products}
        sums = {d.let: d for d in self.sums}
        filled: dict[PassVector, Atom] = dict(rows)
        with building(b):
            for s in self.loop.body.body:
                if s not in products and s not in sums:
                    b.emit(s)
                    continue
                assert isinstance(s, Let)
                b.origin = s.origin
                if s in products:
                    new = self.in_pass(products[s], ahead[s], passes)
                else:
                    finite = finite_of.get(sums[s])
                    new = self.sum_in_pass(b, sums[s], passes, filled, finite)
                b.let(s.outs, identity, (new,), {})
        body = self.loop.body
        return Block(
            (*body.params, *rows.values()), tuple(b.blocks[0]), (*body.results, *filled.values())
        )

    def in_pass(self, p: PartProduct, ahead: Atom, passes: ConsecutivePasses) -> Atom:
        """The product of one pass, recorded in the open block."""
        axes = [self.place_of_pass(passes)]
        for k in p.free:
            axis, low = p.matrix.axes[k], passes.union(p.matrix.axes[k]).low
            axes.append(AxisRange(axis.low - low, axis.high - low))
        total = ArrayPart(ahead, tuple(axes)).read(ahead, list(range(1, len(axes))))
        of_vector, of_matrix = p.contracted_axes
        rest = self.parts.left_of(p.vector.axes[of_vector], passes)
        if rest is None:
            return total
        other_rest = self.parts.left_of(p.matrix.axes[of_matrix], passes)
        assert other_rest is not None
        vector = p.vector.with_axis(of_vector, rest)
        matrix = p.matrix.with_axis(of_matrix, other_rest)
        operands = [part.read(part.array, part.order) for part in (vector, matrix)]
        return add(total, matmul(*(operands if p.is_first else operands[::-1])))  # type: ignore[no-any-return]

    def sum_in_pass(
        self,
        b: Builder,
        d: DeferredSum,
        passes: ConsecutivePasses,
        filled: dict[PassVector, Atom],
        finite: Atom | None,
    ) -> Atom:
        """The array after a pass has added what does not wait, recorded in the open block.

        filled  the arrays that keep vectors, to which it stores those of the pass
        """
        values = {v: v.value for v in d.vectors if v in filled}
        if d.keeps_zeros:
            is_finite = all_(isfinite(d.vectors[0].value), axes=(0,), keepdims=False)
            values = {v: select(is_finite, value, 0.0) for v, value in values.items()}
            with b.block() as some:
                some_added = d.add_remaining(passes, self.parts)
            with b.block() as all_of_it:
                all_added = d.all_left()
            new: Atom = Var(d.let.outs[0].type)
            sides = Block((), tuple(some), (some_added,)), Block((), tuple(all_of_it), (all_added,))
            b.emit(If((new,), is_finite, *sides, origin=d.let.origin))  # type: ignore[arg-type]
        elif finite is not None:
            with b.block() as some:
                added = d.add_remaining(passes, self.parts)
            new = Var(d.let.outs[0].type)
            nothing = Block((), (), (d.let.args[0],))
            b.emit(If((new,), finite, nothing, Block((), tuple(some), (added,))))
        else:
            new = d.add_remaining(passes, self.parts)
        for v, value in values.items():
            filled[v] = self.row_of(v, passes).store_to(filled[v], value)
        return new

    def place_of_pass(self, passes: ConsecutivePasses) -> AxisRange:
        """The row of a pass in an array of those of a block."""
        row = dims.single(self.parts.symbol) - passes.first
        return AxisRange(row, row + 1, is_place=True)

    # -- what is added later

    def empty_rows(self, v: PassVector, passes: ConsecutivePasses) -> Atom:
        """An array for the vectors of some passes, recorded in the open block."""
        union = passes.union(v.axis)
        shape = (passes.later + 1, union.high - union.low)
        new = zeros if any(v in d.vectors for d in self.closed) else empty
        return new(shape=shape, dtype=v.value.type.dtype)  # type: ignore[no-any-return]

    def row_of(self, v: PassVector, passes: ConsecutivePasses) -> ArrayPart:
        """The part of such an array that is the vector of a pass."""
        low = passes.union(v.axis).low
        axes = self.place_of_pass(passes), AxisRange(v.axis.low - low, v.axis.high - low)
        return ArrayPart(v.value, axes)

    def carry_of(self, d: DeferredSum) -> int:
        """The carry to which is added."""
        array = self.parts.array_of(d.let.args[0])
        assert array is not None
        return array.carry

    def add_later(
        self,
        passes: ConsecutivePasses,
        before: tuple[Var, ...],
        outs: tuple[Var, ...],
        filled: dict[PassVector, Var],
        finite_of: dict[DeferredSum, Atom],
    ) -> None:
        """Records what is added after some passes."""
        current: list[Atom] = list(before)

        def rows(v: PassVector, axis: AxisRange) -> Atom:
            if v.part is not None:
                return self.rows_of_part(v, axis, passes, tuple(current))
            low = passes.union(v.axis).low
            some = AxisRange(axis.low - low, axis.high - low)
            return ArrayPart(filled[v], (AxisRange(0, passes.later + 1), some)).read(
                filled[v], [0, 1]
            )

        for d in self.sums:
            k = self.carry_of(d)
            value = d.increment(
                rows, lambda a: self.current_value(a, tuple(current)), passes.common
            )
            current[k] = d.of_passes(passes, passes.common).add_to(current[k], value)
        for d, finite in finite_of.items():
            k, b = self.carry_of(d), current_builder()
            with b.block() as some:
                of_some = with_zeros(rows, passes)
                value = d.increment(
                    of_some, lambda a: self.current_value(a, tuple(current)), passes.partial
                )
                new = d.of_passes(passes, passes.partial).add_to(current[k], value)
            total = Var(new.type)
            sides = Block((), tuple(some), (new,)), Block((), (), (current[k],))
            b.emit(If((total,), finite, *sides, origin=d.let.origin))
            current[k] = total
        for k in {self.carry_of(d) for d in self.sums}:
            current_builder().let((outs[k],), identity, (current[k],), {})

    def rows_of_part(
        self, v: PassVector, axis: AxisRange, passes: ConsecutivePasses, carries: tuple[Atom, ...]
    ) -> Atom:
        """The vectors of some passes, which an array has."""
        assert v.part is not None
        (own,) = v.part.order
        place = 1 - own
        low = passes.minimum_of(v.part.axes[place].low)
        part = v.part.with_axis(place, AxisRange(low, low + passes.later + 1)).with_axis(own, axis)
        return part.read(self.current_value(part.array, carries), [place, own])


def _copies(variables: tuple[Var, ...]) -> tuple[Var, ...]:
    return tuple(Var(v.type, v.name, v.origin) for v in variables)
