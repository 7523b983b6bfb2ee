"""Puts vectors that the passes of a loop scale and add together: all passes are one product of a
matrix and a vector, or of two vectors.

for j in range(n): y[:, i] += s[j] * b[:, j]; c[:, j] += s[j] * v
    becomes      y[:, i] += b[:, :n] @ s[:n]; c[:, :n] += outer(v, s[:n])

The derivative of a product that a loop makes element by element is such a loop, with the elements
of a column far apart. The passes may be made in any order, as each adds to what none of them reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import Builder, atom_of_size, building
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, For, Let, Literal, Statement, Var
from tapeless.transforms.core.size_inequalities import Facts
from tapeless.transforms.lowering.distribution.loop_parts import LoopParts
from tapeless.transforms.lowering.distribution.parts import ArrayPart, AxisRange
from tapeless.transforms.lowering.rewrite.formulas import Formula
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.arithmetic import mul
from tapeless.transforms.ops.primitives.shapes import copy, reshape
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, add_at, index


class _DependsOnOrder(Exception):  # noqa: N818 (a result, not an error)
    """The loop stays as it is."""


def of_all_passes(loop: For, facts: Facts, recorder: Builder) -> list[Statement] | None:
    """The statements in the place of a loop that only adds up scaled vectors; None for others."""
    adds = [s for s in loop.body.body if isinstance(s, Let) and s.op is add_at]
    if not adds or len({*loop.carries}) > len(adds) or loop.step != Literal(1, loop.step.type):
        return None
    if not all(isinstance(s, Let) for s in loop.body.body):
        return None
    try:
        return _AllPasses(loop, LoopParts(loop, facts, recorder), recorder).run()
    except _DependsOnOrder:
        return None


def _with_results(s: Statement, outs: Mapping[Atom, Var]) -> Statement:
    """A statement whose results are the variables that take their places."""
    assert isinstance(s, Let)
    return replace(s, outs=tuple(outs.get(v, v) for v in s.outs))


class _AllPasses:
    """One loop.

    factors  numbers of a pass, as the vector of all passes
    columns  vectors of a pass that are a row or column of a matrix: the part of it for all passes
    places   the axis of the matrix that the passes go along
    scaled   products of a number and a vector: the two
    """

    def __init__(self, loop: For, parts: LoopParts, recorder: Builder) -> None:
        self.loop, self.parts = loop, parts
        self.count = parts.stop - parts.start
        self.inner = {v for s in loop.body.body for v in s.outs}
        self.factors: dict[Atom, Atom] = {}
        self.columns: dict[Atom, ArrayPart] = {}
        self.places: dict[Atom, int] = {}
        self.scaled: dict[Atom, tuple[Atom, Atom]] = {}
        self.values: dict[Atom, Atom] = dict(zip(loop.carries, loop.inits, strict=True))
        self.formula = Formula()
        self.formula.definitions = dict(recorder.definitions)

    def run(self) -> list[Statement]:
        if not dims.at_least(self.count, 1):
            raise _DependsOnOrder  # nothing is read, and nothing raises, in a loop without passes
        self.check_arrays()
        with building(self.formula):
            for s in self.loop.body.body:
                assert isinstance(s, Let)
                self.formula.origin = s.origin
                self.let(s)
        outs = {self.values[y]: v for v, y in zip(self.loop.outs, self.loop.yields, strict=True)}
        return [_with_results(s, outs) for s in self.formula.blocks[0]]

    def check_arrays(self) -> None:
        """What the loop carries, it only adds to, and reads nothing of what it adds to."""
        if len(self.parts.carried) != len(self.loop.carries):
            raise _DependsOnOrder
        if not all(array.sums for array in self.parts.carried):
            raise _DependsOnOrder
        for array in self.parts.carried:
            ranges = [self.over_passes(p) for p in array.reads]
            if array.stores or not all(self.parts.are_apart(p, array.sums) for p in ranges):
                raise _DependsOnOrder

    def over_passes(self, part: ArrayPart | None) -> ArrayPart:
        if part is None:
            raise _DependsOnOrder
        return self.parts.over_block(part)

    def let(self, s: Let) -> None:
        (out,) = s.outs
        if s.op is add_at:
            self.add(s)
        elif s.op is index and self.follows(part := self.part(s)):
            self.read(out, s, part)
        elif not any(self.changes(a) for a in s.args):
            args = tuple(self.values.get(a, a) for a in s.args)
            self.formula.let(s.outs, s.op, args, s.params)
        elif s.op is mul and out.type.ndim == 1:
            numbers = [a for a in s.args if a in self.factors]
            others = [a for a in s.args if a not in numbers]
            if len(numbers) != 1 or others[0].type.shape != out.type.shape:
                raise _DependsOnOrder
            if len({a.type.dtype for a in (*s.args, out)}) > 1 or out.type.dtype.kind != "f":
                raise _DependsOnOrder
            self.scaled[out] = (numbers[0], others[0])
        elif s.op is mul and not out.type.shape and out.type.dtype.kind == "f":
            args = tuple(self.factors.get(a, a) for a in s.args)
            self.factors[out] = mul(*args)
        else:
            raise _DependsOnOrder

    def part(self, s: Let) -> ArrayPart:
        part = self.parts.part_of(s)
        if part is None:
            raise _DependsOnOrder
        return part

    def changes(self, a: Atom) -> bool:
        """Whether a value is another one in each pass."""
        return a is self.loop.index or a in self.factors or a in self.columns or a in self.scaled

    def follows(self, part: ArrayPart) -> bool:
        """Whether a part goes on with the passes; each of its axes does so by places, or not."""
        slopes = [
            (self.parts.passes.slope(axis.low), self.parts.passes.slope(axis.high))
            for axis in part.axes
        ]
        moving = [k for k, ends in enumerate(slopes) if ends != (0, 0)]
        if not moving:
            return False
        if len(moving) > 1 or slopes[moving[0]] != (1, 1) or not part.axes[moving[0]].is_place:
            raise _DependsOnOrder
        return True

    def moving(self, part: ArrayPart) -> int:
        return next(k for k, axis in enumerate(part.axes) if self.parts.passes.slope(axis.low))

    def of_all(self, part: ArrayPart) -> ArrayPart:
        """The part that all passes name, of which each names a place of one axis."""
        k = self.moving(part)
        first = self.first_of(part.axes[k])
        n = part.array.type.shape[k]
        if not self.parts.is_certain(n - first - self.count) or not self.parts.is_certain(first):
            raise _DependsOnOrder
        return part.with_axis(k, AxisRange(first, first + self.count))

    def first_of(self, axis: AxisRange) -> Size:
        """The place of an axis that the first pass names."""
        start = self.parts.start
        return dims.substitute(axis.low, lambda x: start if x is self.parts.symbol else None)

    def read(self, out: Var, s: Let, part: ArrayPart) -> None:
        """Notes the elements, or the rows or columns, that the passes read."""
        whole = replace(self.of_all(part), array=self.values.get(s.args[0], s.args[0]))
        if out.type.ndim == 0:
            self.factors[out] = self.vector(whole.read(whole.array, whole.order), s)
        elif out.type.ndim == 1:
            self.columns[out] = whole
            self.places[out] = self.moving(part)
        else:
            raise _DependsOnOrder

    def vector(self, view: Atom, s: Let) -> Atom:
        """The numbers of all passes: a copy, if the loop adds to other parts of the array."""
        return view if self.parts.array_of(s.args[0]) is None else copy(view)

    def add(self, s: Let) -> None:
        """Records what all passes add to an array."""
        array, value = s.args[:2]
        if value not in self.scaled:
            raise _DependsOnOrder
        part = self.part(s)
        factor, vector = self.scaled[value]
        along = self.follows(part)
        key, rest = s.params["key"], list(s.args[2:])
        if along and not self.changes(vector):
            k = self.moving(part)
            kept = self.of_all(part).order
            if len(kept) != 2:
                raise _DependsOnOrder
            first, second = vector, self.factors[factor]
            if kept[0] == k:
                first, second = second, first
            added = mul(reshape(first, shape=(first.type.shape[0], 1)), second)
            key = (*key[:k], self.passes_of(part.axes[k], rest), *key[k + 1 :])
        elif not along and vector in self.columns:
            matrix, place = self.columns[vector], self.places[vector]
            (own,) = (k for k in matrix.order if k != place)
            if len(part.order) != 1:
                raise _DependsOnOrder
            added = matmul(matrix.read(matrix.array, [own, place]), self.factors[factor])
        else:
            raise _DependsOnOrder
        self.values[s.outs[0]] = add_at(self.values[array], added, *rest, key=key)

    def passes_of(self, axis: AxisRange, rest: list[Atom]) -> slice:
        """The entry of a key for the places of all passes; what it refers to is added to `rest`."""
        ends = []
        for size in (self.first_of(axis), self.first_of(axis) + self.count):
            if not isinstance(size, int):
                rest.append(atom_of_size(size))
            ends.append(size if isinstance(size, int) else Slot(len(rest) - 1))
        return slice(*ends)
