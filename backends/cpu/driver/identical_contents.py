"""Tests in machine code whether nested containers hold the very objects that they held before.

    {"a": [x, y]}      dict of 1? key "a"? a list of 2? x? y?

A container is written down as a row of numbers: its type, its length and its items, each as an
address (for a dict after the address of its key), or 0 and another such row. The code reads the row
beside the container. It compares addresses only, so it says nothing about objects that are others.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from tapeless.backends.cpu.driver.python_c_api import INT, LIST_ITEMS, OBJECTS, TUPLE_ITEMS
from tapeless.backends.cpu.llvm.ir.c_api_builder import OBJECT, WORD
from tapeless.backends.cpu.llvm.ir.ir_helpers import declare, for_range, variable
from tapeless.backends.cpu.runtime import linking
from tapeless.backends.cpu.runtime import struct_offsets as offsets
from tapeless.backends.fork_safe_locks import COMPILING

KINDS = (list, tuple, dict)
SYMBOL = "tapeless_identical"
BOOL = ir.IntType(1)
ROW = WORD.as_pointer()


def test_of(container: Any) -> Callable[[Any], bool] | None:
    """A builtin function: whether another container is like this one, as it is now; None if it is
    no list, tuple or dict.

    >>> held = {"a": [1.5, "text"]}
    >>> same = test_of(held)
    >>> same(held), same({"a": held["a"]}), same({"a": [1.5, "other"]})
    (True, True, False)
    """
    if type(container) not in KINDS:
        return None
    objects: list[Any] = []
    row = np.array([*_row(container, objects)], np.int64)
    address = int(row.__array_interface__["data"][0])
    owner = (address, row, objects)  # which keeps all of them alive
    return linking.builtin(_code(), "same_contents", owner)


def _row(container: Any, objects: list[Any]) -> Iterator[int]:
    """What is written down of a container; `objects` gets those that it holds."""
    yield id(type(container))
    yield len(container)
    pairs = container.items() if type(container) is dict else ((None, x) for x in container)
    for key, x in pairs:
        objects += [key, x]
        if type(container) is dict:
            yield id(key)
        if type(x) in KINDS:
            yield 0
            yield from _row(x, objects)
        else:
            yield id(x)


@functools.cache
def _code() -> int:
    """The address of the code, which is the same for all containers."""
    with COMPILING:
        linking.introduce()
        module = ir.Module(SYMBOL, context=ir.Context())
        module.triple = llvm.get_process_triple()
        _entry(module, _Comparison(module).function)
        parsed = llvm.parse_assembly(str(module))
        machine = llvm.Target.from_default_triple().create_target_machine(
            opt=1, reloc="static", codemodel="jitdefault", jit=True
        )
        names = ("PyLong_AsLongLong", "PyBool_FromLong", "PyDict_Size", "PyDict_Next")
        return linking.link(machine.emit_object(parsed), names)(SYMBOL)


def _entry(module: Any, walk: Any) -> None:
    """The function of CPython's C interface: its `self` is a tuple that begins with the address of
    the row, its argument the container."""
    function = ir.Function(module, ir.FunctionType(OBJECT, [OBJECT, OBJECTS, WORD]), SYMBOL)
    b = ir.IRBuilder(function.append_basic_block("entry"))
    owner, args, _ = function.args
    number = _field(b, owner, TUPLE_ITEMS, OBJECT)
    address = b.call(
        declare(module, "PyLong_AsLongLong", ir.FunctionType(WORD, [OBJECT])), [number]
    )
    place = variable(b, ROW)
    b.store(b.inttoptr(address, ROW), place)
    same = b.zext(b.call(walk, [b.load(args), place]), WORD)
    b.ret(b.call(declare(module, "PyBool_FromLong", ir.FunctionType(OBJECT, [WORD])), [same]))


def _field(b: Any, x: Any, offset: int, kind: Any) -> Any:
    """What a structure holds at an offset."""
    return b.load(b.bitcast(b.gep(x, [WORD(offset)], inbounds=True), kind.as_pointer()))


class _Comparison:
    """Writes a function: whether a container is like the row at `place`, which it moves on."""

    def __init__(self, module: Any) -> None:
        self.module = module
        kind = ir.FunctionType(BOOL, [OBJECT, ROW.as_pointer()])
        self.function = ir.Function(module, kind, SYMBOL + "_walk")
        self.function.linkage = "internal"
        self.builder = b = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.container, self.place = self.function.args
        self.other = self.function.append_basic_block("other")
        ir.IRBuilder(self.other).ret(BOOL(0))
        kind_of = self.read()
        self.require(_field(b, self.container, offsets.TYPE, WORD), kind_of)
        count = self.read()
        for container, items in ((dict, self.dict_items), (list, self.list_items)):
            with b.if_then(b.icmp_unsigned("==", kind_of, WORD(id(container)))):
                items(count)
                b.ret(BOOL(1))
        self.tuple_items(count)
        b.ret(BOOL(1))

    def read(self) -> Any:
        """The next number of the row."""
        b = self.builder
        here = b.load(self.place)
        b.store(b.gep(here, [WORD(1)], inbounds=True), self.place)
        return b.load(here)

    def require(self, x: Any, y: Any) -> None:
        on = self.function.append_basic_block()
        self.builder.cbranch(self.builder.icmp_unsigned("==", x, y), on, self.other)
        self.builder.position_at_end(on)

    def item(self, x: Any) -> None:
        """Compares an item: an object, or a container."""
        b = self.builder
        address = self.read()
        with b.if_else(b.icmp_unsigned("==", address, WORD(0))) as (nested, plain):
            with nested:
                same = b.call(self.function, [x, self.place])
                self.require(same, BOOL(1))
            with plain:
                self.require(b.ptrtoint(x, WORD), address)

    def dict_items(self, count: Any) -> None:
        b = self.builder
        size = declare(self.module, "PyDict_Size", ir.FunctionType(WORD, [OBJECT]))
        step = [OBJECT, ROW, OBJECTS, OBJECTS]
        following = declare(self.module, "PyDict_Next", ir.FunctionType(INT, step))
        self.require(b.call(size, [self.container]), count)
        position, key, value = variable(b, WORD), variable(b, OBJECT), variable(b, OBJECT)
        with for_range(b, count):
            b.call(following, [self.container, position, key, value])
            self.require(b.ptrtoint(b.load(key), WORD), self.read())
            self.item(b.load(value))

    def list_items(self, count: Any) -> None:
        self.require(_field(self.builder, self.container, offsets.VALUE, WORD), count)
        self.items(_field(self.builder, self.container, LIST_ITEMS, OBJECTS), count)

    def tuple_items(self, count: Any) -> None:
        self.require(_field(self.builder, self.container, offsets.VALUE, WORD), count)
        first = self.builder.gep(self.container, [WORD(TUPLE_ITEMS)], inbounds=True)
        self.items(self.builder.bitcast(first, OBJECTS), count)

    def items(self, row: Any, count: Any) -> None:
        with for_range(self.builder, count) as k:
            self.item(self.builder.load(self.builder.gep(row, [k], inbounds=True)))
