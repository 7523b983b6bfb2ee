"""Finds which stores of a few survive, where places may repeat and the last store wins, by pairs.

kept = last_store(p)      becomes      kept = ~any(p[:, None] == p[None, :] and later, axis=1)

Derivatives of stores by index arrays ask for it. An array as large as the one that is stored to,
which the stores number, would be made and read in each pass of a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Var
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken
from tapeless.transforms.ops.numpy.reductions import any_
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    less,
    logical_and,
    logical_not,
)
from tapeless.transforms.ops.primitives.index_keys import Key, Slot
from tapeless.transforms.ops.primitives.new_arrays import count_up
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import broadcast_to, column, flatten, reshape, row
from tapeless.transforms.ops.primitives.slices_and_gathers import last_store

MOST = 1 << 10  # pairs that are compared


def surviving(
    small: Any, outs: tuple[Var, ...], *places: Atom, key: Key, shape: tuple[Size, ...]
) -> Any:
    """Whether each store survives. Those to all pairs of some rows and some columns do if neither
    the row nor the column comes again."""
    (out,) = outs
    if not small.target.library or not all(isinstance(e, (int, Slot)) for e in key):
        raise NotTaken
    by_axis: dict[int, list[tuple[Atom, Size]]] = {}
    for e, n in zip(key, shape, strict=False):
        place = places[e.k] if isinstance(e, Slot) else None
        for axis in _axes(place, out.type.ndim):
            by_axis.setdefault(axis, []).append((place, n))  # type: ignore[arg-type]
    flags = []
    for axis, pairs in by_axis.items():
        m = out.type.shape[axis]
        small.require_small(MOST, m * m)
        last = _is_last([_counted_from_front(flatten(place), n) for place, n in pairs], m)
        flags.append(reshape(last, shape=(m, *(1,) * (out.type.ndim - axis - 1))))
    if not flags:
        raise NotTaken
    return broadcast_to(reduce(logical_and, flags), shape=out.type.shape)


def _axes(place: Any, ndim: int) -> Iterator[int]:
    """The one axis of the result along which places differ; none of a number."""
    if place is None or not place.type.shape:
        return
    if place.type.dtype.kind == "b":
        raise NotTaken
    lead = ndim - place.type.ndim
    long = [lead + k for k, n in enumerate(place.type.shape) if n != 1]
    if len(long) != 1:
        raise NotTaken
    yield long[0]


def _counted_from_front(place: Any, n: Size) -> Any:
    """Places, of which those below zero are counted from the end, as such from the front."""
    return select(less(place, 0), add(place, atom_of_size(n)), place)


def _is_last(places: list[Any], m: Size) -> Any:
    """Whether no later element names the same places."""
    number = count_up(m)
    same = [equal(column(place), row(place)) for place in places]
    again = reduce(logical_and, [less(column(number), row(number)), *same])
    return logical_not(any_(again, axes=(1,), keepdims=False))


STORING = {last_store: surviving}
