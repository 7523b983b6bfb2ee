"""Represents parts of arrays by where they start and stop along each axis, and orders them.

x[1:-1] of n elements      becomes      (1, n - 1)
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let
from tapeless.transforms.core.size_inequalities import (
    Facts,
    Relation,
    not_negative,
    without_decided_maxima,
)
from tapeless.transforms.lowering.optimize.slice_pushdown import Unsliced
from tapeless.transforms.lowering.schedule.dependences import Dependences, size_of_atom
from tapeless.transforms.lowering.schedule.view_indices import Place, ViewSpan, key_entries
from tapeless.transforms.lowering.sizes.size_equalities import Sizes, canonical, relate
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot

Range = tuple[Size, Size]
Target = tuple[Any, ...]  # for each axis a range, or a place: an integer or an atom


class Ranges:
    """`hints` are the sizes of this call, `facts` what is known of their order, and `relied` what
    was added to it."""

    def __init__(
        self,
        memory: Dependences,
        sizes: Sizes,
        hints: Mapping[dims.Symbol, int],
        facts: Facts,
    ) -> None:
        self.memory, self.sizes, self.hints, self.facts = memory, sizes, hints, facts
        self.relied: list[Relation] = []

    def target(self, s: Let, first: int) -> Target | None:
        """What is read or stored to, if each axis has a place or a slice without gaps; `first` is
        the first argument that the key names."""
        shape = s.args[0].type.shape
        entries = key_entries(s.params["key"], s.args[first:], shape)
        if entries is None or any(e is None for e in s.params["key"]):
            return None
        ranges_read = tuple(
            self.entry(e, n, s.args[first:]) for e, n in zip(entries, shape, strict=True)
        )
        return None if None in ranges_read else ranges_read

    def entry(self, e: Any, n: Size, rest: tuple[Atom, ...]) -> Any:
        if isinstance(e, Place):
            at = e.at if isinstance(e.at, int) else rest[e.at.k]
            return None if getattr(getattr(at, "type", None), "shape", ()) else at
        assert isinstance(e, ViewSpan)
        if e.step != 1 or e.start is None:
            return None
        stop = n if e.stop is None else self.end(e.stop, n, rest)
        start = self.end(e.start, n, rest)
        return None if start is None or stop is None else (start, stop)

    def end(self, e: Any, n: Size, rest: tuple[Atom, ...]) -> Size | None:
        """Where a slice starts or stops, counted from the front."""
        if isinstance(e, int):
            return self.canon(e if e >= 0 else n + e)
        assert isinstance(e, Slot)
        size = self.canon(size_of_atom(self.memory, rest[e.k]))
        return size if not_negative(size, self.facts) else None

    # -- sizes

    def canon(self, size: Size) -> Size:
        return without_decided_maxima(canonical(size, self.sizes), self.facts)

    def compare(self, a: Size, b: Size) -> int:
        """The order of two sizes, in this call if need be."""
        if a == b:
            return 0
        if not_negative(a - b, self.facts):
            return 1
        if not_negative(b - a, self.facts):
            return -1
        x, y = dims.evaluate(a, self.hints), dims.evaluate(b, self.hints)
        are_given = all(s.given for s in dims.symbols(a) | dims.symbols(b))
        if x is None or y is None or x == y or not are_given:
            raise Unsliced
        return 1 if x > y else -1

    def equate(self, ends: Iterable[Size]) -> None:
        """Takes lengths of inputs for equal, which are so in this call though nothing says it."""
        for a, b in itertools.combinations(dict.fromkeys(map(self.canon, ends)), 2):
            x, y = dims.evaluate(a, self.hints), dims.evaluate(b, self.hints)
            are_given = all(s.given for s in dims.symbols(a) | dims.symbols(b))
            a, b = self.canon(a), self.canon(b)
            if are_given and x is not None and x == y and a != b and relate(self.sizes, a, b):
                self.relied.append(("==", a, b))

    def with_equal_sizes(self, e: Any) -> Any:
        """An entry of a target after sizes have been found equal."""
        return (self.canon(e[0]), self.canon(e[1])) if isinstance(e, tuple) else e

    def ranges_between(self, ends: Iterable[Size]) -> list[Range]:
        """The parts between ends, in order."""
        ordered_ends = sorted(set(ends), key=functools.cmp_to_key(self.compare))
        return list(itertools.pairwise(ordered_ends))

    def rely(self, parts: Iterable[Range]) -> None:
        """Notes that the ends of parts have this order."""
        for a, b in parts:
            if not not_negative(b - a, self.facts):
                self.relied.append((">=", b, a))
                self.facts.sizes.append(b - a)


def differing(a: Target, b: Target) -> set[int]:
    """The axes along which two parts of one array differ; -1 too if they cannot be put together."""
    places = [k for k, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
    if any(not isinstance(t[k], tuple) for k in places for t in (a, b)):
        return {-1, *places}
    return set(places)
