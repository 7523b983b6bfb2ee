"""Computes the remainder of a division in LLVM's instructions, of numbers or vectors: exact, as C's
fmod.

x - n y, rounded once, with n the quotient without its fraction. Where the quotient was rounded up
to the next integer, that is y too small, and is exact, too (Sterbenz' lemma), as long as quotients
are below a limit.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from tapeless.backends.cpu.llvm.math.formula_language import (
    DOUBLE,
    SINGLE,
    constant,
    intrinsic,
    scalar,
    type_like,
)

#: Of quotients: integers below are at least two units in the last place apart.
LIMIT = {SINGLE: 2.0**23, DOUBLE: 2.0**52}


def fmod_below_limit(builder: Any, x: Any, y: Any) -> Any:
    """What is left of x by y, with the sign of x, of quotients whose size is below LIMIT."""
    n = intrinsic(builder, "trunc", builder.fdiv(x, y))
    rest = intrinsic(builder, "fma", builder.fneg(n), y, x)
    size = intrinsic(builder, "fabs", y)
    up = builder.fadd(rest, intrinsic(builder, "copysign", size, x))
    rest = builder.select(_has_other_sign(builder, rest, x), up, rest)
    below = builder.fcmp_ordered("<", intrinsic(builder, "fabs", x), size)
    return intrinsic(builder, "copysign", builder.select(below, x, rest), x)


def is_beyond_limit(builder: Any, x: Any, y: Any) -> Any:
    """Whether a quotient is too large, infinite, or none."""
    size = intrinsic(builder, "fabs", builder.fdiv(x, y))
    return builder.fcmp_unordered(">=", size, constant(x.type, LIMIT[scalar(x.type)]))


def _has_other_sign(builder: Any, rest: Any, x: Any) -> Any:
    """Whether a number that is not zero has another sign than x."""
    integers = type_like(ir.IntType(32 if scalar(x.type) == SINGLE else 64), x.type)
    bits = builder.xor(*(builder.bitcast(v, integers) for v in (rest, x)))
    signs = builder.icmp_signed("<", bits, constant(integers, 0))
    return builder.and_(signs, builder.fcmp_unordered("!=", rest, constant(x.type, 0.0)))
