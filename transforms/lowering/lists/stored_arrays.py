"""Describes where arrays of changing lengths lie: at the begin of memory for the longest of them,
or, where nobody knows how long that is, in lists of their numbers.

v, of n elements, 8 at most      is      memory[:n], of 8
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom, var_size
from tapeless.transforms.core.dims import Size, Symbol
from tapeless.transforms.core.language import Atom, Let, StackType, Type, Var
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.sizes.size_equalities import single_symbol
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.new_arrays import empty, new_stack
from tapeless.transforms.ops.primitives.shapes import copy
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index, update
from tapeless.transforms.ops.primitives.stacks import extend, segment, to_array, truncate

Lengths = Mapping[Symbol, Atom]


@dataclass(frozen=True)
class StoredArray:
    """An array that loops or branches give other lengths, in memory for the longest.

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
        """A variable for the memory, with the name of a value that lies there."""
        shape = [
            self.most[self.where[axis]] if axis in self.where else n
            for axis, n in enumerate(self.type.shape)
        ]
        return Var(Type(self.type.dtype, tuple(shape)), _name(like))

    def allocate(self, memory: Var) -> Let:
        params = {"shape": memory.type.shape, "dtype": memory.type.dtype}
        return Let((memory,), empty, (), params, self.origin)

    def store(
        self, memory: Var, value: Atom, lengths: Lengths, before: Lengths | None
    ) -> tuple[Var, list[Let]]:
        """The memory with another array in it.

        lengths  of that array
        before   of the one that is there, if there is any
        """
        out = self.memory(memory)
        key, stops = self.key({}, lengths)
        return out, [Let((out,), update, (memory, value, *stops), {"key": key}, self.origin)]

    def append(
        self, memory: Var, value: Atom, lengths: Lengths, before: Lengths
    ) -> tuple[Var, list[Let]]:
        """The memory with more elements of the array that lies there."""
        out = self.memory(memory)
        key, stops = self.key(before, lengths)
        return out, [Let((out,), update, (memory, value, *stops), {"key": key}, self.origin)]

    def part(self, v: Var, memory: Atom, lengths: Lengths) -> Let:
        """The array that lies in the memory."""
        key, stops = self.key({}, lengths)
        return Let((v,), index, (memory, *stops), {"key": key}, self.origin)

    def result(self, v: Var, memory: Var, lengths: Lengths, is_kept: bool, top: bool) -> list[Let]:
        """The array that lies there in the end, in memory of its own if it is kept. `top` says
        whether this is so once in a call."""
        if v.type.shape == memory.type.shape:
            return [Let((v,), identity, (memory,), {}, self.origin)]
        if not is_kept:
            return [self.part(v, memory, lengths)]
        part = Var(v.type, v.name)
        return [self.part(part, memory, lengths), Let((v,), copy, (part,), {}, self.origin)]

    def key(self, starts: Lengths, stops: Lengths) -> tuple[tuple[slice, ...], list[Atom]]:
        """The part of the memory between some lengths, and the integers that it names."""
        named: list[Atom] = []

        def bound(lengths: Lengths, axis: int) -> Any:
            length = lengths.get(self.where[axis]) if axis in self.where else None
            if not isinstance(length, Var):
                return None if length is None else length.value
            named.append(length)
            return Slot(len(named) - 1)

        axes = range(self.type.ndim)
        return tuple(slice(bound(starts, k), bound(stops, k)) for k in axes), named


@dataclass(frozen=True)
class ListedArray:
    """An array that loops give other lengths, of which no bound is known, as the numbers of a list.

    type    of one of them
    where   its axes that change, and the lengths that they have
    origin  the user's line
    """

    type: Type
    where: Mapping[int, Symbol]
    origin: Any

    def memory(self, like: Atom) -> Var:
        """A variable for the list, with the name of a value that lies there."""
        return Var(StackType(Type(self.type.dtype)), _name(like))

    def allocate(self, memory: Var) -> Let:
        return Let((memory,), new_stack, (), {"item": memory.type.item}, self.origin)

    def store(
        self, memory: Var, value: Atom, lengths: Lengths, before: Lengths | None
    ) -> tuple[Var, list[Let]]:
        """The list with the numbers of another array.

        lengths  of that array
        before   of the one that is there, if there is any
        """
        lets: list[Let] = []
        if before is not None:
            emptied = self.memory(memory)
            count = {"count": dims.product(self.shape(before))}
            lets.append(Let((emptied,), truncate, (memory,), count, self.origin))
            memory = emptied
        out, more = self.append(memory, value, lengths, {})
        return out, [*lets, *more]

    def append(
        self, memory: Var, value: Atom, lengths: Lengths, before: Lengths
    ) -> tuple[Var, list[Let]]:
        """The list with more numbers of the array that lies there."""
        out = self.memory(memory)
        return out, [Let((out,), extend, (memory, value), {}, self.origin)]

    def part(self, v: Var, memory: Atom, lengths: Lengths) -> Let:
        """The array whose numbers the list has."""
        params = {"shape": self.shape(lengths), "error": None}
        return Let((v,), segment, (memory, atom(0)), params, self.origin)

    def result(self, v: Var, memory: Var, lengths: Lengths, is_kept: bool, top: bool) -> list[Let]:
        """The array that the list has in the end, in memory of its own if it is kept, or if other
        kernels may read it: they see no list."""
        if top and self.is_made_by_list(v):
            return [Let((v,), to_array, (memory,), {"size": v.type.shape[0]}, self.origin)]
        part = Var(v.type, v.name) if is_kept else v
        owned = [Let((v,), copy, (part,), {}, self.origin)] if is_kept else []
        return [self.part(part, memory, lengths), *owned]

    @staticmethod
    def is_made_by_list(v: Var) -> bool:
        """Whether an array can be made of the list as it is, and tells its length."""
        return v.type.ndim == 1 and single_symbol(v.type.shape[0]) is not None

    def shape(self, lengths: Lengths) -> tuple[Size, ...]:
        shape = list(self.type.shape)
        for axis, x in self.where.items():
            length = lengths[x]
            shape[axis] = var_size(length, 0) if isinstance(length, Var) else length.value
        return tuple(shape)


def _name(like: Atom) -> str:
    return like.name if isinstance(like, Var) else ""
