"""Makes lists of arrays, which loops fill or empty, arrays with a row for each item.

us = [u]; for t in range(n): us.append(2 * us[-1])
    becomes      us = empty((n + 1, len(u))); us[0] = u; for t in range(n): us[t + 1] = 2 * us[t]

How long a list is at each point follows from the passes that loops have made. Items that are read
have to be there in any case: then no test is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Statement,
    Type,
    Var,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.value_replacement import ValueReplacer
from tapeless.transforms.lowering.lists.lengths_in_loops import ListLengths
from tapeless.transforms.lowering.lists.list_lengths import measured_length, with_sizes
from tapeless.transforms.lowering.lists.lists_of_arrays import ORIGINS, ListsOfArrays
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.new_arrays import (
    empty,
    new_stack,
    stack_length,
    zeros,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, add_at, index, update
from tapeless.transforms.ops.primitives.stacks import (
    POPS,
    add_item,
    peek,
    push,
    to_array,
    unstack,
)


def rows_of_lists(block: Block) -> Block:
    """The block with arrays in the place of such lists."""
    lists = ListsOfArrays(block)
    if not lists.values:
        return block
    lengths = ListLengths(block, lists)
    shapes = {root: shape for root in lists.fitting() if (shape := lengths.shape(root)) is not None}
    if not shapes:
        lengths.forget()
        return block
    rows = GrowingRowsRewriter(lists, lengths, shapes)
    return with_sizes(rows.block(block), rows.measured)


class GrowingRowsRewriter(ValueReplacer):
    """Writes the program again, with an array for each value of the lists that have a shape."""

    def __init__(self, lists: ListsOfArrays, lengths: ListLengths, shapes: dict[Any, Any]) -> None:
        self.lists, self.lengths, self.shapes = lists, lengths, shapes
        self.arrays: dict[Var, Var] = {}
        self.measured: dict[dims.Symbol, Size] = {}  # lengths of arrays of these lists

    def array(self, a: Any) -> Any:
        shape = self.shapes.get(self.lists.group_of(a)) if isinstance(a, Var) else None
        if shape is None:
            return a
        if a not in self.arrays:
            self.arrays[a] = Var(Type(a.type.item.dtype, shape), a.name)
        return self.arrays[a]

    def values_for(self, a: Var) -> tuple[Any, ...]:
        return (self.array(a),)

    def let(self, s: Let) -> Iterator[Statement]:
        stack = s.outs[0] if s.op in ORIGINS else s.args[0] if s.args else None
        array = self.array(stack)
        if array is stack:
            yield s
        elif s.op is unstack:
            yield Let((array,), identity, s.args, {}, s.origin)
        elif s.op in ORIGINS:
            params = {"shape": array.type.shape, "dtype": array.type.dtype}
            yield Let((array,), empty if s.op is new_stack else zeros, (), params, s.origin)
        elif s.op is to_array:
            yield from self.rows_as_array(s, array)
        elif s.op is stack_length:
            yield Let(s.outs, size_value, (), {"size": self.lengths.lengths[s.args[0]]}, s.origin)  # type: ignore[index]
        else:
            yield from self.item(s, array)

    def rows_as_array(self, s: Let, array: Var) -> Iterator[Statement]:
        """The rows that a list has, as an array."""
        length = self.lengths.lengths[s.args[0]]  # type: ignore[index]
        symbol = measured_length(s)
        if symbol is not None:
            self.measured[symbol] = length
        if length == array.type.shape[0]:
            yield Let(s.outs, identity, (array,), {}, s.origin)
            return
        stop, before = integer(length)
        yield from before
        yield Let(s.outs, index, (array, stop), {"key": (slice(None, Slot(0)),)}, s.origin)

    def item(self, s: Let, array: Var) -> Iterator[Statement]:
        """A statement about one row of the array."""
        at, before = integer(self.lengths.places[s])
        yield from before
        key = {"key": (Slot(0), *(slice(None),) * (array.type.ndim - 1))}
        if s.op in POPS:
            self.arrays[s.outs[0]] = array
        if s.op is peek or s.op in POPS:
            yield Let(s.outs[-1:], index, (array, at), key, s.origin)
            return
        value = s.args[1] if s.op is push else s.args[2]
        store = add_at if s.op is add_item else update
        yield Let((self.array(s.outs[0]),), store, (array, value, at), key, s.origin)


def integer(size: Size) -> tuple[Atom, list[Let]]:
    """The value of a size, and the statement that computes it."""
    if isinstance(size, int):
        return atom(size), []
    value = Var(size_value.infer(size=size))
    return value, [Let((value,), size_value, (), {"size": size})]
