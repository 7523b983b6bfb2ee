"""Finds the axes of a nest along which a value is read, through its views.

y = x.T; z = y[1:], read at (i, j)      becomes      x, read at (j, i from 1 on)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeless.transforms.core.language import Let, Literal, Var
from tapeless.transforms.lowering.schedule.dependences import Dependences
from tapeless.transforms.lowering.schedule.loop_nests import Axes
from tapeless.transforms.lowering.schedule.view_indices import Entry, Place, ViewSpan, entries_of
from tapeless.transforms.ops.primitives.new_arrays import arange
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
        axes = tuple(axis_of_entry(e, axes, s.args[1:], memory) for e in entries)
        a = s.args[0]


def counts_up(a: Any, memory: Dependences) -> bool:
    """Whether an array holds 0, 1, 2, ...: an index of rows, as in x[np.arange(n), labels]."""
    s = memory.defs.get(a) if isinstance(a, Var) else None
    if not isinstance(s, Let) or s.op is not arange:
        return False
    start, _, step = s.args
    return start == Literal(0, start.type) and step == Literal(1, step.type)


def axes_through_views(memory: Dependences, a: Any, axes: Axes, v: Any) -> list[tuple[Any, ...]]:
    """The axes at which `a`, read at `axes`, reads `v`; nothing if it does not."""
    for x, at in steps(memory, a, axes):
        if x is v or memory.cell(x) is v:
            return [tuple(at)]
    return []


def axis_of_entry(e: Entry, axes: Axes, rest: tuple[Any, ...], memory: Dependences) -> Any:
    """The axis of the space that an entry runs along, element by element; with the start and step
    where it does not run from the first. None for what is not read along axes, as an index that
    the key of a store does not name."""
    if isinstance(e, Place) and isinstance(e.at, Slot) and counts_up(rest[e.at.k], memory):
        (k,) = e.axes
        at = axes[k] if k is not None and k < len(axes) else None
        return at if isinstance(at, int) else None
    if isinstance(e, ViewSpan) and e.axis is not None and e.axis < len(axes):
        at = axes[e.axis]
        if e.is_whole or not isinstance(at, int):
            return at if e.is_whole else None
        start = rest[e.start.k] if isinstance(e.start, Slot) else e.start
        return (at, start, e.step)
    return None
