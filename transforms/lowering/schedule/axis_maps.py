"""Along which axes of a nest a value is read, views resolved.

y = x.T; z = y[1:], read at (i, j)      becomes      x, read at (j, i from 1 on)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeless.transforms.core.language import Var
from tapeless.transforms.lowering.schedule.dependences import Dependences
from tapeless.transforms.lowering.schedule.loop_nests import Axes
from tapeless.transforms.lowering.schedule.view_indices import Entry, Span, entries_of
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot


def steps(memory: Dependences, a: Any, axes: Axes) -> Iterator[tuple[Var, Axes]]:
    """What is read where `a` is read at `axes`: itself, and what it is a view of."""
    while isinstance(a, Var):
        yield a, axes
        s = memory.view(a)
        if s is None:
            return
        entries = entries_of(s)
        assert entries is not None
        axes = tuple(along(e, axes, s.args[1:]) for e in entries)
        a = s.args[0]


def through(memory: Dependences, a: Any, axes: Axes, v: Any) -> list[tuple[Any, ...]]:
    """The axes at which `a`, read at `axes`, reads `v`; nothing if it does not."""
    for x, at in steps(memory, a, axes):
        if x is v or memory.cell(x) is v:
            return [tuple(at)]
    return []


def along(e: Entry, axes: Axes, rest: tuple[Any, ...]) -> Any:
    """The axis of the space that an entry runs along, element by element; with the start and step
    where it does not run from the first."""
    if isinstance(e, Span) and e.axis is not None:
        at = axes[e.axis]
        if e.whole or not isinstance(at, int):
            return at if e.whole else None
        start = rest[e.start.k] if isinstance(e.start, Slot) else e.start
        return (at, start, e.step)
    return None
