"""Draws random numbers by the C functions of NumPy's generators.

x = rng.normal(0.0, s)      becomes      x = random_normal(bits, 0.0, s)

They are the functions that the methods of `np.random.Generator` call, so the numbers are the same
to the last bit, and the generator goes on from where they left it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from tapeless.backends.cpu.llvm.ir.ir_helpers import declare, variable
from tapeless.backends.cpu.llvm.ir.values import (
    POINTER,
    STATUS,
    WORD,
    LlvmUnsupportedError,
    Number,
    Stream,
    cast,
)
from tapeless.backends.cpu.runtime.random_functions import COUNTS, REALS, symbol
from tapeless.transforms.lowering.scalars.arithmetic_dtypes import DOUBLE, INT


def draw(builder: Any, stream: Stream, method: str, args: tuple[Number, ...]) -> Number:
    """One number of a method of a generator. The parameters are those that NumPy takes."""
    if method == "integers":
        return _draw_integer(builder, stream, *args)
    arity = {**REALS, **COUNTS}.get(method)
    if arity is None or len(args) != arity:
        raise LlvmUnsupportedError(f"{method} of a generator")
    values = [cast(builder, x, DOUBLE).value for x in args]
    if method == "uniform":
        low, high = values
        values = [low, builder.fsub(high, low)]
    result = ir.IntType(64) if method in COUNTS else ir.DoubleType()
    kind = ir.FunctionType(result, [POINTER, *[ir.DoubleType()] * arity])
    function = declare(builder.module, symbol(method), kind)
    dtype = INT if method in COUNTS else DOUBLE
    return Number(dtype, builder.call(function, [stream.address, *values]))


def _draw_integer(builder: Any, stream: Stream, low: Number, high: Number) -> Number:
    """An integer from `low` to below `high`, which is greater."""
    first, end = (cast(builder, x, INT).value for x in (low, high))
    most = builder.sub(builder.sub(end, first), WORD(1))
    place = variable(builder, WORD)
    params = [POINTER, WORD, WORD, WORD, STATUS, WORD.as_pointer()]
    function = declare(builder.module, symbol("integers"), ir.FunctionType(ir.VoidType(), params))
    builder.call(function, [stream.address, first, most, WORD(1), STATUS(0), place])
    return Number(INT, builder.load(place))
