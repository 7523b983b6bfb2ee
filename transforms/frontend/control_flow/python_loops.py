"""Unrolls loops: Python runs them while staging, pass by pass."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapeless.transforms.core.slow_code import MANY, SlowCode
from tapeless.transforms.errors import TooManyWaysError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.branches import branch
from tapeless.transforms.frontend.control_flow.loop_ranges import Sequence
from tapeless.transforms.frontend.control_flow.truth import truth
from tapeless.transforms.frontend.heap.iterators import Advancing
from tapeless.transforms.frontend.heap.lists import ChangedError, StagedList
from tapeless.transforms.frontend.source.positions import find_origin
from tapeless.transforms.frontend.trace.trace import trace

LONG_CODE = 250  # operations that passes over objects or dicts record; with more, they are kept
LARGE = 5_000  # operations that the passes of an unrolled loop record; with more it is told of
VERY_MUCH_CODE = "is unrolled, into code of"
LONG = 10_000  # passes of known numbers: with more, a loop is compiled, not run while staging


@contextmanager
def count_idle_passes(loop: Any) -> Iterator[None]:
    """Counts the passes of a loop that Python runs, and of those inside; None for other loops."""
    t = trace()
    if loop is None or t.loops.idle is not None:
        yield
        return
    t.loops.idle, t.loops.passes = loop, 0
    try:
        yield
    finally:
        t.loops.idle = None


def count_pass() -> None:
    t = trace()
    t.loops.passes += 1
    if t.loops.idle is not None and t.loops.passes > LONG:
        t.decisions.keep(t.loops.idle)


class Unrolling:
    """Counts the passes of a loop that is unrolled, and notes it if they record many times.

    reason   why it is unrolled
    way_out  what keeps it a loop
    passes   those that stand ahead of it
    """

    def __init__(self, reason: str, way_out: str, passes: int = 0) -> None:
        self.reason, self.way_out, self.passes = reason, way_out, passes
        self.block, self.recorded, self.noted = trace().blocks[-1], False, False
        self.start, self.operations = len(self.block), len(trace().definitions)

    def count(self) -> None:
        """A pass is over."""
        count_pass()
        self.passes += 1
        if self.passes > MANY and not self.noted:
            self.recorded = self.recorded or len(self.block) > self.start
            if self.recorded:
                self.note(f"is unrolled into more than {MANY} passes, each with code of its own")
        operations = len(trace().definitions) - self.operations
        if operations > (LONG_CODE if trace().loops.objects else LARGE):
            trace().decisions.compact_code()
        if self.passes > 1 and operations > LARGE and not (self.noted or self.is_told()):
            self.note(f"{VERY_MUCH_CODE} more than {LARGE:,} operations")

    def is_told(self) -> bool:
        """Whether very much code is told of, of a loop inside of this one perhaps."""
        return any(x.fate.startswith(VERY_MUCH_CODE) for x in trace().loops.unrolled.values())

    def too_deep(self, error: RecursionError) -> Exception:
        """What is wrong where passes are inside of the tests of those before, and too many."""
        if self.passes <= MANY:
            return error  # of a recursion in the loop
        return TooManyWaysError(
            f"the loop is left by a test on run-time values, and is unrolled into more than {MANY} "
            f"passes, each inside of the test of the one before ({self.reason.splitlines()[0]})",
            self.way_out,
        )

    def note(self, fate: str) -> None:
        """Has the program tell of the loop that the line belongs to which is staged now."""
        self.noted = True
        place = find_origin()
        if place is not None:
            where = place.file, place.line, place.function
            trace().loops.unrolled[where] = SlowCode(*where, fate, self.reason, self.way_out)


def index_at(seq: Sequence, k: int) -> int:
    start, _, step = (a.value for a in seq.span)  # type: ignore[union-attr]
    return int(start + k * step)


class UnrolledPasses:
    """The items of a loop that is unrolled; each is made when its pass begins, also where a pass is
    staged again."""

    def __init__(self, seq: Sequence, numbers: range) -> None:
        self.seq, self.numbers = seq, numbers

    def __iter__(self) -> Iterator[Any]:
        return (self.seq.item(index_at(self.seq, k)) for k in self.numbers)

    def from_pass(self, k: int) -> UnrolledPasses:
        return UnrolledPasses(self.seq, self.numbers[k:])


def run_items(
    items: Any,
    body: Callable[[Any], Any],
    frame: Any,
    stop: str | None,
    unrolling: Unrolling,
    first: int = 0,
) -> None:
    """Runs a loop as Python does; a data-dependent break makes the later passes conditional."""
    if isinstance(items, StagedList) and items.tail is not None:
        raise ChangedError  # by an earlier pass
    for k, item in enumerate(itertools.islice(items, first, None), first + 1):
        body(item)
        unrolling.count()
        if stop is None:
            continue
        flag = truth(getattr(frame, stop))
        if isinstance(flag, Symbol):
            unrolling.recorded = True
            if isinstance(items, Advancing):
                items, k = items.rest(), 0
            elif isinstance(items, UnrolledPasses):
                items, k = items.from_pass(k), 0
            rest = functools.partial(run_items, items, body, frame, stop, unrolling, k)
            try:
                branch(flag, lambda: None, rest)
            except RecursionError as e:
                raise unrolling.too_deep(e) from e
            return
        if flag:
            return
