"""Computes the exponential, the logarithm and the square root of complex numbers in LLVM code, with
NumPy's values at infinities and NaN (ISO C, Annex G.6) and without overflow on the way.

exp(x + yi)      becomes      (exp(x) * cos(y), exp(x) * sin(y))
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.backends.cpu.llvm.ir.complex_values import make_complex, parts
from tapeless.backends.cpu.llvm.math.formula_language import DOUBLE, SINGLE, intrinsic
from tapeless.backends.cpu.llvm.math.simd_calls import call_math, sine_and_cosine

#: Beyond, the exponential is the square of that of half the number.
LARGE_EXPONENT = {SINGLE: 80.0, DOUBLE: 700.0}
#: Sizes whose sums may be infinite, and sizes that have few bits; by what they are multiplied.
HUGE = {SINGLE: 2.0**120, DOUBLE: 2.0**1000}
TINY = {SINGLE: 2.0**-100, DOUBLE: 2.0**-900}
REDUCED, ENLARGED = 2.0**-4, 2.0**60
#: Sizes between which the logarithm is that of the square's distance from 1.
NEAR_ONE = (0.6, 1.7)


def exponential(builder: Any, z: Any, features: str) -> Any:
    (x, y), kind = parts(builder, z), z.type.elements[0]
    cosine, sine = _circular(builder, y, features)
    size = intrinsic(builder, "fabs", x)
    far = builder.fcmp_ordered(">", size, kind(LARGE_EXPONENT[kind]))
    power = call_math(
        builder, "exp", [builder.select(far, builder.fmul(x, kind(0.5)), x)], features
    )
    again = builder.select(far, power, kind(1.0))
    real, imag = (builder.fmul(builder.fmul(power, v), again) for v in (cosine, sine))
    imag = builder.select(builder.fcmp_ordered("==", y, kind(0.0)), y, imag)
    endless = builder.fcmp_ordered("==", size, kind(math.inf))
    turning = builder.fcmp_unordered("uno", cosine, cosine)  # y is infinite, or NaN
    limit = builder.select(builder.fcmp_ordered(">", x, kind(0.0)), x, kind(0.0))
    at_end = builder.and_(endless, turning)
    vanishing = builder.and_(at_end, builder.fcmp_ordered("<", x, kind(0.0)))
    real = builder.select(at_end, limit, real)
    return make_complex(builder, real, builder.select(vanishing, kind(0.0), imag))


def _circular(builder: Any, y: Any, features: str) -> tuple[Any, Any]:
    """The cosine and the sine."""
    both = sine_and_cosine(builder, y, features)
    if both is not None:
        return both[1], both[0]
    return call_math(builder, "cos", [y], features), call_math(builder, "sin", [y], features)


def logarithm(builder: Any, z: Any, features: str) -> Any:
    """Near the unit circle it is that of the square's distance from 1, which does not cancel."""
    (x, y), kind = parts(builder, z), z.type.elements[0]
    a, b, huge, tiny = _scaled_sizes(builder, x, y)
    size = call_math(builder, "hypot", [a, b], features)
    swapped = builder.fcmp_ordered("<", a, b)
    a, b = builder.select(swapped, b, a), builder.select(swapped, a, b)
    above, below = (
        builder.fcmp_ordered(sign, size, kind(v)) for sign, v in zip("><", NEAR_ONE, strict=True)
    )
    near = builder.and_(above, below)
    product = builder.fmul(builder.fsub(a, kind(1.0)), builder.fadd(a, kind(1.0)))
    distance = builder.select(near, intrinsic(builder, "fma", b, b, product), kind(0.0))
    by_distance = builder.fmul(kind(0.5), call_math(builder, "log1p", [distance], features))
    real = builder.select(near, by_distance, call_math(builder, "log", [size], features))
    lost = builder.select(tiny, kind(-math.log(ENLARGED)), kind(0.0))
    lost = builder.select(huge, kind(-math.log(REDUCED)), lost)
    real = builder.fadd(real, lost)
    return make_complex(builder, real, call_math(builder, "atan2", [y, x], features))


def square_root(builder: Any, z: Any, features: str) -> Any:
    """The root with a real part that is not negative."""
    (x, y), kind = parts(builder, z), z.type.elements[0]
    a, b, huge, tiny = _scaled_sizes(builder, x, y)
    half = builder.fmul(kind(0.5), builder.fadd(a, call_math(builder, "hypot", [a, b], features)))
    root = intrinsic(builder, "sqrt", half)
    other = builder.fdiv(b, builder.fmul(kind(2.0), root))
    other = builder.select(builder.fcmp_ordered("==", half, kind(0.0)), kind(0.0), other)
    back = builder.select(tiny, kind(1 / math.sqrt(ENLARGED)), kind(1.0))
    back = builder.select(huge, kind(1 / math.sqrt(REDUCED)), back)
    root, other = builder.fmul(root, back), builder.fmul(other, back)
    negative = builder.fcmp_ordered("<", x, kind(0.0))
    real, imag = builder.select(negative, other, root), builder.select(negative, root, other)
    endless = builder.fcmp_ordered("==", b, kind(math.inf))
    real, imag = (builder.select(endless, kind(math.inf), v) for v in (real, imag))
    return make_complex(builder, real, intrinsic(builder, "copysign", imag, y))


def _scaled_sizes(builder: Any, x: Any, y: Any) -> tuple[Any, Any, Any, Any]:
    """The sizes of both parts, made smaller where they are huge and larger where they are tiny,
    and whether they are."""
    kind = x.type
    a, b = (intrinsic(builder, "fabs", v) for v in (x, y))
    larger = builder.select(builder.fcmp_ordered(">", a, b), a, b)
    huge = builder.fcmp_ordered(">", larger, kind(HUGE[kind]))
    tiny = builder.fcmp_ordered("<", larger, kind(TINY[kind]))
    scale = builder.select(tiny, kind(ENLARGED), kind(1.0))
    scale = builder.select(huge, kind(REDUCED), scale)
    return builder.fmul(a, scale), builder.fmul(b, scale), huge, tiny


FUNCTIONS: dict[Any, Callable[[Any, Any, str], Any]] = {
    np.exp: exponential,
    np.log: logarithm,
    np.sqrt: square_root,
}
