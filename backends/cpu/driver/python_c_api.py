"""Calls CPython's C interface from machine code, and holds references to its objects.

Each object that is made is put to a place of its own; all of them are let go where the function
ends, however it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from tapeless.backends.cpu.llvm.ir.c_api_builder import OBJECT, WORD, CApiBuilder
from tapeless.backends.cpu.llvm.ir.ir_helpers import variable
from tapeless.backends.cpu.runtime import struct_offsets as offsets

INT = ir.IntType(32)
OBJECTS = OBJECT.as_pointer()
NOTHING = OBJECT(None)
Named = dict[str, Any]
TUPLE_ITEMS, LIST_ITEMS = tuple.__basicsize__, 24  # of a tuple: the first; of a list: where it is


class CApiFunction(CApiBuilder):
    """Writes a function of CPython's C interface. `constants` are the objects that it names: its
    `self` is a tuple of them.

    missed  what it returns for arguments that it does not take
    """

    def __init__(self, module: Any, symbol: str, missed: Any) -> None:
        super().__init__(module, symbol)
        self.constants: list[Any] = []
        self.held: list[Any] = []
        self.result = variable(self.builder, OBJECT)
        names = ("missed", "failed", "end")
        self.missed, self.failed, self.end = map(self.function.append_basic_block, names)
        with self.builder.goto_block(self.missed):
            self.give(self.constant(missed))
        with self.builder.goto_block(self.failed):
            self.builder.branch(self.end)  # without a result

    def close(self) -> None:
        """Writes how it ends, wherever it came from."""
        self.builder.position_at_end(self.end)
        for place in self.held:
            self.api("Py_DecRef", ir.VoidType(), self.builder.load(place))
        self.builder.ret(self.builder.load(self.result))

    # -- small parts

    def constant(self, x: Any) -> Any:
        """An object that is known when the function is written."""
        k = next((k for k, y in enumerate(self.constants) if y is x), len(self.constants))
        self.constants += [x] * (k == len(self.constants))
        return self.field(self.owner, TUPLE_ITEMS + 8 * k, OBJECT)

    def is_a(self, x: Any, kind: type) -> Any:
        return self.is_same_object(self.field(x, offsets.TYPE, OBJECT), self.constant(kind))

    def give(self, x: Any) -> None:
        """Returns an object."""
        self.api("Py_IncRef", ir.VoidType(), x)
        self.builder.store(x, self.result)
        self.builder.branch(self.end)

    # -- references

    def place(self) -> Any:
        """Where an object is kept until the end."""
        self.held.append(variable(self.builder, OBJECT))
        return self.held[-1]

    def own(self, x: Any, place: Any = None) -> Any:
        """An object that was made: it fails where there is none."""
        self.builder.store(x, self.place() if place is None else place)
        on = self.function.append_basic_block()
        self.builder.cbranch(self.is_same_object(x, NOTHING), self.failed, on)
        self.builder.position_at_end(on)
        return x

    def new_reference(self, x: Any) -> Any:
        """One more reference to an object, for what takes it away."""
        self.api("Py_IncRef", ir.VoidType(), x)
        return x

    # -- numbers

    def python_int(self, n: Any) -> Any:
        return self.own(self.api("PyLong_FromLongLong", OBJECT, n))

    def integer(self, x: Any) -> Any:
        """The value of an int; one of more than 64 bits is none of these arguments."""
        b = self.builder
        value = self.api("PyLong_AsLongLong", WORD, x)
        with b.if_then(b.icmp_signed("==", value, WORD(-1)), likely=False):
            error = self.api("PyErr_Occurred", OBJECT)
            with b.if_then(b.not_(self.is_same_object(error, NOTHING)), likely=False):
                self.api("PyErr_Clear", ir.VoidType())
                b.branch(self.missed)
        return value

    # -- containers and calls

    def row(self, items: Sequence[Any], kind: Any = OBJECT) -> Any:
        """The address of so many things in a row."""
        room = ir.ArrayType(kind, max(1, len(items)))
        place = self.builder.bitcast(variable(self.builder, room), kind.as_pointer())
        for k, x in enumerate(items):
            self.builder.store(x, self.builder.gep(place, [WORD(k)], inbounds=True))
        return place

    def vectorcall(self, function: Any, items: Sequence[Any], named: Named | None = None) -> Any:
        """What a callable returns, which is still to be owned."""
        names = self.constant(tuple(named)) if named else NOTHING
        row = self.row([*items, *(named or {}).values()])
        return self.api("PyObject_Vectorcall", OBJECT, function, row, WORD(len(items)), names)

    def call(self, function: Any, items: Sequence[Any]) -> Any:
        return self.own(self.vectorcall(function, items))

    def sequence(self, kind: str, items: Sequence[Any]) -> Any:
        """A Tuple or a List of objects."""
        container = self.own(self.api(f"Py{kind}_New", OBJECT, WORD(len(items))))
        for k, x in enumerate(items):
            self.api(f"Py{kind}_SetItem", INT, container, WORD(k), self.new_reference(x))
        return container

    def dictionary(self, items: Sequence[tuple[Any, Any]]) -> Any:
        dictionary = self.own(self.api("PyDict_New", OBJECT))
        for key, x in items:
            self.api("PyDict_SetItem", INT, dictionary, key, x)
        return dictionary

    def looked_up(self, names: dict[str, Any], name: str) -> Any:
        """What a name means in a module now; Python says if it means nothing."""
        value = self.api("PyDict_GetItem", OBJECT, self.constant(names), self.constant(name))
        self.require(self.builder.not_(self.is_same_object(value, NOTHING)))
        self.builder.store(self.new_reference(value), self.place())
        return value
