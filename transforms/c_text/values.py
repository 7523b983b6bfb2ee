"""Represents numbers and arrays as text of C: what an expression of loop form becomes.

x[i] + 1      becomes      Value("x[i] + 1.0", float64, level of a sum)
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from tapeless.transforms.c_text.dialect import is_c99, suffix
from tapeless.transforms.core.language import Origin
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import (
    BOOL,
    DOUBLE,
    INT,
    SINGLE,
    UINT,
    Dtype,
    part,
)

C_TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "i64",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned",
    "uint64": "u64",
    "float32": "float",
    "float64": "double",
    "complex64": "c64",
    "complex128": "c128",
}
#: How strongly operators of C bind: those of lower numbers bind more.
OPERAND, POSTFIX, UNARY, PRODUCT, SUM, SHIFT, ORDER, EQUALITY = 0, 1, 2, 3, 4, 5, 6, 7
AND, XOR, OR, BOTH, EITHER, CHOICE = 8, 9, 10, 11, 12, 13
I32 = np.dtype(np.int32)


class NotPrintedError(Exception):
    """What C does not have, or the printer does not know.

    origin  the user's line, where that is known
    """

    origin: Origin | None = None


@dataclass(frozen=True)
class CValue:
    """A number as an expression of C.

    level    the operator that binds it least
    natural  whether it is an integer that is never negative
    known    its value, if it is written in the text
    """

    text: str
    dtype: Dtype
    level: int = OPERAND
    natural: bool = False
    known: bool | int | float | None = None

    def operand(self, level: int) -> str:
        """The text as an operand of an operator of this level."""
        return self.text if self.level <= level else f"({self.text})"

    @property
    def is_plain(self) -> bool:
        """Whether it may be written twice: it calls nothing, and is short."""
        return self.level <= UNARY and "(" not in self.text


def c_type(dtype: Dtype) -> str:
    if dtype.name not in C_TYPES:
        raise NotPrintedError(f"{dtype.name}")
    return C_TYPES[dtype.name]


def constant(x: bool | int | float, dtype: Dtype | None = None) -> CValue:
    """A number that is written in the text."""
    if dtype is None:
        integer = UINT if x > np.iinfo(INT).max else INT
        dtype = BOOL if isinstance(x, bool) else integer if isinstance(x, int) else DOUBLE
    with np.errstate(all="ignore"):
        x = np.asarray(x).astype(dtype).item()
    if dtype.kind == "b":
        return CValue("true" if x else "false", BOOL, known=bool(x))
    if dtype.kind in "iu":
        return _integer(int(x), dtype)
    if dtype.kind == "f":
        return _real(float(x), dtype)
    raise NotPrintedError(f"a constant of {dtype.name}")


def _integer(x: int, dtype: Dtype) -> CValue:
    if x == np.iinfo(INT).min:
        return CValue("-9223372036854775807LL - 1", dtype, SUM, known=x)
    suffix = "ULL" if x > np.iinfo(INT).max else "LL" if abs(x) > np.iinfo(I32).max else ""
    suffix = suffix or ("u" if dtype.kind == "u" and dtype.itemsize > 2 else "")
    return CValue(f"{x}{suffix}", dtype, OPERAND if x >= 0 else UNARY, x >= 0, x)


def _real(x: float, dtype: Dtype) -> CValue:
    bits = 8 * dtype.itemsize
    level = OPERAND if math.copysign(1.0, x) > 0 else UNARY
    if math.isnan(x):
        return CValue(f"NAN{bits}", dtype, known=x)
    if math.isinf(x):
        return CValue(f"{'-' * (x < 0)}INF{bits}", dtype, level, known=x)
    text = str(np.float32(x)) if dtype == SINGLE else repr(x)
    text = text if any(c in text for c in ".e") else f"{text}.0"
    return CValue(text + "f" * (dtype == SINGLE), dtype, level, known=x)


def of_template(name: str, dtype: Dtype, args: str, number: int | None = None) -> str:
    """The call of a helper that exists for several dtypes, and for several numbers."""
    if is_c99():
        first = "" if number is None else f"{number}, "
        return f"{name}_{suffix(dtype)}({first}{args})"
    first = "" if number is None else f"{number}, "
    return f"{name}<{first}{c_type(dtype)}>({args})"


def truth(x: CValue) -> CValue:
    """Whether the number is not zero."""
    if x.dtype == BOOL:
        return x
    if x.known is not None:
        return constant(bool(x.known))
    if x.dtype.kind == "c" and not is_c99():
        return CValue(f"nonzero({x.text})", BOOL)
    return CValue(f"{x.operand(ORDER)} != 0", BOOL, EQUALITY)


def cast(x: CValue, dtype: Dtype) -> CValue:
    """The number in another dtype, as NumPy converts it on a CPU where C leaves that open."""
    if x.dtype == dtype:
        return x
    if x.known is not None and dtype.kind != "c" and (dtype.kind == "f" or x.dtype.kind != "f"):
        return constant(x.known, dtype)
    if dtype.kind == "b":
        return truth(x)
    c = c_type(dtype)
    if dtype.kind == "c":
        return _as_complex(x, dtype)
    if x.dtype.kind == "c":
        raise NotPrintedError(f"a complex number as {dtype.name}")
    natural = (x.natural and dtype.itemsize >= x.dtype.itemsize) or x.dtype.kind in "bu"
    natural = natural and (dtype == INT or dtype.kind == "u" or x.dtype == BOOL)
    if x.dtype.kind == "f" and dtype.kind == "u":
        if dtype.itemsize == UINT.itemsize:
            return CValue(f"to_u64({x.text})", dtype, natural=True)
        return CValue(
            f"({c})({'i64' if dtype.itemsize > 2 else 'int'}){x.operand(UNARY)}", dtype, UNARY
        )
    if x.dtype.kind == "u" and dtype == INT:
        natural = x.dtype != UINT
    return CValue(f"({c}){x.operand(UNARY)}", dtype, UNARY, natural)


def _as_complex(x: CValue, dtype: Dtype) -> CValue:
    if not is_c99():
        return CValue(f"{c_type(dtype)}({x.text})", dtype)
    if x.dtype.kind == "c":
        return CValue(f"({c_type(dtype)}){x.operand(UNARY)}", dtype, UNARY)
    return of_parts(x, constant(0.0), dtype)


def of_parts(real: CValue, imag: CValue, dtype: Dtype) -> CValue:
    """A complex number."""
    name = f"of_parts_{suffix(dtype)}" if is_c99() else c_type(dtype)
    real, imag = (cast(x, part(dtype)) for x in (real, imag))
    return CValue(f"{name}({real.text}, {imag.text})", dtype)


def part_of(x: CValue, name: str) -> CValue:
    """The real or the imaginary part of a number."""
    if x.dtype.kind != "c":
        return x if name == "real" else constant(0, x.dtype)
    if is_c99():
        return CValue(of_complex(f"c{name}", x), part(x.dtype))
    return CValue(f"{x.operand(POSTFIX)}.{name}", part(x.dtype), POSTFIX)


def of_complex(name: str, x: CValue) -> str:
    """The call of a function of complex.h."""
    return f"{name}{'f' * (part(x.dtype) == SINGLE)}({x.text})"


def by_c(a: Dtype, b: Dtype) -> Dtype:
    """The dtype in which C adds two numbers."""
    if "c" in a.kind + b.kind:
        return a if a == b else np.dtype(object)
    if "f" in a.kind + b.kind:
        return DOUBLE if DOUBLE in (a, b) else SINGLE
    a, b = (I32 if d.itemsize < I32.itemsize else d for d in (a, b))
    if a.itemsize != b.itemsize:
        return a if a.itemsize > b.itemsize else b
    return a if a.kind == "u" else b


def meet(a: CValue, b: CValue, dtype: Dtype) -> tuple[CValue, CValue]:
    """Both numbers, with the casts that it takes for C to compute in this dtype."""
    a, b = (cast(x, dtype) if x.known is not None else x for x in (a, b))
    if by_c(a.dtype, b.dtype) == dtype:
        return a, b
    if by_c(dtype, b.dtype) == dtype:
        return cast(a, dtype), b
    if by_c(a.dtype, dtype) == dtype:
        return a, cast(b, dtype)
    return cast(a, dtype), cast(b, dtype)


@dataclass(frozen=True)
class CArray:
    """An array that a kernel reads or stores to.

    pointer   the text of where its numbers are
    lengths   along its axes
    where     "global", "local" to a thread, "shared" by a block, "interleaved": those of all
              threads side by side, or "growing": of a thread, with other memory when it is longer
    distance  of two numbers of one thread, if they are interleaved
    first     how long a growing one is at first
    counted   whether indices count from its start alone, and are never negative
    """

    name: str
    pointer: str
    dtype: Dtype
    lengths: tuple[CValue, ...]
    where: str = "global"
    distance: str = ""
    first: int = 0
    counted: bool = False

    @property
    def count(self) -> int:
        """How many numbers it has, if that is known."""
        return math.prod(int(n.known or 0) for n in self.lengths)

    def part_at(self, offset: CValue, axes: int) -> CArray:
        """The part of the array that begins at an offset, without the first axes."""
        return replace(
            self, pointer=f"{self.pointer} + {offset.operand(SUM)}", lengths=self.lengths[axes:]
        )


Meaning = CValue | CArray | tuple[Any, ...] | Dtype
