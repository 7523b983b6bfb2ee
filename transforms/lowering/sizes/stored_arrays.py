"""Describes arrays of changing lengths that lie at the begin of memory for the longest of them.

v, of n elements, 8 at most      is      memory[:n], of 8
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeless.transforms.core.dims import Size, Symbol
from tapeless.transforms.core.language import Atom, Let, Type, Var
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index, update

Lengths = Mapping[Symbol, Atom]


@dataclass(frozen=True)
class StoredArray:
    """An array that loops or branches give other lengths.

    type    of one of them
    where   its axes that change, and the lengths that they have
    most    the greatest value of each length
    origin  the user's line
    """

    type: Type
    where: Mapping[int, Symbol]
    most: Mapping[Symbol, Size]
    origin: Any

    def memory(self, like: Atom) -> Var:
        """The memory, with the name of a value that lies there."""
        shape = [
            self.most[self.where[axis]] if axis in self.where else n
            for axis, n in enumerate(self.type.shape)
        ]
        name = like.name if isinstance(like, Var) else ""
        return Var(Type(self.type.dtype, tuple(shape)), name)

    def allocate(self, memory: Var) -> Let:
        params = {"shape": memory.type.shape, "dtype": memory.type.dtype}
        return Let((memory,), empty, (), params, self.origin)

    def store(self, out: Var, memory: Var, value: Atom, lengths: Lengths) -> Let:
        """The memory with another array in it."""
        key, stops = self.key(lengths)
        return Let((out,), update, (memory, value, *stops), {"key": key}, self.origin)

    def part(self, v: Var, memory: Atom, lengths: Lengths) -> Let:
        """The array that lies in the memory."""
        key, stops = self.key(lengths)
        return Let((v,), index, (memory, *stops), {"key": key}, self.origin)

    def key(self, lengths: Lengths) -> tuple[tuple[slice, ...], list[Atom]]:
        """The part of the memory that has an array, and where it stops."""
        stops: list[Atom] = []
        key: list[slice] = []
        for axis in range(self.type.ndim):
            stop = lengths[self.where[axis]] if axis in self.where else None
            if isinstance(stop, Var):
                key.append(slice(None, Slot(len(stops))))
                stops.append(stop)
            else:
                key.append(slice(None, None if stop is None else stop.value))
        return tuple(key), stops
