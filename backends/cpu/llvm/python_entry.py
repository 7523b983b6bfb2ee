"""Writes the entry of a kernel: a function of CPython's C interface that checks and unpacks
arguments.

It reads arrays and numbers where their public structures keep them (`ndarrayobject.h` of NumPy,
`floatobject.h` of Python), so that a call costs some ten nanoseconds an argument and a process that
finds the kernel in the cache needs no Numba. Arguments of another signature go to `self`, a Python
callable; so does the address of an error's description, by the method `fail`.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np
from llvmlite import ir

from tapeless.backends.cpu.llvm.ir.c_api_builder import BYTE, OBJECT, CApiBuilder
from tapeless.backends.cpu.llvm.ir.values import register
from tapeless.backends.cpu.runtime import random_functions
from tapeless.backends.cpu.runtime import struct_offsets as offsets
from tapeless.backends.cpu.runtime.signature import (
    TWINS,
    Argument,
    ArrayType,
    CallForm,
    GeneratorType,
    NumberType,
    Signature,
)
from tapeless.transforms.dataclass import dataclass

INT, LONG, DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()
SWAPPED = ord(">" if sys.byteorder == "little" else "<")
FIRST_ROW, PLACES = NumberType(int, place=True), (1 << 62) - 1
FEW = 4  # arrays that are checked in the text of an entry
IS_ARRAY = "is_array"
LONG_ENOUGH = 2048  # numbers in arrays from which other threads may run meanwhile


def is_count(want: Argument) -> bool:
    """Whether an argument is an integer of Python, and no place of a row."""
    return isinstance(want, NumberType) and want.kind is int and not want.place


class NoEntryError(Exception):
    """A kernel that only Numba itself can call."""


@dataclass(frozen=True)
class Result:
    """A number that a kernel returns; with `numpy` it becomes one of NumPy's. With `array` it is an
    array of such numbers, as an object."""

    value: Any
    dtype: np.dtype[Any]
    numpy: bool = False
    array: bool = False


class EntryBuilder(CApiBuilder):
    """Builds the function `symbol` in a module of LLVM. Subclasses call the kernel:
    `unpack_arguments` returns the arguments as it takes them, `run` passes on what it returns."""

    def __init__(
        self,
        module: Any,
        symbol: str,
        wanted: Signature,
        long: bool | None,
        form: CallForm | None = None,
    ):
        super().__init__(module, symbol)
        self.wanted, self.form = wanted, form
        self.long = long  # whether the kernel runs long; None: its arguments tell
        self.counts: list[Any] = []  # integers, as which loops may make passes
        self.locks: list[Any] = []  # of generators of random numbers
        self.lengths: dict[tuple[Any, int, int], Any] = {}  # and strides, that have been read

    def build(self) -> Any:
        """The module, with the function in it."""
        b = self.builder
        self.missed = self.function.append_basic_block("missed")
        self.require(b.icmp_signed("==", self.count, LONG(len(self.wanted))))
        places = range(len(self.wanted))
        self.objects = objects = [b.load(b.gep(self.args, [LONG(k)])) for k in places]
        many = sum(isinstance(want, ArrayType) for want in self.wanted) > FEW
        for x, want in zip(objects, self.wanted, strict=True):
            self.check(x, want, many)
        order = range(len(objects)) if self.form is None else self.form.order
        self.run(self.unpack_arguments([(objects[k], self.wanted[k]) for k in order]))
        with b.goto_block(self.missed):
            other = (self.owner, self.args, self.count, OBJECT(None))
            b.ret(self.api("PyObject_Vectorcall", OBJECT, *other))
        return self.module

    # -- small parts

    def object(self, name: str) -> Any:
        """An object that the process knows by name."""
        existing = self.module.globals.get(name)
        return existing or ir.GlobalVariable(self.module, BYTE, name)

    # -- arguments

    def check(self, x: Any, want: Argument, many: bool) -> None:
        """Requires an object to be what is wanted; `many`: there are many arrays."""
        if isinstance(want, ArrayType) and many:
            wanted = (want.ndim, want.dtype.num, *_flags(want))
            test = self.builder.call(self.is_array(), [x, *map(INT, wanted)])
            self.require(test)
            return
        kind = self.field(x, offsets.TYPE, OBJECT)
        if isinstance(want, GeneratorType):
            self.require(self.is_same_object(kind, self.object(random_functions.TYPE)))
            return
        if isinstance(want, NumberType):
            is_expected = self.is_same_object(kind, self.object(type_symbol(want.kind)))
            if want.kind in TWINS and not want.exact:
                twin = self.is_same_object(kind, self.object(type_symbol(TWINS[want.kind])))
                is_expected = self.builder.or_(is_expected, twin)
            self.require(is_expected)
            return
        self.require(self.is_same_object(kind, self.object("tapeless_ndarray")))
        numbers = (want.ndim, want.dtype.num, *_flags(want))
        self.require(self.is_of_layout(x, *map(INT, numbers)))

    def is_of_layout(self, x: Any, ndim: Any, number: Any, mask: Any, flags: Any) -> Any:
        """Whether an array has so many axes, numbers of this type, and these flags."""
        b, descr = self.builder, self.field(x, offsets.DESCR, OBJECT)
        tests = (  # one branch for all: LLVM takes longer for blocks than for what is in them
            self.is_same_object(self.field(x, offsets.NDIM, INT), ndim),
            self.is_same_object(self.field(descr, offsets.TYPE_NUMBER, INT), number),
            b.icmp_unsigned("!=", self.field(descr, offsets.BYTE_ORDER, BYTE), BYTE(SWAPPED)),
            self.is_same_object(b.and_(self.field(x, offsets.FLAGS, INT), mask), flags),
        )
        return functools.reduce(b.and_, tests)

    def is_array(self) -> Any:
        """The function that says whether an object is an array with so many axes, numbers of a
        type, and flags: in place of its text for each of many arguments."""
        existing = self.module.globals.get(IS_ARRAY)
        if existing is not None:
            return existing
        kind = ir.FunctionType(ir.IntType(1), [OBJECT, INT, INT, INT, INT])
        function = ir.Function(self.module, kind, IS_ARRAY)
        function.linkage = "internal"
        for attribute in ("noinline", "nounwind"):
            function.attributes.add(attribute)
        entry, self.builder = self.builder, ir.IRBuilder(function.append_basic_block())
        x, *wanted = function.args
        cls = self.field(x, offsets.TYPE, OBJECT)
        array = self.is_same_object(cls, self.object("tapeless_ndarray"))
        with self.builder.if_then(self.builder.not_(array), likely=False):
            self.builder.ret(ir.IntType(1)(0))
        self.builder.ret(self.is_of_layout(x, *wanted))
        self.builder = entry
        return function

    def unpack_arguments(self, args: list[tuple[Any, Argument]]) -> list[Any]:
        """The arguments of the kernel, from objects."""
        raise NotImplementedError

    def run(self, values: list[Any]) -> None:
        """Calls the kernel, and returns."""
        raise NotImplementedError

    def stream(self, x: Any) -> Any:
        """Where NumPy's `bitgen_t` of a generator is, which lives as long as this; notes its lock,
        which NumPy's methods take, too."""
        bits = self.attribute(x, "bit_generator")
        capsule, lock = (self.attribute(bits, name) for name in ("capsule", "lock"))
        address = self.api("PyCapsule_GetPointer", OBJECT, capsule, self.text("BitGenerator"))
        for held in (capsule, bits):
            self.api("Py_DecRef", ir.VoidType(), held)
        self.locks.append(lock)
        return address

    def attribute(self, x: Any, name: str) -> Any:
        return self.api("PyObject_GetAttrString", OBJECT, x, self.text(name))

    def take_locks(self) -> None:
        """Waits until no other thread draws from the generators; that may be interrupted."""
        if not self.locks:
            return
        form = self.text("O" * len(self.locks))
        taken = self.call_method(self.owner, "take_locks", form, *self.locks)
        with self.builder.if_then(self.is_same_object(taken, OBJECT(None)), likely=False):
            self.builder.ret(OBJECT(None))
        self.api("Py_DecRef", ir.VoidType(), taken)

    def give_locks(self) -> None:
        """Lets other threads draw."""
        for lock in self.locks:
            self.api("Py_DecRef", ir.VoidType(), self.call_method(lock, "release", OBJECT(None)))
            self.api("Py_DecRef", ir.VoidType(), lock)

    def axis(self, x: Any, where: int, k: int) -> Any:
        """The length or the stride of an axis of an argument, which is read once."""
        if (x, where, k) not in self.lengths:
            numbers = self.field(x, where, LONG.as_pointer())
            self.lengths[x, where, k] = self.builder.load(self.builder.gep(numbers, [LONG(k)]))
        return self.lengths[x, where, k]

    def number(self, x: Any, want: NumberType) -> Any:
        b, kind = self.builder, want.kind
        if kind in (bool, np.bool_):
            numpy = self.is_same_object(x, self.object("tapeless_true"))
            return b.or_(self.is_same_object(x, self.object("_Py_TrueStruct")), numpy)
        if kind is int:
            return self.integer(x)
        return self.value(x, want.dtype)

    def value(self, x: Any, dtype: np.dtype[Any]) -> Any:
        """The number in an object that holds one."""
        return self.field(x, offsets.VALUE, register(dtype))

    def rows(self, first: Any, last: Any) -> list[Any]:
        """The same bounds, in a form from which LLVM sees that no place is negative: then loops
        need no test for that."""
        b = self.builder
        first, count = b.and_(first, LONG(PLACES)), b.sub(last, first)
        count = b.select(b.icmp_signed(">", count, LONG(0)), count, LONG(0))  # range(3, 1) has none
        return [first, b.add(first, b.and_(count, LONG(PLACES)))]

    def integer(self, x: Any) -> Any:
        """A Python int, OverflowError if it has more than 64 bits; or NumPy's."""
        b = self.builder
        value = b.alloca(LONG)
        python = self.is_same_object(
            self.field(x, offsets.TYPE, OBJECT), self.object("PyLong_Type")
        )
        with b.if_else(python) as (converted, read):
            with converted:
                integer = self.api("PyLong_AsLongLong", LONG, x)
                b.store(integer, value)
                with b.if_then(self.is_same_object(integer, LONG(-1)), likely=False):
                    occurred = self.api("PyErr_Occurred", OBJECT)
                    with b.if_then(b.icmp_unsigned("!=", occurred, OBJECT(None))):
                        b.ret(OBJECT(None))
            with read:
                b.store(self.field(x, offsets.VALUE, LONG), value)
        return b.load(value)

    # -- the call, and what it returns

    def save(self) -> Any:
        """Lets other threads run, where the call may take long."""
        b = self.builder
        state = b.alloca(OBJECT)
        b.store(OBJECT(None), state)
        if self.long is not False:
            with b.if_then(self.is_long()):
                b.store(self.api("PyEval_SaveThread", OBJECT), state)
        return state

    def is_long(self) -> Any:
        """Whether the call takes longer than it takes to let other threads run."""
        b = self.builder
        if self.long:
            return ir.IntType(1)(1)
        total, arrays, passes = LONG(0), False, LONG(1)
        for x, want in zip(self.objects, self.wanted, strict=True):
            if isinstance(want, ArrayType):
                lengths = [self.axis(x, offsets.SHAPE, axis) for axis in range(want.ndim)]
                arrays, size = True, functools.reduce(b.mul, lengths) if lengths else LONG(1)
                total = b.add(total, size)
        for count in self.counts:
            passes = b.select(b.icmp_signed(">", count, passes), count, passes)
        if self.counts:  # neither is more than enough, so that the product has 64 bits
            enough = LONG(LONG_ENOUGH)
            total, passes = (
                b.select(b.icmp_signed("<", n, enough), n, enough) for n in (total, passes)
            )
            total = b.mul(total, passes)
        return b.icmp_signed(">=", total, LONG(LONG_ENOUGH)) if arrays else ir.IntType(1)(1)

    def restore(self, state: Any) -> None:
        b = self.builder
        thread = b.load(state)
        with b.if_then(b.icmp_unsigned("!=", thread, OBJECT(None))):
            self.api("PyEval_RestoreThread", ir.VoidType(), thread)

    def fail(self, description: Any, told: Any = None) -> None:
        """Python raises the error that an address describes, or a number with what it tells of."""
        b = self.builder
        words = LONG(0) if told is None else b.ptrtoint(told, LONG)
        b.ret(self.call_method(self.owner, "fail", self.text("nn"), description, words))

    def call_method(self, x: Any, name: str, form: Any, *args: Any) -> Any:
        """A call of a method by its name; `form` describes the arguments, as C has them."""
        kind = ir.FunctionType(OBJECT, [OBJECT, OBJECT, OBJECT], var_arg=True)
        existing = self.module.globals.get("PyObject_CallMethod")
        method = existing or ir.Function(self.module, kind, "PyObject_CallMethod")
        return self.builder.call(method, [x, self.text(name), form, *args])

    def text(self, value: str) -> Any:
        earlier = self.module.globals.get(f"tapeless.{value}")
        if earlier is not None:
            return self.builder.bitcast(earlier, OBJECT)
        content = ir.Constant(ir.ArrayType(BYTE, len(value) + 1), bytearray(value.encode() + b"\0"))
        held = ir.GlobalVariable(self.module, content.type, f"tapeless.{value}")
        held.initializer, held.global_constant, held.linkage = content, True, "internal"
        return self.builder.bitcast(held, OBJECT)

    def give_back(self, results: list[Any] | None, single: bool) -> None:
        """Returns what the kernel has."""
        form = self.form
        if form is not None:
            chosen = [((results or [])[k], cls) for k, cls in form.results]
            objects = [self.object_of(self.of_class(x, cls) if cls else x) for x, cls in chosen]
            self.builder.ret(objects[0] if form.single else self.tuple_of(objects))
        elif results is None:
            self.api("Py_IncRef", ir.VoidType(), self.object("_Py_NoneStruct"))
            self.builder.ret(self.object("_Py_NoneStruct"))
        else:
            objects = [self.object_of(x) for x in results]
            self.builder.ret(objects[0] if single else self.tuple_of(objects))

    def of_class(self, x: Result, name: str) -> Result:
        """A number of a class of NumPy."""
        raise NotImplementedError

    def tuple_of(self, items: list[Any]) -> Any:
        result = self.api("PyTuple_New", OBJECT, LONG(len(items)))
        for k, item in enumerate(items):
            self.api("PyTuple_SetItem", INT, result, LONG(k), item)
        return result

    def object_of(self, x: Result | list[Any]) -> Any:
        """A number as an object of Python's; if it is of a class, as one of NumPy's."""
        if isinstance(x, list):
            return self.tuple_of([*map(self.object_of, x)])
        if x.array:
            return x.value
        b, value, dtype = self.builder, x.value, x.dtype
        if not x.numpy and dtype.char in PYTHON_MAKES:
            return self.api(PYTHON_MAKES[dtype.char], OBJECT, value)
        if not x.numpy and dtype.kind == "b":
            return self.api("PyBool_FromLong", OBJECT, b.zext(value, LONG))
        if not x.numpy and dtype.char == "D":
            parts = (b.extract_value(value, k) for k in range(2))
            return self.api("PyComplex_FromDoubles", OBJECT, *parts)
        if dtype.kind == "b":
            raise NoEntryError("it returns a boolean of NumPy's")
        cls = self.object(type_symbol(dtype.type))
        instance = self.api("PyType_GenericAlloc", OBJECT, cls, LONG(0))
        place = b.bitcast(b.gep(instance, [LONG(offsets.VALUE)]), value.type.as_pointer())
        b.store(value, place)
        return instance


PYTHON_MAKES = {"d": "PyFloat_FromDouble", np.dtype(np.int64).char: "PyLong_FromLongLong"}
PYTHON_TYPES = {
    float: "PyFloat_Type",
    int: "PyLong_Type",
    bool: "PyBool_Type",
    complex: "PyComplex_Type",
}


def type_symbol(kind: type) -> str:
    """The name under which a type of numbers is known to compiled code."""
    return PYTHON_TYPES.get(kind) or f"tapeless_{np.dtype(kind).name}"


def _flags(want: ArrayType) -> tuple[int, int]:
    """Which flags of an array matter, and how they must be."""
    layouts = {
        "C": (offsets.IS_C, offsets.IS_C),
        "F": (offsets.IS_C | offsets.IS_F, offsets.IS_F),
        "A": (offsets.IS_C, 0),
    }
    mask, flags = layouts[want.layout]
    mask, flags = mask | offsets.IS_ALIGNED, flags | offsets.IS_ALIGNED * want.aligned
    return (
        (mask, flags)
        if want.readonly
        else (mask | offsets.IS_WRITEABLE, flags | offsets.IS_WRITEABLE)
    )
