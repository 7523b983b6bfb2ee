"""Computes views as arithmetic on indices: nothing is moved, the base is read elsewhere.

y = x.T; z = y[1:]; z[i, j]      becomes      x[j, i + 1]
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let, Type
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.sizes import size_equalities
from tapeless.transforms.ops.primitives import identities, shapes, slices_and_gathers
from tapeless.transforms.ops.primitives.slices_and_gathers import Key, Slot, index

VIEWS = frozenset(
    [
        index,
        shapes.transpose,
        shapes.reshape,
        shapes.broadcast_to,
        identities.identity,
        identities.again,
        size_equalities.fitted,
    ]
)


@dataclass(frozen=True)
class ViewSpan:
    """An axis of the result runs along an axis of the base, from `start` by `step`."""

    axis: int | None  # of the result; None: its only element
    start: Any = 0  # int, Slot, or None at the end that the step starts from
    step: int = 1
    stop: Any = None  # as the slice says it

    @property
    def is_whole(self) -> bool:
        """Whether it starts with the first element; where it stops, its length says."""
        return self.start == 0 and self.step == 1


@dataclass(frozen=True)
class Place:
    """One element of an axis of the base: an integer, or the value of a slot at these axes."""

    at: int | Slot
    axes: tuple[int | None, ...] = ()


Entry = ViewSpan | Place


def is_view(s: Let) -> bool:
    """Whether the result is a part or another order of the argument, and not a single number."""
    if s.op not in VIEWS or not isinstance(s.outs[0].type, Type):
        return False
    if not s.outs[0].type.shape and s.op is index:
        return False
    return entries_of(s) is not None


def entries_of(s: Let, clipped: bool = False) -> tuple[Entry, ...] | None:
    """For each axis of the base, which element of it belongs to an element of the result; None
    where that is not so simple. `clipped`: slices may count down from a given place, which is the
    last one where the axis is shorter."""
    have, out = s.args[0].type.shape, s.outs[0].type.shape
    match s.op:
        case identities.identity | identities.again | size_equalities.fitted:
            return tuple(ViewSpan(k) for k in range(len(out)))
        case shapes.transpose:
            axes = s.params["axes"]
            return tuple(ViewSpan(axes.index(k)) for k in range(len(axes)))
        case shapes.broadcast_to:
            lead = len(out) - len(have)
            return tuple(
                ViewSpan(None if n == 1 and out[k + lead] != 1 else k + lead)
                for k, n in enumerate(have)
            )
        case shapes.reshape:
            return _changes_unit_axes_only(have, out)
        case slices_and_gathers.index:
            entries: tuple[Entry, ...] | None = key_entries(
                s.params["key"], s.args[1:], have, clipped
            )
            return entries
    return None


def _changes_unit_axes_only(
    have: tuple[Size, ...], out: tuple[Size, ...]
) -> tuple[Entry, ...] | None:
    """Only axes of length one come and go."""
    long = [k for k, n in enumerate(out) if n != 1]
    if [out[k] for k in long] != [n for n in have if n != 1]:
        return None
    remaining = iter(long)
    return tuple(ViewSpan(None if n == 1 else next(remaining)) for n in have)


def key_entries(
    key: Key, rest: tuple[Atom, ...], shape: tuple[Size, ...], clipped: bool = False
) -> Any:
    """The entries of x[key]; None for masks, and where NumPy moves the axes of index arrays."""
    slots = [rest[e.k].type for e in key if isinstance(e, Slot)]
    if any(t.dtype.kind == "b" for t in slots):
        return None
    block = max((t.ndim for t in slots), default=0)
    places = [k for k, e in enumerate(key) if isinstance(e, (int, Slot))]
    if block and places != list(range(places[0], places[0] + len(places))):
        return None
    entries: list[Entry] = []
    axis = 0
    for position, e in enumerate((*key, *_missing(key, shape))):
        if block and position == places[0]:
            first, axis = axis, axis + block
        if isinstance(e, slice):
            span = _span(e, axis, clipped)
            if span is None:
                return None
            entries.append(span)
        elif e is not None:
            have = rest[e.k].type.shape if isinstance(e, Slot) else ()
            lead = first + block - len(have) if block else 0
            axes = tuple(None if n == 1 else lead + k for k, n in enumerate(have))
            entries.append(Place(e, axes))
        axis += isinstance(e, slice) or e is None
    return tuple(entries)


def _missing(key: Key, shape: tuple[Size, ...]) -> tuple[slice, ...]:
    return (slice(None),) * (len(shape) - sum(e is not None for e in key))


def _span(s: slice, axis: int, clipped: bool) -> ViewSpan | None:
    step = 1 if s.step is None else s.step
    if not isinstance(step, int) or step == 0:
        return None
    start = s.start if s.start is not None or step < 0 else 0
    if isinstance(start, int) and step < 0 and not clipped:
        return None
    return ViewSpan(axis, start, step, s.stop)
