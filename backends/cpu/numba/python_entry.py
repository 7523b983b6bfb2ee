"""Builds the entry of a kernel that Numba has compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.np.arrayobj import populate_array

from tapeless.backends.cpu.llvm.ir.c_api_builder import OBJECT
from tapeless.backends.cpu.llvm.python_entry import (
    FIRST_ROW,
    LONG,
    EntryBuilder,
    NoEntryError,
    Result,
)
from tapeless.backends.cpu.runtime import struct_offsets as offsets
from tapeless.backends.cpu.runtime.signature import (
    Argument,
    CallForm,
    GeneratorType,
    NumberType,
    Signature,
)


class NumbaEntryBuilder(EntryBuilder):
    """Passes arguments as Numba's code takes them, and tells errors from results."""

    def __init__(
        self,
        context: Any,
        symbol: str,
        lowered: Any,
        wanted: Signature,
        long: bool | None,
        form: CallForm | None = None,
    ):
        super().__init__(context.create_module(symbol), symbol, wanted, long, form)
        self.context, self.fndesc, self.sig = context, lowered.fndesc, lowered.signature

    def unpack_arguments(self, args: list[tuple[Any, Argument]]) -> list[Any]:
        pairs = zip(args, self.sig.args, strict=True)
        if any(isinstance(want, GeneratorType) for _, want in args):
            raise NoEntryError("it draws random numbers")
        values = [
            self.number(x, want) if isinstance(want, NumberType) else self.array(x, kind)
            for (x, want), kind in pairs
        ]
        if self.wanted and self.wanted[0] == FIRST_ROW:
            values[:2] = self.rows(*values[:2])
        return values

    def array(self, x: Any, kind: Any) -> Any:
        """The array as Numba's code takes it: borrowed memory, no owner."""
        b, context = self.builder, self.context
        array = context.make_array(kind)(context, b)
        lengths = [self.axis(x, offsets.SHAPE, k) for k in range(kind.ndim)]
        strides = [self.axis(x, offsets.STRIDES, k) for k in range(kind.ndim)]
        populate_array(
            array,
            data=b.bitcast(self.field(x, offsets.DATA, OBJECT), array.data.type),
            shape=lengths,
            strides=strides,
            itemsize=LONG(np.dtype(str(kind.dtype)).itemsize),
            meminfo=None,
        )
        return array._getvalue()

    def value(self, x: Any, dtype: np.dtype[Any]) -> Any:
        if dtype.kind != "c":
            return super().value(x, dtype)
        number = self.context.make_complex(self.builder, getattr(types, dtype.name))
        part = number.real.type
        number.real = self.field(x, offsets.VALUE, part)
        number.imag = self.field(x, offsets.VALUE + dtype.itemsize // 2, part)
        return number._getvalue()

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
            self.fail(b.ptrtoint(status.excinfoptr, LONG))
        if isinstance(restype, types.NoneType):
            self.give_back(None, True)
        else:
            results = self.result(result, restype)
            single = isinstance(results, Result)
            self.give_back([results] if isinstance(results, Result) else results, single)

    def result(self, value: Any, kind: Any) -> Result | list[Any]:
        if not isinstance(kind, types.BaseTuple):
            return Result(value, _dtype(kind))
        part = self.builder.extract_value
        return [self.result(part(value, k), t) for k, t in enumerate(kind)]

    def of_class(self, x: Result, name: str) -> Result:
        wanted, actual = getattr(types, name), getattr(types, x.dtype.name, types.boolean)
        value = self.context.cast(self.builder, x.value, actual, wanted)
        return Result(value, np.dtype(name), numpy=True)


def _dtype(kind: Any) -> np.dtype[Any]:
    """The dtype of a number that Numba returns."""
    if isinstance(kind, types.Literal):
        kind = kind.literal_type
    if kind == types.boolean:
        return np.dtype(bool)
    if not isinstance(kind, types.Number):
        raise NoEntryError(f"it returns {kind}")
    return np.dtype(str(kind))


def numba_type(want: Argument) -> Any:
    """The type that Numba knows an argument by."""
    if isinstance(want, GeneratorType):
        raise NoEntryError("it draws random numbers")
    number = types.boolean if want.dtype.kind == "b" else getattr(types, want.dtype.name)
    if isinstance(want, NumberType):
        return number
    return types.Array(number, want.ndim, want.layout, readonly=want.readonly, aligned=want.aligned)
