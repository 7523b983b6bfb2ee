"""Batches reads of arrays by a key: of batched arrays, and by batched indices.

x[i], x and i batched      becomes      x[np.arange(n), i]
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.builder import broadcast
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.primitives.index_keys import Key, Slot, advanced_place, is_advanced
from tapeless.transforms.ops.primitives.new_arrays import count_up
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    batch_first,
    front,
    inverse,
    move,
    reshape,
    transpose,
)


@dataclass(frozen=True)
class BatchedPart:
    """A part of a batched array, and how it lies.

    x      the array that the key belongs to
    place  the axis of the part that runs over the batch
    order  its axes in the order (batch, axes of the part of an element), if they need one
    """

    x: Atom
    key: Key
    rest: Atoms
    place: int
    order: tuple[int, ...] | None = None

    def place_batch_axis(self, part: Atom) -> tuple[Any, int]:
        """A part that was read, with its batch axis."""
        if self.order is None:
            return part, self.place
        return transpose(part, axes=self.order), 0

    def fit_value(self, value: Atom, axis: int | None, ndim: int) -> Any:
        """A value to store, so that it broadcasts against the part; its elements against `ndim`
        axes."""
        value = _without_lead(value, axis, ndim)
        if axis is None and self.order is None and value.type.ndim <= ndim - self.place:
            return value
        if axis is None:
            value = reshape(value, shape=(1, *value.type.shape))
        value = batch_first(value, 0, ndim)
        if self.order is not None:
            return transpose(value, axes=inverse(self.order))
        return move(value, (0,), (self.place,))


def _without_lead(value: Atom, axis: int | None, ndim: int) -> Any:
    """Without axes of length one in front that NumPy ignores in stores."""
    value = front(value, axis)
    batch = value.type.shape[:1] if axis is not None else ()
    shape = value.type.shape[len(batch) :]
    extra = len(shape) - ndim
    return reshape(value, shape=(*batch, *shape[extra:])) if extra > 0 else value


def batched_part(x: Atom, axis: int | None, key: Key, rest: Atoms, axes: Any) -> BatchedPart | None:
    """The part that a key names of each element; None where no key can say it."""
    if all(k is None for k in axes):
        assert axis is not None
        advanced = is_advanced(key, rest)
        return (
            _batch_of_index_arrays(front(x, axis), key, rest)
            if advanced
            else _batch_of_slices(x, axis, key, rest)
        )
    if any(a.type.dtype.kind == "b" for a in rest):
        return None
    return _batch_of_batched_indices(x, axis, key, rest, axes)


def _batch_of_slices(x: Atom, axis: int, key: Key, rest: Atoms) -> BatchedPart:
    """Of integers and slices: the batch axis is one more slice."""
    entries: list[Any] = []
    taken, place = 0, 0
    for e in (*key, *(slice(None),) * x.type.ndim):
        if taken == axis:
            break
        entries.append(e)
        taken += e is not None
        place += e is None or isinstance(e, slice)
    return BatchedPart(x, (*entries, slice(None), *key[len(entries) :]), rest, place)


def _batch_of_index_arrays(x: Atom, key: Key, rest: Atoms) -> BatchedPart:
    """Of index arrays, whose axes come first if they do not stand together."""
    wide = (slice(None), *key)
    inner = broadcast(*(_shape(e, rest) for e in key if isinstance(e, Slot)))
    return BatchedPart(x, wide, rest, 0 if advanced_place(wide) else len(inner))


def _shape(e: Slot, rest: Atoms) -> tuple[Size, ...]:
    """The shape that an entry brings to those of the index arrays; a mask brings one axis."""
    t = rest[e.k].type
    return (0,) if t.dtype.kind == "b" and t.shape else t.shape


def slices_vary(key: Key, axes: Any) -> bool:
    """Whether a bound of a slice depends on the element of the batch."""
    bounds = [b for e in key if isinstance(e, slice) for b in (e.start, e.stop, e.step)]
    return any(isinstance(b, Slot) and axes[b.k] is not None for b in bounds)


def _batch_of_batched_indices(
    x: Atom, axis: int | None, key: Key, rest: Atoms, axes: Any
) -> BatchedPart:
    """With batched indices: a batched array takes the number of the element as one more index."""
    ranks = [a.type.ndim - (k is not None) for a, k in zip(rest, axes, strict=True)]
    used = [e for e in key if isinstance(e, Slot)]
    ndim = max(ranks[e.k] for e in used)
    before = advanced_place(key)
    indices = [a if k is None else batch_first(a, k, ndim) for a, k in zip(rest, axes, strict=True)]
    if axis is not None:
        x = front(x, axis)
        numbers = batch_first(count_up(x.type.shape[0]), 0, ndim)
        key = (Slot(len(indices), once=True), *key)
        indices.append(numbers)
    after = advanced_place(key)
    if not ndim or before == after:
        return BatchedPart(x, key, tuple(indices), after)
    others = _count_others(x, key)
    inner = [k if k < after else k + 1 + ndim for k in range(others)]
    index_axes = range(after + 1, after + 1 + ndim)
    return BatchedPart(
        x, key, tuple(indices), 0, (after, *inner[:before], *index_axes, *inner[before:])
    )


def _count_others(x: Atom, key: Key) -> int:
    """How many axes of the part no index array makes."""
    taken = sum(e is not None for e in key)
    return sum(e is None or isinstance(e, slice) for e in key) + x.type.ndim - taken  # type: ignore[no-any-return]
