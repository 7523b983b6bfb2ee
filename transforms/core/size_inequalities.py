"""Derives what a program relies on of the order of sizes: with n >= 4, x[:-3] ends with element n -
4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import Builder, building, size_of
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Block, For, Let, Literal, Var, statements
from tapeless.transforms.core.ternary import Ternary
from tapeless.transforms.dataclass import dataclass

Relation = tuple[str, Size, Size]


@dataclass
class Facts:
    """What is known of the order of sizes.

    sizes   those that are not negative
    ranges  the least and the largest value of the indices of loops, while their bodies run

    >>> from tapeless.transforms.core.builder import atom, var_size
    >>> i, n = Var(atom(0).type), dims.symbol("n")
    >>> not_negative(n - 1 - var_size(i), Facts(ranges={i: (0, n - 1)}))
    True
    """

    sizes: list[Size] = field(default_factory=list)
    ranges: Mapping[Var, tuple[Size, Size]] = field(default_factory=dict)

    def map(self, canon: Callable[[Size], Size]) -> Facts:
        """The facts about sizes that are spelled in one way."""
        ranges = {v: (canon(low), canon(high)) for v, (low, high) in self.ranges.items()}
        return Facts(list(map(canon, self.sizes)), ranges)

    def in_passes(self, size: Size) -> Facts:
        """What is so where the indices in a size have values: the loops make a pass."""
        ranges = [r for x in dims.symbols(size) if (r := self.range_of(x)) is not None]
        return Facts([*self.sizes, *(high - low for low, high in ranges)], self.ranges)

    def range_of(self, factor: dims.Factor) -> tuple[Size, Size] | None:
        """The least and the largest value of the index of a loop."""
        return self.ranges.get(factor.var) if isinstance(factor, dims.Symbol) else None


def facts_of(relations: Iterable[Relation], block: Block | None = None) -> Facts:
    """What relations between sizes say, and the loops of a program."""
    sizes = [a - b for relation, a, b in relations if relation == ">="]
    if block is None:
        return Facts(sizes)
    b = Builder()
    b.definitions = {v: s for s in statements(block) if isinstance(s, Let) for v in s.outs}
    ranges: dict[Var, tuple[Size, Size]] = {}
    with building(b):
        for s in statements(block):
            step = s.step.value if isinstance(s, For) and isinstance(s.step, Literal) else 0
            if isinstance(s, For) and type(step) is int and step != 0:
                toward = 1 if step > 0 else -1
                first, last = size_of(s.start), size_of(s.stop) - toward
                ranges[s.index] = (first, last) if step > 0 else (last, first)
    return Facts(sizes, ranges)


def not_negative(size: Size, facts: Facts) -> bool:
    """Whether that is certain, follows from one of the facts, or is so in all passes of loops."""
    if dims.at_least(size, 0) or any(dims.at_least(size - f, 0) for f in facts.sizes):
        return True
    if any(facts.range_of(x) for x in dims.symbols(size)):
        facts = facts.in_passes(size)
    for factors, c in dims.terms_of(size):
        factor = factors[0] if len(factors) == 1 else None
        if isinstance(factor, dims.Quotient) and factor.kind in dims.CALLED:
            sides = (size + (n - dims.single(factor)) * c for n in (factor.left, factor.right))
            either = any if (factor.kind == "max") == (c > 0) else all
            if either(not_negative(n, facts) for n in sides):
                return True
    least = least_in_loops(size, facts.range_of)
    return least != size and not_negative(least, facts)


def least_in_loops(
    size: Size, range_of: Callable[[dims.Factor], tuple[Size, Size] | None], sign: int = 1
) -> Size:
    """The least value of a size in the passes of the loops around; of -1, the largest one.

    range_of  the least and the largest value of the index of a loop; None of what is no index

    >>> i, n = dims.symbol("i"), dims.symbol("n")
    >>> least_in_loops(n - i, {next(iter(dims.symbols(i))): (0, n - 1)}.get)
    1
    >>> least_in_loops(dims.minimum(i + 4, n), {next(iter(dims.symbols(i))): (0, n - 1)}.get)
    min(4, n)
    >>> least_in_loops(i - dims.maximum(i, 0), {next(iter(dims.symbols(i))): (0, n - 1)}.get)
    0
    """
    size = _without_choices(size, range_of)
    ranges = {x: ends for x in dims.symbols(size) if (ends := range_of(x)) is not None}
    around = {y for x, ends in ranges.items() for end in ends for y in dims.symbols(end) if y != x}
    innermost = {x: ends for x, ends in ranges.items() if x not in around}
    least = bound_by_ranges(size, innermost, sign)
    return size if least == size else least_in_loops(least, range_of, sign)


def _without_choices(
    size: Size, range_of: Callable[[dims.Factor], tuple[Size, Size] | None]
) -> Size:
    """The size without maxima and minima of which one side is larger in all passes."""
    total: Size = 0
    for factors, c in dims.terms_of(size):
        term: Size = dims.product(map(dims.single, factors))
        factor = factors[0] if len(factors) == 1 else None
        if isinstance(factor, dims.Quotient) and factor.kind in dims.CALLED:
            sides = factor.left, factor.right
            for larger, other in (sides, sides[::-1]):
                if dims.at_least(least_in_loops(larger - other, range_of), 0):
                    term = larger if factor.kind == "max" else other
        total = total + c * term
    return total


def bound_by_ranges(size: Size, ranges: Mapping[dims.Symbol, tuple[Size, Size]], sign: int) -> Size:
    """The size with indices at the end of their range where it is least; of -1, greatest."""
    total: Size = 0
    for factors, c in dims.terms_of(size):
        factor = factors[0] if len(factors) == 1 else None
        which = sign if c > 0 else -sign
        if isinstance(factor, dims.Quotient) and factor.kind in dims.CALLED:
            sides = (bound_by_ranges(n, ranges, which) for n in (factor.left, factor.right))
            total = total + c * dims.combine(factor.kind, *sides)
        elif factor in ranges:
            total = total + c * ranges[factor][0 if which > 0 else 1]  # type: ignore[index]
        else:
            total = total + dims.product([c, *map(dims.single, factors)])
    return total


def without_decided_maxima(size: Size, facts: Facts) -> Size:
    """The size without maxima of which one side is known."""
    if isinstance(size, int):
        return size
    total: Size = 0
    for factors, c in size.terms:
        term: Size = c
        for f in factors:
            term = term * _larger(f, facts)
        total = total + term
    return total


def _larger(f: dims.Factor, facts: Facts) -> Size:
    if isinstance(f, dims.Quotient) and f.kind == "max":
        for a, b in ((f.left, f.right), (f.right, f.left)):
            if not_negative(a - b, facts):
                return a
    return dims.single(f)


class Relied(Builder):
    """Parts have the lengths that the facts give them; `canon` spells sizes that are equal in one
    way."""

    def __init__(self, facts: Facts, canon: Callable[[Size], Size] | None = None) -> None:
        super().__init__()
        self.facts, self.canon = facts, canon

    def not_negative(self, size: Size) -> bool:
        return not_negative(size if self.canon is None else self.canon(size), self.facts)

    def length(self, low: Size, high: Size) -> Size:
        size = high - low
        return size if self.not_negative(size) else super().length(low, high)

    def at_least(self, a: Size, b: Size) -> Ternary:
        return Ternary.TRUE if self.not_negative(a - b) else super().at_least(a, b)

    def clamp(self, bound: Size, n: Size) -> Size | None:
        return bound if self.not_negative(bound) and self.not_negative(n - bound) else None
