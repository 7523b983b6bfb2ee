"""Computes only the diagonals of results that are zero elsewhere.

y = np.eye(n) * v      becomes      y = zeros((n, n)); for i: y[i, i] += v[i]

Derivatives of elementwise functions with respect to arrays are such matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.builder import atom, atom_of_size, building
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Block, For, Let, Literal, Statement, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.size_inequalities import Relied, not_negative
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.optimize.part_ranges import Ranges
from tapeless.transforms.lowering.optimize.slice_pushdown import Unsliced, key_of
from tapeless.transforms.ops.primitives import new_arrays
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub, truediv
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.new_arrays import zeros
from tapeless.transforms.ops.primitives.shapes import cast, cast_to, copy, transpose
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, add_at, index, update

MANY = 12  # diagonals: with more of them, it is better to compute all


@dataclass(frozen=True)
class Band:
    """The elements [j - shift, j] of a matrix, for j from `low` to `high`: a number for all, or an
    array of them."""

    shift: Size
    low: Size
    high: Size
    values: Atom


Bands = tuple[Band, ...]


def use_bands(block: Block, ranges: Ranges) -> Block:
    """The block with such results made of their diagonals. What made them before is left to dead
    code."""
    run = Banding(ranges, block)
    matrices: dict[Var, Atom] = {}
    with building(run.builder):
        for v in dict.fromkeys(block.results):
            if isinstance(v, Var) and run.has_bands(v):
                try:
                    matrices[v] = run.matrix(v)
                except Unsliced:
                    continue
    if not matrices:
        return block
    body: tuple[Statement, ...] = (*block.body, *run.builder.blocks[0])
    results = tuple(matrices.get(a, a) if isinstance(a, Var) else a for a in block.results)
    return replace(block, body=body, results=results)


class Banding:
    """One program."""

    def __init__(self, ranges: Ranges, block: Block) -> None:
        self.ranges, self.memory = ranges, ranges.memory
        self.builder = Relied(ranges.facts, ranges.canon)
        self.builder.definitions |= {
            v: s for v, s in self.memory.defs.items() if isinstance(s, Let)
        }
        self.known: dict[Atom, Bands] = {}
        self.read: list[Atom] = []
        self.at: dict[Atom, Atom] = {}  # elements in the loop that is written
        self.top = {id(s): k for k, s in enumerate(block.body)}
        self.body = block.body
        self.first = len(block.body)

    def has_bands(self, v: Var) -> bool:
        """Whether a result is computed, by operations that bands have."""
        s = self.memory.defs.get(v)
        while isinstance(s, Let) and s.op in (transpose, identity) and s.args:
            s = self.memory.defs.get(s.args[0])  # type: ignore[arg-type]
        computed = isinstance(s, Let) and s.op in FORMS and s.op not in (new_arrays.eye, index)
        return computed and isinstance(v.type, Type) and v.type.ndim == 2

    def matrix(self, v: Var) -> Atom:
        """The result, made of its diagonals."""
        bands = self.bands(v)
        if len(bands) > MANY or not self.operands_unchanged():
            raise Unsliced
        matrix: Any = zeros(shape=v.type.shape, dtype=v.type.dtype)
        matrix.name = v.name
        lengths = dict.fromkeys(b.high - b.low for b in bands)
        for n in lengths:
            matrix = self.fill_diagonals(matrix, n, [b for b in bands if b.high - b.low == n])
        return matrix  # type: ignore[no-any-return]

    def fill_diagonals(self, base: Var, length: Size, bands: list[Band]) -> Var:
        """The matrix with diagonals of one length."""
        i, inside = Var(size_value.infer(size=length), "i"), Var(base.type, base.name)
        self.at = {}
        with self.builder.block() as body:
            stored: Any = inside
            for b in bands:
                places = (i + (b.low - b.shift), i + b.low)
                stored = add_at(stored, self.element(b.values, i), *places, key=(Slot(0), Slot(1)))
        out = Var(base.type, base.name)
        passes = Block((i, inside), tuple(body), (stored,))
        self.builder.emit(For((out,), atom(0), atom_of_size(length), atom(1), (base,), passes))
        return out

    def element(self, a: Atom, i: Var) -> Atom:
        """The element of an array, computed if the array is."""
        if not a.type.shape:
            return a
        if a not in self.at:
            s = self.builder.definitions.get(a)  # type: ignore[arg-type]
            if s is not None and s.op.elementwise:
                value = s.op(*(self.element(b, i) for b in s.args), **s.params)
                self.at[a] = cast_to(value, a.type.dtype)
            else:
                self.at[a] = index(a, i, key=(Slot(0),))
        return self.at[a]

    def operands_unchanged(self) -> bool:
        """Whether memory that diagonals are made of is not overwritten later."""
        kept = {self.memory.base(a) for a in self.read if isinstance(a, Var)}
        written: set[Any] = set().union(*map(self.memory.writes, self.body[self.first :]))
        return not kept & written

    def bands(self, v: Atom) -> Bands:
        """The diagonals of a matrix."""
        if v not in self.known:
            s = self.memory.defs.get(v)  # type: ignore[arg-type]
            if not isinstance(s, Let) or s.op not in FORMS or id(s) not in self.top:
                raise Unsliced
            self.first = min(self.first, self.top[id(s)])
            self.builder.origin = s.origin
            self.known[v] = FORMS[s.op](self, s)
        return self.known[v]

    def is_banded(self, a: Atom) -> bool:
        try:
            return a.type.ndim == 2 and bool(self.bands(a))
        except Unsliced:
            return False

    # -- operations

    def eye(self, s: Let) -> Bands:
        rows, columns = map(self.ranges.canon, s.params["sides"])
        if rows != columns or s.params["k"] != 0:
            raise Unsliced
        dtype = s.outs[0].type.dtype
        return (Band(0, 0, rows, Literal(dtype.type(1), Type(dtype))),)

    def no_bands(self, s: Let) -> Bands:
        return ()

    def bands_of_cast(self, s: Let) -> Bands:
        dtype = s.outs[0].type.dtype
        return self.map_bands(s.args[0], lambda b: cast_to(b.values, dtype))

    def negative(self, s: Let) -> Bands:
        return self.map_bands(s.args[0], lambda b: neg(b.values))

    def map_bands(self, a: Atom, value: Callable[[Band], Atom]) -> Bands:
        return tuple(replace(b, values=value(b)) for b in self.bands(a))

    def bands_of_transpose(self, s: Let) -> Bands:
        if tuple(s.params["axes"]) != (1, 0):
            raise Unsliced
        bands = self.bands(s.args[0])
        return tuple(Band(0 - b.shift, b.low - b.shift, b.high - b.shift, b.values) for b in bands)

    def bands_of_sum(self, s: Let) -> Bands:
        left, right = s.args
        if not left.type.shape == right.type.shape == s.outs[0].type.shape:
            raise Unsliced  # one of them is broadcast
        if s.op is add:
            return (*self.bands(left), *self.bands(right))
        return (*self.bands(left), *self.map_bands(right, lambda b: neg(b.values)))

    def product(self, s: Let) -> Bands:
        first = 0 if s.op is truediv or self.is_banded(s.args[0]) else 1
        matrix, factor = s.args[first], s.args[1 - first]
        if s.outs[0].type.shape != matrix.type.shape or self.is_banded(factor):
            raise Unsliced
        op = truediv if s.op is truediv else mul
        return self.map_bands(matrix, lambda b: op(b.values, self.factor(factor, b)))

    def factor(self, a: Atom, b: Band) -> Atom:
        """What the elements of a diagonal are multiplied by."""
        shape = a.type.shape
        self.read.append(a)
        if not shape:
            return a
        if len(shape) == 1 and shape[0] != 1:
            return self.part(a, b.low, b.high)
        if len(shape) == 2 and shape[1] == 1 != shape[0]:
            column: Atom = index(a, key=(slice(None), 0))
            return self.part(column, b.low - b.shift, b.high - b.shift)
        if len(shape) == 2 and shape[0] == 1 != shape[1]:
            return self.part(index(a, key=(0,)), b.low, b.high)
        raise Unsliced

    def part(self, a: Atom, low: Size, high: Size) -> Atom:
        """a[low:high], of numbers or of one number."""
        n = self.ranges.canon(a.type.shape[0]) if a.type.shape else 0
        if not a.type.shape or (low, high) == (0, n):
            return a
        rest: list[Atom] = []
        entries = key_of(0, low, high, n, rest)
        return index(a, *rest, key=entries)  # type: ignore[no-any-return]

    def bands_of_part(self, s: Let) -> Bands:
        rows, columns = self.target(s, 1)
        return tuple(self.clip_band(b, rows, columns) for b in self.bands(s.args[0]))

    def clip_band(self, b: Band, rows: Any, columns: Any) -> Band:
        """The part of a diagonal that is in a part of the matrix, counted from there."""
        low = self.largest(b.low, columns[0], rows[0] + b.shift)
        high = self.smallest(b.high, columns[1], rows[1] + b.shift)
        self.require_elements(low, high)
        values = self.part(b.values, low - b.low, high - b.low)
        shift = b.shift - columns[0] + rows[0]
        return Band(shift, low - columns[0], high - columns[0], values)

    def bands_of_store(self, s: Let) -> Bands:
        """What is stored to a part of a matrix that has nothing there yet, or added to it."""
        rows, columns = self.target(s, 2)
        before = self.bands(s.args[0])
        value = s.args[1]
        if (before and s.op is not add_at) or value.type.ndim != 2:
            raise Unsliced
        dtype = s.outs[0].type.dtype
        moved = tuple(
            Band(
                b.shift + columns[0] - rows[0],
                b.low + columns[0],
                b.high + columns[0],
                cast_to(b.values, dtype),
            )
            for b in self.bands(value)
        )
        return (*before, *moved)

    def target(self, s: Let, first: int) -> Any:
        target = self.ranges.target(s, first)
        if target is None or not all(isinstance(e, tuple) for e in target):
            raise Unsliced
        return target

    def require_elements(self, low: Size, high: Size) -> None:
        """Relies on a diagonal to have elements."""
        parts = self.ranges.ranges_between((low, high))
        if parts not in ([], [(low, high)]):
            raise Unsliced
        self.ranges.rely(parts)

    def largest(self, *sizes: Size) -> Size:
        return self.extreme(sizes, lambda a, b: a - b)

    def smallest(self, *sizes: Size) -> Size:
        return self.extreme(sizes, lambda a, b: b - a)

    def extreme(self, sizes: tuple[Size, ...], over: Callable[[Size, Size], Size]) -> Size:
        for a in sizes:
            if all(not_negative(over(a, b), self.ranges.facts) for b in sizes):
                return a
        raise Unsliced


FORMS: dict[Op, Callable[[Banding, Let], Bands]] = {
    new_arrays.eye: Banding.eye,
    zeros: Banding.no_bands,
    identity: Banding.bands_of_cast,
    copy: Banding.bands_of_cast,
    cast: Banding.bands_of_cast,
    neg: Banding.negative,
    transpose: Banding.bands_of_transpose,
    add: Banding.bands_of_sum,
    sub: Banding.bands_of_sum,
    mul: Banding.product,
    truediv: Banding.product,
    index: Banding.bands_of_part,
    update: Banding.bands_of_store,
    add_at: Banding.bands_of_store,
}
