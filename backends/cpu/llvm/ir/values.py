"""Represents values of a kernel that is being compiled: numbers with their dtype, arrays, tuples of
both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from tapeless.backends.cpu.llvm.ir import complex_values
from tapeless.backends.cpu.runtime.signature import ArrayType
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.scalars import arithmetic_dtypes
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import (
    BOOL,
    DOUBLE,
    INT,
    SINGLE,
    UINT,
    Dtype,
    part,
)

BIT, BYTE, STATUS, WORD = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64)
POINTER = BYTE.as_pointer()


COUNTED = 40  # bits of a length, and of what loops count
WIDEST = 62  # bits of integers whose sums and products do not wrap around


class LlvmUnsupportedError(Exception):
    """What only Numba can compile."""


@dataclass(frozen=True)
class Number:
    """A number in a register.

    known    its value, if it is written in the text
    natural  whether it is an integer that is never negative
    bits     of an integer that is natural: how many it has at most
    """

    dtype: Dtype
    value: Any
    known: Any = None
    natural: bool = False
    bits: int = COUNTED


@dataclass(frozen=True, eq=False)
class ArrayValue:
    """An array: where its numbers are, its lengths, and the bytes from one number to the next."""

    dtype: Dtype
    data: Any
    shape: tuple[Number, ...]
    strides: tuple[Any, ...]
    layout: str = "C"
    aligned: bool = True
    readonly: bool = False


@dataclass(frozen=True, eq=False)
class Stream:
    """A generator of random numbers: where NumPy's `bitgen_t` is."""

    address: Any


@dataclass(frozen=True)
class RowKind:
    """The kind of an array with one axis that a function returns: where it is, and its length."""

    dtype: Dtype


Value = Number | ArrayValue | Stream | tuple[Any, ...] | Dtype | None


def register(dtype: Dtype) -> Any:
    """The type of a number of LLVM's."""
    if dtype.kind == "b":
        return BIT
    if dtype.kind in "iu":
        return ir.IntType(8 * dtype.itemsize)
    if dtype in (SINGLE, DOUBLE):
        return ir.FloatType() if dtype == SINGLE else ir.DoubleType()
    if dtype.kind == "c":
        return complex_values.pair_type(register(part(dtype)))
    raise LlvmUnsupportedError(f"numbers of {dtype}")


def memory_type(dtype: Dtype) -> Any:
    """The type of a number in memory."""
    return BYTE if dtype.kind == "b" else register(dtype)


def constant(x: bool | int | float | complex, dtype: Dtype | None = None) -> Number:
    """A number that is written in the text."""
    if isinstance(x, complex):
        return _constant(x, dtype or np.dtype(complex))
    if dtype is None:
        integer = UINT if x > np.iinfo(INT).max else INT
        dtype = BOOL if isinstance(x, bool) else integer if isinstance(x, int) else DOUBLE
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if not limits.min <= x <= limits.max:
            raise LlvmUnsupportedError("a constant of more than 64 bits")
    return _constant(x, dtype)


def numbers(*values: Any) -> tuple[Number, ...]:
    """The values, which must be numbers."""
    if not all(isinstance(v, Number) for v in values):
        raise LlvmUnsupportedError("something else than a number")
    return values


def joined_dtype(a: Dtype, b: Dtype) -> Dtype:
    """The dtype of a variable that holds either."""
    if "c" in a.kind + b.kind:
        return arithmetic_dtypes.common(a, b)
    dtype = arithmetic_dtypes.common_dtype(a, b)
    if dtype is None:
        raise LlvmUnsupportedError(f"{a} and {b} in one variable")
    return dtype


