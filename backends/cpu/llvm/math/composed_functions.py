"""Composes functions of one or two floats from simpler ones in LLVM code, as NumPy has them.

sign(x)      becomes      1.0 if x > 0 else -1.0 if x < 0 else 0.0 if x == 0 else x
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from tapeless.backends.cpu.llvm.math.simd_calls import call_math


def floor_divide(builder: Any, a: Any, b: Any, features: str) -> Any:
    """a // b, rounded to the whole number that the remainder belongs to."""
    zero, unit = _constant(a, 0.0), _constant(a, 1.0)
    rest, apart = c_remainder(builder, a, b, features)
    exact = builder.fdiv(builder.fsub(a, rest), b)
    exact = builder.select(apart, builder.fsub(exact, unit), exact)
    low = _intrinsic(builder, "floor", exact)
    above = builder.fcmp_ordered(">", builder.fsub(exact, low), _constant(a, 0.5))
    result = builder.select(above, builder.fadd(low, unit), low)
    plain = builder.fdiv(a, b)
    signed = _intrinsic(builder, "copysign", zero, plain)
    result = builder.select(builder.fcmp_ordered("==", exact, zero), signed, result)
    return builder.select(builder.fcmp_ordered("==", b, zero), plain, result)


def remainder(builder: Any, a: Any, b: Any, features: str) -> Any:
    """a % b, with the sign of b; NaN where b is zero."""
    rest, apart = c_remainder(builder, a, b, features)
    result = builder.select(apart, builder.fadd(rest, b), rest)
    none = builder.fcmp_ordered("==", rest, _constant(a, 0.0))
    return builder.select(none, _intrinsic(builder, "copysign", _constant(a, 0.0), b), result)


def c_remainder(builder: Any, a: Any, b: Any, features: str) -> tuple[Any, Any]:
    """What C's division leaves, and whether it has another sign than the divisor."""
    zero, rest = _constant(a, 0.0), call_math(builder, "fmod", [a, b], features)
    signs = [builder.fcmp_ordered("<", x, zero) for x in (rest, b)]
    some = builder.fcmp_unordered("!=", rest, zero)
    return rest, builder.and_(some, builder.xor(*signs))


def sign(builder: Any, x: Any) -> Any:
    zero = _constant(x, 0.0)
    result = builder.select(builder.fcmp_ordered("==", x, zero), zero, x)
    result = builder.select(builder.fcmp_ordered("<", x, zero), _constant(x, -1.0), result)
    return builder.select(builder.fcmp_ordered(">", x, zero), _constant(x, 1.0), result)


def fmax(builder: Any, x: Any, y: Any) -> Any:
    """The larger one; NaN only if both are."""
    return _unless_nan(builder, ">=", x, y)


def fmin(builder: Any, x: Any, y: Any) -> Any:
    return _unless_nan(builder, "<=", x, y)


def _unless_nan(builder: Any, order: str, x: Any, y: Any) -> Any:
    first = builder.fcmp_ordered(order, x, y)
    return builder.select(builder.or_(first, builder.fcmp_unordered("uno", y, y)), x, y)


def heaviside(builder: Any, x: Any, at_zero: Any) -> Any:
    zero = _constant(x, 0.0)
    result = builder.select(builder.fcmp_ordered("<", x, zero), zero, _constant(x, 1.0))
    result = builder.select(builder.fcmp_ordered("==", x, zero), at_zero, result)
    return builder.select(builder.fcmp_unordered("uno", x, x), x, result)


def log_sum(power: str, scale: float) -> Callable[..., Any]:
    """log(exp(x) + exp(y)), or the same with base 2.

    power  the function of `math` whose values are added up
    scale  1 / log(base)
    """

    def function(builder: Any, x: Any, y: Any, features: str) -> Any:
        larger = builder.select(builder.fcmp_ordered(">", x, y), x, y)
        apart = builder.fneg(_intrinsic(builder, "fabs", builder.fsub(x, y)))
        inner = call_math(builder, power, [apart], features)
        more = call_math(builder, "log1p", [inner], features)
        result = builder.fadd(larger, builder.fmul(_constant(x, scale), more))
        twice = builder.fadd(x, _constant(x, scale * math.log(2.0)))
        return builder.select(builder.fcmp_ordered("==", x, y), twice, result)

    return function


PLAIN: dict[Any, tuple[Callable[..., Any], int]] = {
    np.sign: (sign, 1),
    np.fmax: (fmax, 2),
    np.fmin: (fmin, 2),
    np.heaviside: (heaviside, 2),
}
#: Functions of two numbers that call functions with SIMD versions
CALLING: dict[Any, Callable[..., Any]] = {
    np.fmod: lambda builder, x, y, features: call_math(builder, "fmod", [x, y], features),
    np.logaddexp: log_sum("exp", 1.0),
    np.logaddexp2: log_sum("exp2", 1 / math.log(2.0)),
}


def _constant(like: Any, x: float) -> Any:
    return ir.Constant(like.type, x)


def _intrinsic(builder: Any, name: str, *args: Any) -> Any:
    kind = args[0].type
    signature = ir.FunctionType(kind, [kind] * len(args))
    return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [kind], signature), args)
