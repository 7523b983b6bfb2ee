"""Slices arrays in LLVM code: the same memory from another place on, with fewer axes or shorter
ones.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tapeless.backends.cpu.llvm.ir import values
from tapeless.backends.cpu.llvm.ir.values import (
    WORD,
    ArrayValue,
    LlvmUnsupportedError,
    Number,
    cast,
)
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import INT

Read = Callable[[ast.expr], Number]


def part(builder: Any, x: ArrayValue, index: list[ast.expr], read: Read) -> ArrayValue:
    """x[i], x[i:j] and such. Axes without an index are kept.

    read  the number that an expression stands for
    """
    if len(index) > len(x.shape):
        raise LlvmUnsupportedError("too many indices")
    strides = values.bytes_between(builder, x)
    offset: Any = WORD(0)
    shape, kept = [], []
    for e, n, step in zip(index, x.shape, strides, strict=False):
        if isinstance(e, ast.Slice):
            first, length = _bounds(builder, e, n, read)
            shape.append(length)
            kept.append(step)
        else:
            first = values.place(builder, read(e), n.value)
        offset = builder.add(offset, builder.mul(first, step, flags=("nsw",)), flags=("nsw",))
    whole = x.layout == "C" and not shape
    data = builder.gep(x.data, [offset], inbounds=True)
    shape += x.shape[len(index) :]
    kept += strides[len(index) :]
    layout = "C" if whole else "A"
    return ArrayValue(x.dtype, data, tuple(shape), tuple(kept), layout, x.aligned, x.readonly)


def _bounds(builder: Any, e: ast.Slice, n: Number, read: Read) -> tuple[Any, Number]:
    """Where a slice begins, and how long it is."""
    if e.step is not None:
        raise LlvmUnsupportedError("a slice with steps")
    first = WORD(0) if e.lower is None else _clipped_bound(builder, read(e.lower), n)
    last = n.value if e.upper is None else _clipped_bound(builder, read(e.upper), n)
    length = builder.sub(last, first, flags=("nsw",))
    some = builder.icmp_signed(">", length, WORD(0))
    return first, Number(INT, builder.select(some, length, WORD(0)), natural=True)


def _clipped_bound(builder: Any, i: Number, n: Number) -> Any:
    """A bound of a slice between 0 and the length."""
    if i.dtype.kind not in "iu":
        raise LlvmUnsupportedError("a slice of what are no integers")
    value = cast(builder, i, INT).value
    if not i.natural:
        back = builder.add(value, n.value)
        back = builder.select(builder.icmp_signed("<", back, WORD(0)), WORD(0), back)
        value = builder.select(builder.icmp_signed("<", value, WORD(0)), back, value)
    return builder.select(builder.icmp_signed(">", value, n.value), n.value, value)
