"""Describes parts of arrays whose ends go on with the index of a loop, pass by pass.

for i in range(n): v = x[i + 1 :]      in the passes from `first` to `last`, v is in x[first + 1 :],
                                       and x[last + 1 :] is in v
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom_of_size, current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let, Type, Var
from tapeless.transforms.ops.primitives.index_keys import bound, is_advanced
from tapeless.transforms.ops.primitives.shapes import transpose
from tapeless.transforms.ops.primitives.slices_and_gathers import (
    FIRST_PLACE,
    Slot,
    add_at,
    index,
    update,
)

Certain = Callable[[Size], bool]


@dataclass(frozen=True)
class AxisRange:
    """The elements of an axis that a pass names: those from low on, up to high.

    is_place  whether an index names them: it is one element, and not an axis of the part
    """

    low: Size
    high: Size
    is_place: bool = False


@dataclass(frozen=True)
class ConsecutivePasses:
    """Some passes of a loop, one after the other.

    symbol  the index of the loop
    first   its value in the first pass
    later   how many passes come after the first one
    """

    symbol: dims.Symbol
    first: Size
    later: Size

    def slope(self, size: Size) -> int | None:
        """By how much a size grows from pass to pass; None if that is not always the same."""
        growth = self._value_at(size, dims.single(self.symbol) + 1) - size
        return growth if isinstance(growth, int) else None

    def minimum_of(self, size: Size) -> Size:
        """The least value of a size that grows evenly."""
        return self._value_at(
            size, self.first if (self.slope(size) or 0) >= 0 else self._last_index
        )

    def largest(self, size: Size) -> Size:
        """The largest value of a size that grows evenly."""
        return self._value_at(
            size, self._last_index if (self.slope(size) or 0) >= 0 else self.first
        )

    def union(self, axis: AxisRange) -> AxisRange:
        """What any of the passes names."""
        return replace(axis, low=self.minimum_of(axis.low), high=self.largest(axis.high))

    def common(self, axis: AxisRange) -> AxisRange:
        """What each of the passes names."""
        return replace(axis, low=self.largest(axis.low), high=self.minimum_of(axis.high))

    def partial(self, axis: AxisRange) -> AxisRange:
        """What some of the passes name and others do not, of an axis with one end that grows; an
        axis that stays as it is."""
        ends = [end for end in (axis.low, axis.high) if self.slope(end)]
        if not ends:
            return axis
        return replace(axis, low=self.minimum_of(ends[0]), high=self.largest(ends[0]))

    @property
    def _last_index(self) -> Size:
        return self.first + self.later

    def _value_at(self, size: Size, value: Size) -> Size:
        return dims.substitute(size, lambda x: value if x is self.symbol else None)


@dataclass(frozen=True)
class ArrayPart:
    """A part of an array that a pass reads, or the whole of it.

    array   its axes are in the order of `axes`
    turned  whether the part is read as its transpose
    """

    array: Atom
    axes: tuple[AxisRange, ...]
    turned: bool = False

    @property
    def order(self) -> list[int]:
        """The axes of the array that are axes of the part, in the order of the part."""
        kept = [k for k, axis in enumerate(self.axes) if not axis.is_place]
        return kept[::-1] if self.turned else kept

    def with_axis(self, k: int, axis: AxisRange) -> ArrayPart:
        """The part with other elements of an axis."""
        return replace(self, axes=(*self.axes[:k], axis, *self.axes[k + 1 :]))

    def read(self, array: Atom, order: list[int]) -> Atom:
        """What is in the part, recorded in the open block.

        array  what is in the array now
        order  the axes of the array in the order of the result
        """
        key, rest = self.key(array)
        kept = [k for k, axis in enumerate(self.axes) if not axis.is_place]
        shape = tuple(self.axes[k].high - self.axes[k].low for k in kept)
        if all(e == slice(None) for e in key):
            part = array
        else:
            part = Var(Type(array.type.dtype, shape))
            current().let((part,), index, (array, *rest), {"key": key})
        return part if order == kept else transpose(part, axes=(1, 0))

    def add_to(self, array: Atom, value: Atom) -> Atom:
        """The array after something is added to the part, recorded in the open block."""
        key, rest = self.key(array)
        return add_at(array, value, *rest, key=key)  # type: ignore[no-any-return]

    def store_to(self, array: Atom, value: Atom) -> Atom:
        """The array after something is stored into the part, recorded in the open block."""
        key, rest = self.key(array)
        return update(array, value, *rest, key=key)  # type: ignore[no-any-return]

    def key(self, array: Atom) -> tuple[tuple[Any, ...], list[Atom]]:
        """The key of the part, and what it refers to."""
        rest: list[Atom] = []
        pairs = zip(self.axes, array.type.shape, strict=True)
        return tuple(_entry(axis, n, rest) for axis, n in pairs), rest


def _entry(axis: AxisRange, n: Size, rest: list[Atom]) -> Any:
    """The entry of a key that names elements of an axis of length n; what it refers to is added to
    `rest`."""
    if axis.is_place:
        return _bound(axis.low, rest)
    low = None if axis.low == 0 else _bound(axis.low, rest)
    high = None if axis.high == n else _bound(axis.high, rest)
    return slice(low, high)


def _bound(size: Size, rest: list[Atom]) -> Any:
    if isinstance(size, int):
        return size
    rest.append(atom_of_size(size))
    return Slot(len(rest) - 1)


def part_of(s: Let, is_certain: Certain) -> ArrayPart | None:
    """The part that a statement reads or stores; None where its ends may count from the end, or it
    leaves elements out.

    is_certain  says whether a size is not negative
    """
    array, rest = s.args[0], s.args[FIRST_PLACE[s.op] :]
    key = (*s.params["key"], *[slice(None)] * (array.type.ndim - len(s.params["key"])))
    if is_advanced(key, rest) or None in key or len(key) != array.type.ndim:
        return None
    lengths = list(s.outs[0].type.shape) if s.op is index else None
    axes: list[AxisRange] = []
    for e, n in zip(key, array.type.shape, strict=True):
        axis = _axis(e, n, rest)
        if axis is None or not is_certain(axis.low):
            return None
        if not axis.is_place:
            if lengths is not None:
                axis = replace(axis, high=axis.low + lengths.pop(0))
            elif not is_certain(axis.high):
                axis = replace(axis, high=n)
        axes.append(axis)
    return ArrayPart(array, tuple(axes))


def _axis(e: Any, n: Size, rest: tuple[Atom, ...]) -> AxisRange | None:
    """What an entry of a key names of an axis of length n."""
    if not isinstance(e, slice):
        place = bound(e, rest)
        return AxisRange(place, place + 1, is_place=True)
    if e.step not in (None, 1):
        return None
    low, high = (bound(b, rest) for b in (e.start, e.stop))
    return AxisRange(0 if low is None else low, n if high is None else high)


def whole_array(array: Atom) -> ArrayPart:
    """All of an array."""
    return ArrayPart(array, tuple(AxisRange(0, n) for n in array.type.shape))


def are_apart(a: ArrayPart, b: ArrayPart, is_certain: Certain) -> bool:
    """Whether two parts of one array have no element in common."""
    pairs = zip(a.axes, b.axes, strict=True)
    return any(is_certain(q.low - p.high) or is_certain(p.low - q.high) for p, q in pairs)
