"""Allocates the arrays of a driver in machine code: PyArray_New, or the buffer that the pool gave
out last if the array is large.

out = empty(x.shape, np.float64)      the same as `memory.empty`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.backends.cpu.driver.argument_checks import ObjectParts
from tapeless.backends.cpu.driver.python_c_api import INT, NOTHING
from tapeless.backends.cpu.driver.sizes import SizeWriter
from tapeless.backends.cpu.llvm.ir.c_api_builder import OBJECT, WORD
from tapeless.backends.cpu.runtime import buffer_pool
from tapeless.backends.cpu.runtime import struct_offsets as offsets

WRITEABLE_C = offsets.IS_C | offsets.IS_ALIGNED | offsets.IS_WRITEABLE


class ArrayAllocator(SizeWriter):
    """`values` are what names of the module mean."""

    values: dict[str, Any]

    def empty(self, shape: tuple[Any, ...], cls: type) -> ObjectParts:
        b, dtype, place = self.builder, np.dtype(cls), self.place()
        for n in shape:
            self.require(b.icmp_signed(">=", n, WORD(0)))
        size = self.overflow_checked("smul", self.product(shape), WORD(dtype.itemsize))
        dims, rank, number = self.row(shape, WORD), INT(len(shape)), INT(dtype.num)
        no_strides = b.inttoptr(WORD(0), WORD.as_pointer())

        def array(data: Any, flags: int) -> Any:
            what = (self.constant(np.ndarray), rank, dims, number, no_strides, data)
            more = (INT(0), INT(flags), NOTHING)
            return self.own(self.api("tapeless_PyArray_New", OBJECT, *what, *more), place)

        def in_buffer() -> None:
            created = array(self.field(buffer, offsets.DATA, OBJECT), WRITEABLE_C)
            self.api("tapeless_PyArray_SetBaseObject", INT, created, self.new_reference(buffer))

        def by_python() -> None:
            items = [self.object(shape), self.constant(cls)]
            self.own(self.vectorcall(self.looked_up(self.values, "empty"), items), place)

        small = b.icmp_signed("<", size, WORD(buffer_pool.LARGE))
        buffer = self.last_buffer(size, small)
        self.if_else(
            small,
            lambda: array(NOTHING, 0),
            lambda: self.if_else(self.is_same_object(buffer, NOTHING), by_python, in_buffer),
        )
        return ObjectParts(b.load(place), shape=shape)

    def last_buffer(self, size: Any, small: Any) -> Any:
        """The buffer of the pool that was used last, if it is free and has this size."""
        b, pool, slot = self.builder, buffer_pool._pool, self.place()
        with b.if_then(b.not_(small)):
            free = self.call(self.constant(pool.lock.acquire), [self.constant(False)])
            with b.if_then(self.is_same_object(free, self.constant(True))):
                buffers = self.constant(pool.buffers)
                count = self.api("PyList_Size", WORD, buffers)
                with b.if_then(b.icmp_signed(">", count, WORD(0))):
                    last = b.sub(count, WORD(1))
                    buffer = self.api("PyList_GetItem", OBJECT, buffers, last)
                    alone = b.icmp_signed("==", self.field(buffer, 0, INT), INT(1))
                    length = b.load(self.field(buffer, offsets.SHAPE, WORD.as_pointer()))
                    with b.if_then(b.and_(alone, b.icmp_signed("==", length, size))):
                        b.store(self.new_reference(buffer), slot)
                self.call(self.constant(pool.lock.release), [])
        return b.load(slot)

    def if_else(self, test: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> None:
        """One of two things is done."""
        b, sides = self.builder, [self.function.append_basic_block() for _ in range(2)]
        after = self.function.append_basic_block()
        b.cbranch(test, *sides)
        for side, make in zip(sides, (then, orelse), strict=True):
            b.position_at_end(side)
            make()
            b.branch(after)
        b.position_at_end(after)

    def object(self, x: Any) -> Any:
        """A value as an object of Python's."""
        if isinstance(x, ObjectParts):
            return x.value
        if isinstance(x, tuple):
            return self.sequence("Tuple", [*map(self.object, x)])
        return self.python_int(x)