def cast(builder: Any, x: Number, dtype: Dtype) -> Number:
    """The number in another dtype."""
    if x.dtype == dtype:
        return x
    if "c" in x.dtype.kind + dtype.kind and dtype.kind != "b":
        return _as_complex(builder, x, dtype)
    if x.known is not None and (dtype.kind == "f" or x.dtype.kind not in "fc"):
        return _constant(x.known, dtype)
    to, kinds = register(dtype), (x.dtype.kind, dtype.kind)
    match kinds:
        case (_, "b"):
            value = truth(builder, x)
        case ("f", "f"):
            narrow = dtype.itemsize < x.dtype.itemsize
            value = (builder.fptrunc if narrow else builder.fpext)(x.value, to)
        case ("f", "u") if dtype.itemsize < UINT.itemsize:  # -1.0 is 255, as by NumPy
            wider = WORD if to == STATUS else STATUS
            value = builder.trunc(builder.fptosi(x.value, wider), to)
        case ("f", "u"):
            value = _as_unsigned(builder, x, to)
        case ("f", _):
            value = builder.fptosi(x.value, to)
        case ("i", "f"):
            value = builder.sitofp(x.value, to)
        case (_, "f"):
            value = builder.uitofp(x.value, to)
        case (before, _) if dtype.itemsize > x.dtype.itemsize or before == "b":
            value = (builder.sext if before == "i" else builder.zext)(x.value, to)
        case _ if dtype.itemsize < x.dtype.itemsize:
            value = builder.trunc(x.value, to)
        case _:
            value = x.value
    return Number(dtype, value, natural=x.natural and dtype == INT, bits=x.bits)


def _as_unsigned(builder: Any, x: Number, to: Any) -> Any:
    """A float as an unsigned number of 64 bits: a negative one is what the signed number is, as by
    NumPy."""
    half = ir.Constant(register(x.dtype), 2.0**63)
    low = builder.fptosi(x.value, to)
    high = builder.xor(builder.fptosi(builder.fsub(x.value, half), to), ir.Constant(to, -(2**63)))
    return builder.select(builder.fcmp_unordered("<", x.value, half), low, high)


def _as_complex(builder: Any, x: Number, dtype: Dtype) -> Number:
    if dtype.kind != "c":
        raise LlvmUnsupportedError(f"{x.dtype} as {dtype}")
    if x.known is not None:
        return _constant(x.known, dtype)
    real, imag = (cast(builder, v, part(dtype)).value for v in parts(builder, x))
    return Number(dtype, complex_values.make_complex(builder, real, imag))


def parts(builder: Any, x: Number) -> tuple[Number, Number]:
    """The real and the imaginary part, which is zero for real numbers."""
    if x.dtype.kind != "c":
        return x, _constant(0, x.dtype)
    real, imag = complex_values.parts(builder, x.value)
    return Number(part(x.dtype), real), Number(part(x.dtype), imag)


def _constant(x: bool | int | float | complex, dtype: Dtype) -> Number:
    with np.errstate(all="ignore"):
        number = np.asarray(x).astype(dtype).item()
    if dtype.kind == "c":
        return Number(dtype, ir.Constant(register(dtype), [number.real, number.imag]), number)
    inside = int(number) if dtype.kind == "b" else number
    natural = dtype.kind in "iu" and number >= 0
    bits = number.bit_length() if natural else COUNTED
    return Number(dtype, ir.Constant(register(dtype), inside), number, natural, bits)


def truth(builder: Any, x: Number) -> Any:
    """Whether the number is not zero."""
    if x.dtype.kind == "b":
        return x.value
    if x.dtype.kind == "c":
        return complex_values.is_nonzero(builder, x.value)
    zero = ir.Constant(x.value.type, 0)
    if x.dtype.kind == "f":
        return builder.fcmp_unordered("!=", x.value, zero)
    return builder.icmp_signed("!=", x.value, zero)


# -- memory


