"""Hoists tests of indices that follow the passes of a loop out of it, to where they begin and end.

for k in range(n): s = s + x[k]      becomes      if n > x.shape[0]: raise IndexError(...)
                                                  for k in range(n): s = s + x[k]

A test in each pass would keep the loop from running on vectors.
"""

from __future__ import annotations

from collections.abc import Iterator

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Block,
    For,
    If,
    Let,
    Literal,
    Origin,
    Type,
    Var,
    blocks,
)
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.kernels.hoisted_integers import IntegersAhead
from tapeless.transforms.lowering.schedule.dependences import variables_inside
from tapeless.transforms.lowering.schedule.view_indices import Place, entries_of, is_view
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot
from tapeless.transforms.python_text.python_source import to_source

Key = tuple[Size, Size]


@dataclass(frozen=True)
class Reached:
    """The least and the largest index of an axis of `n` elements that the passes read."""

    key: Key
    axis: int
    low: Size
    high: Size
    origin: Origin | None


class AheadChecks(IntegersAhead):
    """Tests of what all passes of a loop do."""

    def check_ahead(self, s: For) -> list[Key]:
        """Tests the indices in a loop before it; those that are tested."""
        if not self.is_silent(s):
            return []  # what else is to be seen, or raised, comes first
        self.check_integers_ahead(s)
        if not self.analysis.boundscheck:
            return []
        changing, done = variables_inside(s), []
        for indices in self.accesses(s.body, {s.index: self.ranges[s.index]}):
            sizes = (indices.key[0], indices.low, indices.high)
            are_known = all(self.is_known(x, changing) for n in sizes for x in dims.symbols(n))
            if indices.key in self.refused or not are_known:
                continue
            tests = self.out_of_bounds_tests(indices, s)
            of_lengths = all(x.given for n in sizes for x in dims.symbols(n))
            for test, index in tests:
                if of_lengths:
                    if test in self.refused:
                        continue
                    self.refused[test] = self.depth
                length = self.size_text(indices.key[0])
                self.refuse(test, index, indices.axis, length, indices.origin)
            if tests:
                self.refused[indices.key] = self.depth
                done.append(indices.key)
        return done

    def accesses(self, block: Block, spans: dict[Var, tuple[Size, Size]]) -> Iterator[Reached]:
        """What each pass reads or stores to, also in loops inside that make passes."""
        for t in block.body:
            if isinstance(t, Let):
                yield from self.of_statement(t, spans)
            elif isinstance(t, If):
                then, orelse = ({r.key: r for r in self.accesses(b, spans)} for b in blocks(t))
                yield from (r for key, r in then.items() if key in orelse)
            elif isinstance(t, For) and not t.until:
                span = self.span_of(t)
                if span is not None and dims.at_least(span[1], span[0]):
                    yield from self.accesses(t.body, spans | {t.index: span})

    def of_statement(self, s: Let, spans: dict[Var, tuple[Size, Size]]) -> Iterator[Reached]:
        stage = self.stage(s)
        entries = stage.entries if stage is not None else entries_of(s) if is_view(s) else None
        if not entries or not isinstance(s.args[0].type, Type):
            return
        rest = s.args[2 if s.op.name in ("update", "add_at") else 1 :]
        for axis, e in enumerate(entries):
            if not (isinstance(e, Place) and isinstance(e.at, Slot)) or e.at.within:
                continue
            a, n = rest[e.at.k], self.canon(s.args[0].type.shape[axis])
            if a.type.shape or a.type.dtype.kind != "i":
                continue
            low = high = at = self.as_size(a)
            for v, (first, last) in reversed(spans.items()):
                low, high = self.extremes(v, low, high, first, last)
            yield Reached((n, at), axis, low, high, s.origin)

    def out_of_bounds_tests(self, indices: Reached, s: For) -> list[tuple[str, str]]:
        """Tests whether one of the indices is not there, each with the first such index if that is
        known, else with the last."""
        n = indices.key[0]
        tests = []
        if not self.never_negative(indices.low):
            low = self.size_text(indices.low)
            tests.append((f"{low} < {self.size_text(-1 * n)}", low))
        if not dims.at_least(n - 1 - self.bounds(indices.high)[1], 0):
            test = f"{self.size_text(indices.high + 1)} > {self.size_text(n)}"
            tests.append((test, self.first_beyond(indices, s)))
        start, stop = self.as_size(s.start), self.as_size(s.stop)
        first, last = self.ranges[s.index]
        from_zero = start == 0 and len(tests) == 1 and indices.high == stop - 1
        if from_zero or dims.at_least(last, first):
            return tests
        passes = f"{self.size_text(first)} < {self.size_text(last + 1)}"
        return [(f"{passes} and {test}", index) for test, index in tests]

    def first_beyond(self, reached: Reached, s: For) -> str:
        """The index that is told where one is too large: the first one if each pass reads the
        index after that of the pass before, or as far from it as an argument says; else the
        largest."""
        n, at = reached.key
        first, last = self.ranges[s.index]
        start, follow = (first, first + 1) if _counts_up(s) else (last, last - 1)
        in_first_pass, _ = self.extremes(s.index, at, at, start, start)
        in_second_pass, _ = self.extremes(s.index, at, at, follow, follow)
        further = in_second_pass - in_first_pass
        in_order = reached.low == in_first_pass and (further == 1 or not isinstance(further, int))
        if not in_order or reached.high - reached.low != further * (last - first):
            return self.size_text(reached.high)
        beyond = self.size_text(n)
        if further != 1:
            low, step = reached.low, self.size_text(further)
            beyond = (
                f"{self.size_text(low)} - ({self.size_text(low - n)}) // max({step}, 1) * ({step})"
            )
        if dims.at_least(n, reached.low):
            return beyond
        return f"max({self.size_text(reached.low)}, {beyond})"

    def size_text(self, size: Size) -> str:
        return to_source(self.size(size))

    def span_of(self, s: For) -> tuple[Size, Size] | None:
        """The least and the largest value of a loop's variable, if it makes a pass."""
        step = s.step.value if isinstance(s.step, Literal) else None
        if step not in (1, -1):
            return None
        start, stop = self.as_size(s.start), self.as_size(s.stop)
        return (start, stop - 1) if step == 1 else (stop + 1, start)


def _counts_up(s: For) -> bool:
    return isinstance(s.step, Literal) and s.step.value > 0
