"""Gathers the facts that all kernels of a program use: its statements as loops, its sizes, its
memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let, Literal, Statement, Var
from tapeless.transforms.core.size_inequalities import Facts, Relied, bound_by_ranges, not_negative
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.schedule.axis_maps import axes_through_views
from tapeless.transforms.lowering.schedule.dependences import Dependences, size_of_atom
from tapeless.transforms.lowering.schedule.loop_nests import LoopNest, permute_space, stage_of
from tapeless.transforms.lowering.schedule.user_errors import UserErrors
from tapeless.transforms.lowering.schedule.view_indices import ViewSpan, entries_of, is_view
from tapeless.transforms.lowering.sizes.size_equalities import canonical, single_symbol
from tapeless.transforms.lowering.target import CPU, Target
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, index
from tapeless.transforms.optimize.algebra.facts import as_written

#: Dtypes of elements to which several threads can add at once.
ATOMIC = frozenset(
    ["int32", "int64", "uint32", "uint64", "float32", "float64", "complex64", "complex128"]
)


@dataclass
class Analysis:
    """What all kernels of a program know of it."""

    memory: Dependences
    sizes: dict[dims.Symbol, Size]
    boundscheck: bool = True
    facts: Facts = field(default_factory=Facts)
    targets: set[Var] = field(default_factory=set)  # memory that is stored to
    unset: set[Var] = field(default_factory=set)  # memory that a program makes without contents
    returned: set[Var] = field(default_factory=set)  # memory of results of the program
    lengths: dict[dims.Symbol, tuple[Let, int]] = field(default_factory=dict)
    stages: dict[Let, LoopNest | None] = field(default_factory=dict)
    inside: set[Var] = field(default_factory=set)  # what the kernel that is written defines
    closed: set[Var] = field(default_factory=set)  # what loops of the driver defined that are over
    seen: set[dims.Symbol] = field(default_factory=set)  # sizes of what is defined outside of it
    hidden: set[Var] = field(default_factory=set)  # what other kernels compute for themselves
    hints: Mapping[dims.Symbol, int] = field(default_factory=dict)  # sizes in this call
    target: Target = CPU
    errors: UserErrors = field(default_factory=UserErrors)  # that kernels give by their numbers
    atomic: set[Let] = field(default_factory=set)  # what several threads add to an element at once

    def __post_init__(self) -> None:
        self.relied = Relied(self.facts, self.canon)
        lets = ((v, s) for v, s in self.memory.defs.items() if isinstance(s, Let))
        self.relied.definitions.update(lets)

    def canon(self, size: Size) -> Size:
        return canonical(size, self.sizes)

    def not_negative(self, size: Size) -> bool:
        return not_negative(self.canon(size), self.facts)

    def memory_length(self, n: Size) -> Size:
        """How long an array is made that a kernel fills: it may belong to a side of a branch that
        is not taken, whose lengths come out negative."""
        return n if self.not_negative(n) else dims.maximum(n, 0)

    def equal(self, a: Size, b: Size) -> bool:
        return a == b or self.canon(a) == self.canon(b)

    def stage(self, s: Statement) -> LoopNest | None:
        if not isinstance(s, Let) or is_view(s):
            return None
        if s not in self.stages:
            stage = self.stages[s] = self.in_memory_order(stage_of(s, self.equal, self.relied))
            if stage is not None and stage.stores:
                self.measure(s, stage.entries, stage.space)
        return self.stages[s]

    def measure(self, s: Let, entries: Any, space: tuple[Size, ...]) -> None:
        """Notes which part of which axis has a length that only the program knows."""
        for axis, e in enumerate(entries):
            if isinstance(e, ViewSpan) and e.axis is not None:
                symbol = single_symbol(self.canon(space[e.axis]))
                if symbol is not None and not symbol.given and symbol.var is None:
                    self.lengths.setdefault(symbol, (s, axis))

    @contextmanager
    def measured_here(self, body: Iterable[Statement]) -> Iterator[None]:
        """Lengths are those that parts have in the open block: a backward loop takes the parts of
        the forward one again, with bounds of its own."""
        before, self.lengths = self.lengths, {}
        for s in body:
            if isinstance(s, Let) and s.op is index and is_view(s):
                self.measure(s, entries_of(s), s.outs[0].type.shape)
        self.lengths = before | self.lengths
        yield
        self.lengths = self.lengths | before

    def upper(self, size: Size) -> Size:
        """A size that is at least this, of which the driver knows the value."""
        size = self.canon(size)
        for x in dims.symbols(size):
            if self.is_known(dims.single(x)):
                continue
            if x in self.lengths:
                s, axis = self.lengths[x]
                size = _for_all_lengths(size, x, s.args[0].type.shape[axis])
            elif x.upper is not None:
                size = _for_all_lengths(size, x, x.upper)
        size = self.canon(size)
        return size if self.is_known(size) else self.canon(greatest(size, self.in_loops(size)))

    def in_loops(self, size: Size) -> dict[dims.Symbol, tuple[Size, Size]]:
        """The loop indices in a size that the driver does not have, with their least and greatest
        values; those in their bounds, too."""
        ends: dict[dims.Symbol, tuple[Size, Size]] = {}
        pending = [size]
        while pending:
            for x in dims.symbols(pending.pop()) - ends.keys():
                loop = self.memory.indices.get(x.var)
                if loop is not None and isinstance(loop.step, Literal) and loop.step.value > 0:
                    start, stop = (size_of_atom(self.memory, a) for a in (loop.start, loop.stop))
                    ends[x] = start, stop - 1
                    pending += ends[x]
        return ends

    def in_memory_order(self, stage: LoopNest | None) -> LoopNest | None:
        """The loops of a product of matrices go along the memory of both, which may have been
        transposed."""
        if stage is None or stage.let.op is not matmul or not stage.out:
            return stage
        (inner,) = stage.reduced
        others = tuple(k for k in range(len(stage.space)) if k != inner)
        left, right = (self.last_axis(stage, k) for k in (0, 1))
        if right == inner and len(stage.maps[1] or ()) == 2:
            return permute_space(stage, (*others, inner))
        if left != inner and len(stage.maps[0] or ()) == 2:
            return permute_space(stage, (inner, *others))
        return stage

    def last_axis(self, stage: LoopNest, k: int) -> Any:
        """The axis of the space along which an argument lies in memory."""
        a = stage.let.args[k]
        elements = axes_through_views(self.memory, a, stage.maps[k] or (), self.memory.base(a))
        last = elements[0][-1] if elements and elements[0] else None
        return last[0] if isinstance(last, tuple) else last  # a part has a start and a step, too

    def may_add_atomically(self, s: Let) -> bool:
        """Whether several threads may add to the same element at once: sums of integers are the
        same in any order."""
        if not self.target.separate or s.op is not add_at:
            return False
        dtype = s.outs[0].type.dtype
        return dtype.name in ATOMIC and (dtype.kind in "iu" or not as_written.get())

    def is_known_outside(self, size: Size) -> bool:
        """Whether the driver knows the size before it calls the kernel."""
        return self.is_known(self.canon(size))

    def is_known(self, size: Size) -> bool:
        return all(
            x.var not in self.inside if x.var is not None else x.given or x in self.seen
            for x in dims.symbols(size)
        )

    def exact(self, size: Size) -> Size:
        """The size as the driver can write it, if it can."""
        return size if self.is_known(size) else self.canon(size)

    def driver_size(self, size: Size) -> Size:
        """The size, or one that is at least that large, as the driver can write it."""
        size = self.exact(size)
        return size if self.is_known(size) else self.upper(size)

    def is_hidden(self, a: Atom) -> bool:
        """Whether only another kernel knows a value."""
        return a in self.hidden and a not in self.inside

    def defined_outside(self, v: Var) -> bool:
        return v not in self.inside


def _for_all_lengths(size: Size, x: dims.Symbol, n: Size) -> Size:
    """A size that is at least this whatever the length x of a part of n elements is: of one that
    may grow and shrink as x grows, each term is taken at its greatest.

    >>> n, m, length = dims.symbol("n", 1), dims.symbol("m", 1), dims.symbol("length", 0)
    >>> (x,) = dims.symbols(length)
    >>> _for_all_lengths(length + 1, x, n), _for_all_lengths(m - length, x, n)
    (n + 1, m)
    >>> _for_all_lengths(length - 2 * dims.minimum(length, m) + 2 * m, x, n)
    n + 2*m
    """
    bound = greatest(size, {x: (0, n)})
    return bound_by_ranges(size, {x: (0, n)}, -1) if x in dims.symbols(bound) else bound


def greatest(size: Size, ends: Mapping[dims.Symbol, tuple[Size, Size]]) -> Size:
    """A size with the end of the range of each index at which it is greatest; 0 at least, as where
    there is no pass nothing is that long. A size that may grow and shrink is left as it is.

    >>> n, i = dims.symbol("n", 1), dims.symbol("i", 0)
    >>> (x,) = dims.symbols(i)
    >>> greatest(n - i, {x: (0, n - 1)}), greatest(i + 1, {x: (0, n - 1)})
    (n, n)
    >>> greatest(dims.minimum(i + 8, n) - i, {x: (0, n - 1)}), greatest((i + 1) // 2, {x: (0, n)})
    (min(8, n), (n - 1) // (2) + 1)
    """
    for _ in ends:
        for x in dims.symbols(size) & ends.keys():
            growth = slopes(size, x)
            least, most = ends[x]
            if growth is None or growth[0] < 0 < growth[1]:
                return size
            size = dims.substitute(size, {x: least if growth[0] < 0 else most}.get)
    return dims.maximum(size, 0)


def slopes(size: Size, x: dims.Symbol) -> tuple[int, int] | None:
    """The least and the greatest growth of a size as a symbol grows by one; None where that depends
    on other symbols."""
    least = greatest_slope = 0
    for factors, c in dims.terms_of(size):
        if not any(x is f or (isinstance(f, dims.Quotient) and _has(f, x)) for f in factors):
            continue
        own = slopes_of_factor(factors[0], x) if len(factors) == 1 else None
        if own is None:
            return None
        ends = c * own[0], c * own[1]
        least, greatest_slope = least + min(ends), greatest_slope + max(ends)
    return least, greatest_slope


def slopes_of_factor(factor: dims.Factor, x: dims.Symbol) -> tuple[int, int] | None:
    if factor is x:
        return 1, 1
    if not isinstance(factor, dims.Quotient):
        return None
    left, right = slopes(factor.left, x), slopes(factor.right, x)
    if factor.kind == "//" and isinstance(k := factor.right, int) and k > 0 and left is not None:
        return left[0] // k, -(-left[1] // k)
    if factor.kind not in dims.CALLED:
        return None
    if left is None or right is None:
        return None
    return min(left[0], right[0]), max(left[1], right[1])


def _has(quotient: dims.Quotient, x: dims.Symbol) -> bool:
    return x in dims.symbols(quotient.left) | dims.symbols(quotient.right)