def address(builder: Any, x: ArrayValue, at: tuple[Number, ...]) -> Any:
    """Where a number of an array is."""
    if len(at) != len(x.shape):
        raise LlvmUnsupportedError("a part of an array")
    places = [place(builder, i, n.value) for i, n in zip(at, x.shape, strict=True)]
    if x.layout == "A":
        offset: Any = WORD(0)
        for i, step in zip(places, x.strides, strict=True):
            offset = builder.add(offset, builder.mul(i, step, flags=("nsw",)), flags=("nsw",))
        there = builder.gep(x.data, [offset], inbounds=True)
        return builder.bitcast(there, memory_type(x.dtype).as_pointer())
    pairs = [*zip(places, x.shape, strict=True)]
    pairs = pairs if x.layout == "C" else pairs[::-1]
    index, _ = pairs[0] if pairs else (WORD(0), None)
    for i, n in pairs[1:]:
        index = builder.add(builder.mul(index, n.value, flags=("nsw",)), i, flags=("nsw",))
    start = builder.bitcast(x.data, memory_type(x.dtype).as_pointer())
    return builder.gep(start, [index], inbounds=True)


def place(builder: Any, i: Number, length: Any) -> Any:
    """An index, counted from the start."""
    if i.dtype.kind not in "iu":
        raise LlvmUnsupportedError(f"an index of {i.dtype}")
    value = cast(builder, i, INT).value
    if i.natural or i.dtype.kind == "u":
        return value
    back = builder.add(value, length)
    if i.known is not None:
        return back
    return builder.select(builder.icmp_signed("<", value, WORD(0)), back, value)


def load(builder: Any, x: ArrayValue, at: tuple[Number, ...]) -> Number:
    where = address(builder, x, at)
    if x.dtype.kind == "c":
        return Number(x.dtype, complex_values.load(builder, where, _align(x)))
    value = builder.load(where, align=_align(x))
    if x.dtype.kind == "b":
        value = builder.icmp_signed("!=", value, BYTE(0))
    return Number(x.dtype, value)


def store(builder: Any, x: ArrayValue, at: tuple[Number, ...], value: Number) -> None:
    if x.readonly:
        raise LlvmUnsupportedError("a store to what is read-only")
    number = cast(builder, value, x.dtype).value
    if x.dtype.kind == "b":
        number = builder.zext(number, BYTE)
    where = address(builder, x, at)
    if x.dtype.kind == "c":
        complex_values.store(builder, number, where, _align(x))
    else:
        builder.store(number, where, align=_align(x))


def _align(x: ArrayValue) -> int:
    return x.dtype.alignment if x.aligned else 1


def flatten_array(x: ArrayValue) -> list[Any]:
    """What stands for an array among the arguments of a function of LLVM's."""
    steps = [*x.strides] if x.layout == "A" else []
    return [x.data, *(n.value for n in x.shape), *steps]


def unflatten_array(kind: ArrayType, args: list[Any]) -> ArrayValue:
    """An array from these arguments, which are taken off the list."""
    data = args.pop(0)
    shape = tuple(Number(INT, args.pop(0), natural=True) for _ in range(kind.ndim))
    steps = tuple(args.pop(0) for _ in shape) if kind.layout == "A" else ()
    return ArrayValue(kind.dtype, data, shape, steps, kind.layout, kind.aligned, kind.readonly)


def signature_of(x: ArrayValue) -> ArrayType:
    return ArrayType(x.dtype, len(x.shape), x.layout, x.readonly, x.aligned)


def known_strides(x: ArrayValue) -> list[int | None]:
    """The strides of an array, as far as its layout and the lengths in the text tell them."""
    if x.layout == "A":
        return [None] * len(x.shape)
    step: int | None = x.dtype.itemsize
    strides = [step]
    for n in x.shape[:0:-1] if x.layout == "C" else x.shape[:-1]:
        step = None if step is None or n.known is None else step * int(n.known)
        strides.append(step)
    return strides[::-1] if x.layout == "C" else strides


def bytes_between(builder: Any, x: ArrayValue) -> tuple[Any, ...]:
    """The strides of an array of any layout."""
    if x.layout == "A":
        return x.strides
    step: Any = WORD(x.dtype.itemsize)
    strides = [step]
    for n in x.shape[:0:-1] if x.layout == "C" else x.shape[:-1]:
        step = builder.mul(step, n.value, flags=("nsw",))
        strides.append(step)
    return tuple(strides[::-1] if x.layout == "C" else strides)
