"""Loops that Python runs while staging, pass by pass."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.branches import branch
from tapeless.transforms.frontend.control_flow.loop_ranges import Sequence
from tapeless.transforms.frontend.control_flow.truth import truth
from tapeless.transforms.frontend.heap.iterators import Advancing
from tapeless.transforms.frontend.heap.lists import ChangedError, StagedList
from tapeless.transforms.frontend.trace.trace import trace

LONG = 10_000  # passes of known numbers: with more, a loop is compiled, not run while staging


@contextmanager
def idle(loop: Any) -> Iterator[None]:
    """Counts the passes of a loop that Python runs, and of those inside; None for other loops."""
    t = trace()
    if loop is None or t.idle is not None:
        yield
        return
    t.idle, t.passes = loop, 0
    try:
        yield
    finally:
        t.idle = None


def count_pass() -> None:
    t = trace()
    t.passes += 1
    if t.idle is not None and t.passes > LONG:
        t.decisions.keep(t.idle)


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

    def after(self, k: int) -> UnrolledPasses:
        return UnrolledPasses(self.seq, self.numbers[k:])


def run_items(
    items: Any, body: Callable[[Any], Any], frame: Any, stop: str | None, first: int = 0
) -> None:
    """Runs a loop as Python does; a data-dependent break makes the later passes conditional."""
    if isinstance(items, StagedList) and items.tail is not None:
        raise ChangedError  # by an earlier pass
    for k, item in enumerate(itertools.islice(items, first, None), first + 1):
        count_pass()
        body(item)
        if stop is None:
            continue
        flag = truth(getattr(frame, stop))
        if isinstance(flag, Symbol):
            if isinstance(items, Advancing):
                items, k = items.rest(), 0
            elif isinstance(items, UnrolledPasses):
                items, k = items.after(k), 0
            branch(flag, lambda: None, functools.partial(run_items, items, body, frame, stop, k))
            return
        if flag:
            return
