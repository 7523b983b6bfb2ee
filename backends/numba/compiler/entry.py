"""The entry of a kernel: a function of CPython's C interface that checks and unpacks arguments.

It reads arrays and numbers where their public structures keep them (`ndarrayobject.h` of NumPy,
`floatobject.h` of Python), so that a call costs some ten nanoseconds an argument and a process that
finds the kernel in the cache needs no Numba. Arguments of another signature go to `self`, a Python
callable; so does the address of an error's description, by the method `fail`.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.np.arrayobj import populate_array

from tapeless.backends.numba import structures as at
from tapeless.backends.numba.signature import DTYPES, TWINS, Array, Form, Number, Signature

BYTE, INT, LONG, DOUBLE = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
OBJECT = BYTE.as_pointer()
SWAPPED = ord(">" if sys.byteorder == "little" else "<")
FIRST_ROW, PLACES = Number(int, place=True), (1 << 62) - 1
LONG_ENOUGH = 2048  # numbers in arrays from which other threads may run meanwhile


class NoEntryError(Exception):
    """A kernel that only Numba itself can call."""


class Entry:
    """Builds the function `symbol` in a module of LLVM."""

    def __init__(
        self,
        context: Any,
        symbol: str,
        lowered: Any,
        wanted: Signature,
        loops: bool,
        form: Form | None = None,
    ):
        self.context, self.fndesc, self.sig = context, lowered.fndesc, lowered.signature
        self.wanted, self.loops, self.form = wanted, loops, form
        self.module = context.create_module(symbol)
        kind = ir.FunctionType(OBJECT, [OBJECT, OBJECT.as_pointer(), LONG])
        self.function = ir.Function(self.module, kind, symbol)
        self.builder = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.owner, self.args, self.count = self.function.args

    def build(self) -> Any:
        """The module, with the function in it."""
        b = self.builder
        self.missed = self.function.append_basic_block("missed")
        self.require(b.icmp_signed("==", self.count, LONG(len(self.wanted))))
        objects = [b.load(b.gep(self.args, [LONG(k)])) for k in range(len(self.wanted))]
        for x, want in zip(objects, self.wanted, strict=True):
            self.check(x, want)
        order = range(len(objects)) if self.form is None else self.form.order
        values = [
            self.argument(objects[k], t, self.wanted[k])
            for k, t in zip(order, self.sig.args, strict=True)
        ]
        if self.wanted and self.wanted[0] == FIRST_ROW:
            values[:2] = self.rows(*values[:2])
        self.run(values)
        with b.goto_block(self.missed):
            other = (self.owner, self.args, self.count, OBJECT(None))
            b.ret(self.call("PyObject_Vectorcall", OBJECT, *other))
        return self.module

    # -- small parts

    def call(self, name: str, result: Any, *args: Any) -> Any:
        """A call of Python's C interface."""
        known = self.module.globals.get(name)
        kind = ir.FunctionType(result, [a.type for a in args])
        return self.builder.call(known or ir.Function(self.module, kind, name), args)

    def object(self, name: str) -> Any:
        """An object that the process knows by name."""
        known = self.module.globals.get(name)
        return known or ir.GlobalVariable(self.module, BYTE, name)

    def field(self, x: Any, offset: int, kind: Any) -> Any:
        """What a structure holds at an offset."""
        b = self.builder
        return b.load(b.bitcast(b.gep(x, [LONG(offset)]), kind.as_pointer()))

    def require(self, condition: Any) -> None:
        """Goes on if the condition holds."""
        on = self.function.append_basic_block()
        self.builder.cbranch(condition, on, self.missed)
        self.builder.position_at_end(on)

    def same(self, x: Any, y: Any) -> Any:
        return self.builder.icmp_unsigned("==", x, y)

    # -- arguments

    def check(self, x: Any, want: Array | Number) -> None:
        kind = self.field(x, at.TYPE, OBJECT)
        if isinstance(want, Number):
            known = self.same(kind, self.object(type_symbol(want.kind)))
            if want.kind in TWINS and not want.exact:
                twin = self.same(kind, self.object(type_symbol(TWINS[want.kind])))
                known = self.builder.or_(known, twin)
            self.require(known)
            return
        self.require(self.same(kind, self.object("tapeless_ndarray")))
        self.require(self.same(self.field(x, at.NDIM, INT), INT(want.ndim)))
        descr = self.field(x, at.DESCR, OBJECT)
        self.require(self.same(self.field(descr, at.TYPE_NUMBER, INT), INT(want.dtype.num)))
        self.require(
            self.builder.icmp_unsigned("!=", self.field(descr, at.BYTE_ORDER, BYTE), BYTE(SWAPPED))
        )
        mask, flags = _flags(want)
        self.require(
            self.same(self.builder.and_(self.field(x, at.FLAGS, INT), INT(mask)), INT(flags))
        )

    def argument(self, x: Any, kind: Any, want: Array | Number) -> Any:
        return self.number(x, want) if isinstance(want, Number) else self.array(x, kind)

    def array(self, x: Any, kind: Any) -> Any:
        """The array as Numba's code takes it: borrowed memory, no owner."""
        b, context = self.builder, self.context
        made = context.make_array(kind)(context, b)
        lengths = [self.axis(x, at.SHAPE, k) for k in range(kind.ndim)]
        strides = [self.axis(x, at.STRIDES, k) for k in range(kind.ndim)]
        populate_array(
            made,
            data=b.bitcast(self.field(x, at.DATA, OBJECT), made.data.type),
            shape=lengths,
            strides=strides,
            itemsize=LONG(np.dtype(str(kind.dtype)).itemsize),
            meminfo=None,
        )
        return made._getvalue()

    def axis(self, x: Any, where: int, k: int) -> Any:
        return self.builder.load(
            self.builder.gep(self.field(x, where, LONG.as_pointer()), [LONG(k)])
        )

    def number(self, x: Any, want: Number) -> Any:
        b, kind = self.builder, want.kind
        if kind in (bool, np.bool_):
            numpy = self.same(x, self.object("tapeless_true"))
            return b.or_(self.same(x, self.object("_Py_TrueStruct")), numpy)
        if kind is int:
            return self.integer(x)
        if want.dtype.kind == "c":
            made = self.context.make_complex(b, numba_type(want))
            part = made.real.type
            made.real = self.field(x, at.VALUE, part)
            made.imag = self.field(x, at.VALUE + want.dtype.itemsize // 2, part)
            return made._getvalue()
        return self.field(x, at.VALUE, self.context.get_value_type(numba_type(want)))

    def rows(self, first: Any, last: Any) -> list[Any]:
        """The same bounds, in a form from which LLVM sees that no place is negative: then loops
        need no test for that."""
        b = self.builder
        first = b.and_(first, LONG(PLACES))
        return [first, b.add(first, b.and_(b.sub(last, first), LONG(PLACES)))]

    def integer(self, x: Any) -> Any:
        """A Python int, OverflowError if it has more than 64 bits; or NumPy's."""
        b = self.builder
        value = b.alloca(LONG)
        python = self.same(self.field(x, at.TYPE, OBJECT), self.object("PyLong_Type"))
        with b.if_else(python) as (converted, read):
            with converted:
                found = self.call("PyLong_AsLongLong", LONG, x)
                b.store(found, value)
                with b.if_then(self.same(found, LONG(-1)), likely=False):
                    occurred = self.call("PyErr_Occurred", OBJECT)
                    with b.if_then(b.icmp_unsigned("!=", occurred, OBJECT(None))):
                        b.ret(OBJECT(None))
            with read:
                b.store(self.field(x, at.VALUE, LONG), value)
        return b.load(value)

    # -- the call, and what it returns

    def run(self, values: list[Any]) -> None:
        b, restype = self.builder, self.sig.return_type
        kind = self.context.call_conv.get_function_type(restype, self.sig.args)
        kernel = ir.Function(self.module, kind, self.fndesc.llvm_func_name)
        state = self.save()
        status, result = self.context.call_conv.call_function(
            b, kernel, restype, self.sig.args, values
        )
        self.restore(state)
        with b.if_then(status.is_error, likely=False):
            with b.if_then(status.is_python_exc):
                b.ret(OBJECT(None))
            self.fail(status.excinfoptr)
        form = self.form
        b.ret(self.boxed(result, restype) if form is None else self.formed(result, restype, form))

    def save(self) -> Any:
        """Lets other threads run, where the call may take long."""
        b = self.builder
        state = b.alloca(OBJECT)
        b.store(OBJECT(None), state)
        if self.loops:
            with b.if_then(self.is_long()):
                b.store(self.call("PyEval_SaveThread", OBJECT), state)
        return state

    def is_long(self) -> Any:
        b = self.builder
        total, arrays = LONG(0), False
        for k, want in enumerate(self.wanted):
            if isinstance(want, Array):
                arrays, size = True, LONG(1)
                x = b.load(b.gep(self.args, [LONG(k)]))
                for axis in range(want.ndim):
                    size = b.mul(size, self.axis(x, at.SHAPE, axis))
                total = b.add(total, size)
        return b.icmp_signed(">=", total, LONG(LONG_ENOUGH)) if arrays else ir.IntType(1)(1)

    def restore(self, state: Any) -> None:
        b = self.builder
        thread = b.load(state)
        with b.if_then(b.icmp_unsigned("!=", thread, OBJECT(None))):
            self.call("PyEval_RestoreThread", ir.VoidType(), thread)

    def fail(self, description: Any) -> None:
        """Python raises the error: it has been described, at an address."""
        b = self.builder
        name, form = self.text("fail"), self.text("n")
        kind = ir.FunctionType(OBJECT, [OBJECT, OBJECT, OBJECT], var_arg=True)
        method = ir.Function(self.module, kind, "PyObject_CallMethod")
        b.ret(b.call(method, [self.owner, name, form, b.ptrtoint(description, LONG)]))

    def text(self, value: str) -> Any:
        content = ir.Constant(ir.ArrayType(BYTE, len(value) + 1), bytearray(value.encode() + b"\0"))
        held = ir.GlobalVariable(self.module, content.type, f"tapeless.{value}")
        held.initializer, held.global_constant, held.linkage = content, True, "internal"
        return self.builder.bitcast(held, OBJECT)

    def formed(self, value: Any, kind: Any, form: Form) -> Any:
        """The result as the function returns it that calls the kernel."""
        b = self.builder
        made = []
        for k, cls in form.results:
            one = (
                (b.extract_value(value, k), kind[k])
                if isinstance(kind, types.BaseTuple)
                else (value, kind)
            )
            made.append(self.number_made(*one) if cls is None else self.of_class(*one, cls))
        return made[0] if form.single else self.tupled(made)

    def of_class(self, value: Any, kind: Any, name: str) -> Any:
        """A number of a class of NumPy."""
        wanted = getattr(types, name)
        value = self.context.cast(self.builder, value, kind, wanted)
        return self.numpy_made(value, wanted)

    def tupled(self, items: list[Any]) -> Any:
        made = self.call("PyTuple_New", OBJECT, LONG(len(items)))
        for k, item in enumerate(items):
            self.call("PyTuple_SetItem", INT, made, LONG(k), item)
        return made

    def boxed(self, value: Any, kind: Any) -> Any:
        """The result as a Python object."""
        b = self.builder
        if isinstance(kind, types.NoneType):
            self.call("Py_IncRef", ir.VoidType(), self.object("_Py_NoneStruct"))
            return self.object("_Py_NoneStruct")
        if isinstance(kind, types.BaseTuple):
            return self.tupled(
                [self.boxed(b.extract_value(value, k), part) for k, part in enumerate(kind)]
            )
        return self.number_made(value, kind)

    def number_made(self, value: Any, kind: Any) -> Any:
        b = self.builder
        if isinstance(kind, types.Literal):
            kind = kind.literal_type
        if kind == types.float64:
            return self.call("PyFloat_FromDouble", OBJECT, value)
        if kind == types.int64:
            return self.call("PyLong_FromLongLong", OBJECT, value)
        if kind == types.boolean:
            return self.call("PyBool_FromLong", OBJECT, b.zext(value, LONG))
        if kind == types.complex128:
            parts = self.context.make_complex(b, kind, value)
            return self.call("PyComplex_FromDoubles", OBJECT, parts.real, parts.imag)
        return self.numpy_made(value, kind)

    def numpy_made(self, value: Any, kind: Any) -> Any:
        b = self.builder
        if kind not in NUMPY_TYPES:
            raise NoEntryError(f"it returns {kind}")
        cls = self.object(type_symbol(NUMPY_TYPES[kind]))
        made = self.call("PyType_GenericAlloc", OBJECT, cls, LONG(0))
        place = b.bitcast(b.gep(made, [LONG(at.VALUE)]), value.type.as_pointer())
        b.store(value, place)
        return made


NUMPY_TYPES = {getattr(types, d.name): d.type for d in DTYPES if d.kind != "b"}
PYTHON_TYPES = {
    float: "PyFloat_Type",
    int: "PyLong_Type",
    bool: "PyBool_Type",
    complex: "PyComplex_Type",
}


def type_symbol(kind: type) -> str:
    """The name under which a type of numbers is known to compiled code."""
    return PYTHON_TYPES.get(kind) or f"tapeless_{np.dtype(kind).name}"


def _flags(want: Array) -> tuple[int, int]:
    """Which flags of an array matter, and how they must be."""
    layouts = {"C": (at.IS_C, at.IS_C), "F": (at.IS_C | at.IS_F, at.IS_F), "A": (at.IS_C, 0)}
    mask, flags = layouts[want.layout]
    mask, flags = mask | at.IS_ALIGNED, flags | at.IS_ALIGNED * want.aligned
    return (mask, flags) if want.readonly else (mask | at.IS_WRITEABLE, flags | at.IS_WRITEABLE)


def numba_type(want: Array | Number) -> Any:
    """The type that Numba knows an argument by."""
    number = types.boolean if want.dtype.kind == "b" else getattr(types, want.dtype.name)
    if isinstance(want, Number):
        return number
    return types.Array(number, want.ndim, want.layout, readonly=want.readonly, aligned=want.aligned)
