"""Reads and stores items of lists of arrays of one shape, where lists of their numbers stand for
them.

v = peek(s, k)      becomes      v = segment(numbers, k), from k * len(v) on
n = len(s)                       n = len(numbers) // len(v)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import var_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let, Statement, Type, Var
from tapeless.transforms.core.size_value import INT, size_value
from tapeless.transforms.lowering.lists.growing_rows import integer
from tapeless.transforms.lowering.lists.list_lengths import measured_length
from tapeless.transforms.lowering.sizes.size_equalities import comparison
from tapeless.transforms.ops.primitives.arithmetic import mul
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.new_arrays import new_stack, stack_length, zero_items
from tapeless.transforms.ops.primitives.shapes import copy, reshape
from tapeless.transforms.ops.primitives.slices_and_gathers import index
from tapeless.transforms.ops.primitives.stacks import (
    add_item,
    add_segment,
    peek,
    segment,
    set_item,
    set_segment,
    shift,
    to_array,
    unshift,
    unstack,
)
from tapeless.transforms.optimize.tables_to_arrays import key_of

ORIGINS = frozenset([new_stack, unstack, zero_items, copy])
ITEM_OPERATIONS = frozenset(
    [*ORIGINS, peek, set_item, add_item, shift, unshift, stack_length, to_array]
)


class ItemStatements:
    """What statements about lists of arrays become.

    measured  how many items lists have of which arrays are made, by the lengths of these
    arrays    those of lists that nothing changes any more
    """

    def __init__(self) -> None:
        self.arrays: dict[Atom, Var] = {}
        self.measured: dict[dims.Symbol, Size] = {}

    def statements(self, s: Let, *lists: Var) -> Iterator[Statement]:
        """The same with the lists of numbers that a statement reads and makes."""
        if s.op is copy:
            yield Let(lists[1:], copy, lists[:1], s.params, s.origin)
        elif s.op in (shift, unshift):
            yield from self.at_the_front(s, *lists)
        elif s.op in (set_item, add_item):
            yield from self.store(s, *lists)
        else:
            of_one = {
                unstack: self.numbers_of_rows,
                zero_items: self.zeros,
                stack_length: self.length,
                to_array: self.rows,
                peek: self.item,
            }
            yield from of_one[s.op](s, *lists)

    def numbers_of_rows(self, s: Let, after: Var) -> Iterator[Statement]:
        (x,) = s.args
        shape = (dims.product(x.type.shape),)
        flat = Var(Type(x.type.dtype, shape))
        yield Let((flat,), reshape, (x,), {"shape": shape}, s.origin)
        yield Let((after,), unstack, (flat,), {"weak": False}, s.origin)

    def zeros(self, s: Let, after: Var) -> Iterator[Statement]:
        (count,) = s.args
        length, before = integer(dims.product(s.params["shape"]))
        yield from before
        total = Var(INT)
        yield Let((total,), mul, (count, length), {}, s.origin)
        params = {"shape": (), "dtype": s.params["dtype"]}
        yield Let((after,), zero_items, (total,), params, s.origin)

    def length(self, s: Let, numbers: Var) -> Iterator[Statement]:
        return self.count(s.outs[0], s.args[0], numbers, s.origin)

    def count(self, count: Var, stack: Atom, numbers: Var, origin: Any) -> Iterator[Statement]:
        """How many items there are."""
        total = Var(INT)
        yield Let((total,), stack_length, (numbers,), {}, origin)
        size = var_size(total, 0) // dims.product(stack.type.item.shape)
        yield Let((count,), size_value, (), {"size": size}, origin)

    def array(self, stack: Var, numbers: Var, origin: Any) -> Iterator[Statement]:
        """The array of all items of a list, which reads nothing else from then on."""
        sides, count = stack.type.item.shape, Var(INT, "count")
        yield from self.count(count, stack, numbers, origin)
        size = var_size(count, 0)
        flat = Var(Type(stack.type.item.dtype, (size * dims.product(sides),)))
        yield Let((flat,), to_array, (numbers,), {"size": flat.type.shape[0]}, origin)
        rows = self.arrays[stack] = Var(Type(flat.type.dtype, (size, *sides)), stack.name)
        yield Let((rows,), reshape, (flat,), {"shape": rows.type.shape}, origin)

    def read(self, s: Let, rows: Var) -> Iterator[Statement]:
        """What a statement reads of a list, of which there is an array."""
        if s.op is stack_length:
            yield Let(s.outs, size_value, (), {"size": rows.type.shape[0]}, s.origin)
        elif s.op is to_array:
            self.measure(s, rows)
            yield Let(s.outs, identity, (rows,), {}, s.origin)
        else:
            at, places = key_of(s.args[1])
            key = {"key": (*at, *(slice(None),) * (rows.type.ndim - 1))}
            yield Let(s.outs, index, (rows, *places), key, s.origin)

    def measure(self, s: Let, rows: Var) -> None:
        symbol = measured_length(s)
        if symbol is not None:
            self.measured[symbol] = rows.type.shape[0]

    def rows(self, s: Let, numbers: Var) -> Iterator[Statement]:
        (stack,) = s.args
        assert isinstance(stack, Var)
        yield from self.array(stack, numbers, s.origin)
        rows = self.arrays.pop(stack)
        self.measure(s, rows)
        yield Let(s.outs, identity, (rows,), {}, s.origin)

    def item(self, s: Let, numbers: Var) -> Iterator[Statement]:
        stack, k = s.args
        params = {"shape": stack.type.item.shape, "error": "list index out of range"}
        yield Let(s.outs, segment, (numbers, k), params, s.origin)

    def store(self, s: Let, before: Var, after: Var) -> Iterator[Statement]:
        """An item is replaced, or added to."""
        stack, k, value = s.args[:3]
        shape = stack.type.item.shape
        yield from equal_lengths(value, shape, s)
        params = {"shape": shape, "error": "list assignment index out of range"}
        op = set_segment if s.op is set_item else add_segment
        yield Let((after,), op, (before, k, value), params, s.origin)

    def at_the_front(self, s: Let, before: Var, after: Var) -> Iterator[Statement]:
        """The first items go, or zeros come there."""
        length, statements = integer(dims.product(s.args[0].type.item.shape))
        yield from statements
        count = Var(INT)
        yield Let((count,), mul, (s.args[1], length), {}, s.origin)
        params = {**s.params, "shape": ()} if s.op is unshift else {}
        yield Let((after,), s.op, (before, count), params, s.origin)


def equal_lengths(value: Atom, shape: Sequence[Size], s: Let) -> Iterator[Statement]:
    """What raises where an array has another shape."""
    for n, m in zip(value.type.shape, shape, strict=True):
        if n != m:
            yield from comparison(n, m, s.origin)
