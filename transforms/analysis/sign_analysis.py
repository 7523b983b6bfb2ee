"""Propagates signs, zeros and poles from the operands of an operation to its result.

1 + x**2      is positive, and never zero: x**2 is not negative
x / y         may be infinite: y may be zero
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Let, Literal, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.ops.linalg.norms import norm
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.numpy.diagonals import tril, triu
from tapeless.transforms.ops.numpy.flipping import roll
from tapeless.transforms.ops.numpy.padding import pad
from tapeless.transforms.ops.numpy.reductions import amax, amin, mean, std, var
from tapeless.transforms.ops.primitives import elementwise, shapes
from tapeless.transforms.ops.primitives.arithmetic import (
    add,
    floordiv,
    fmod,
    mod,
    mul,
    neg,
    sub,
    truediv,
)
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    greater,
    greater_equal,
    isfinite,
    isinf,
    less,
    less_equal,
    not_equal,
)
from tapeless.transforms.ops.primitives.constant_folding import is_number
from tapeless.transforms.ops.primitives.elementwise import (
    absolute,
    arccos,
    arccosh,
    arcsin,
    cbrt,
    conjugate,
    cosh,
    exp,
    exp2,
    float_power,
    fmax,
    fmin,
    hypot,
    maximum,
    minimum,
    power,
    real,
    sqrt,
)
from tapeless.transforms.ops.primitives.function_calls import CALLS, unbundle
from tapeless.transforms.ops.primitives.identities import again, identity
from tapeless.transforms.ops.primitives.joining import array, concatenate, stack_op
from tapeless.transforms.ops.primitives.new_arrays import eye, full, tri, zeros
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import broadcast_to, cast, copy, reshape, transpose
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, gather, index, update
from tapeless.transforms.ops.primitives.stacks import POPS, peek, push, set_item, unstack
from tapeless.transforms.ops.primitives.strong_zero import strong_both, strong_div, strong_mul

#: Facts, as bits. Without any, a value may be zero, is finite, and is no choice.
INFINITE = 1  # may be infinite or nan although what the program is given is finite
NONZERO = 2
POSITIVE = 4  # or zero
CHOSEN = 8  # may be exactly zero because the program chose so, not because of what it computed
INDICATOR = 16  # only zeros and ones, which do not change
EXTREME = 32  # the largest or smallest of values
SOME = 64  # not negative, and at least one element is not zero, if there is one
LEVEL = 128  # at least one element is zero: what is less than the largest one by
UNREAD = 256  # an array of which an element may be zero since nobody read or kept it
ROOT = 512  # made of a root, which has an infinite slope where it is zero
EVERYWHERE = 1024  # as INFINITE, but then in all elements: a number that may be zero divides them
PARTLY = 2048  # an array with zeros beside elements that somebody read: a triangle
ABOVE = NONZERO | POSITIVE
ZERO = CHOSEN | UNREAD | PARTLY
POLE = INFINITE | EVERYWHERE
STEEP = POLE | ROOT

ROOTS = frozenset([cbrt, hypot, norm, std, arcsin, arccos, arccosh, float_power])
#: Those whose elements are elements of their argument.
PARTS = frozenset([index, gather, real, conjugate])
WHOLE = frozenset([identity, again, reshape, transpose, broadcast_to, copy])
MOVES = PARTS | WHOLE | {roll}
#: Those that put zeros beside what they are given, or where it was.
AROUND = frozenset([triu, tril, pad])
#: Those that put arrays beside others, of which each may be infinite as a whole.
JOINS = frozenset([update, add_at, array, stack_op, concatenate, push, set_item])
#: Those through which a tangent may get exactly zero.
CHOICES = AROUND | {
    zeros,
    *CALLS.values(),
    select,
    maximum,
    minimum,
    fmax,
    fmin,
    update,
    add_at,
}


def of_number(value: Any) -> int:
    """What is known of a constant; of None, which stands for no value, that it is no number."""
    if value is None or not value:
        return CHOSEN | (0 if value is None else POSITIVE)
    if isinstance(value, (str, bytes, complex, np.complexfloating)):
        return NONZERO
    sign = POSITIVE if value > 0 else 0
    return sign | NONZERO | (0 if isinstance(value, int) or np.isfinite(value) else INFINITE)


def of_result(let: Let, facts: list[int]) -> int:
    """What is known of the result of a statement, for what is known of its operands."""
    op, may = let.op, reduce(int.__or__, facts, 0)
    if op in JOINS and may & EVERYWHERE:
        may |= INFINITE
    if op in RULES:
        return RULES[op](let, facts) | may & STEEP
    if op in MOVES:
        return facts[0] & ~(SOME | LEVEL if op in PARTS else 0)
    if is_truth(let.outs[0]):
        return INDICATOR | CHOSEN | (SOME if may & EXTREME else 0)
    pole = _has_pole(let, facts)
    of_variables = (k for a, k in zip(let.args, facts, strict=True) if isinstance(a, Var))
    chosen = CHOSEN if op is zeros else reduce(int.__or__, of_variables, 0) & ZERO
    if op in AROUND:
        chosen |= PARTLY
    root = ROOT if op in ROOTS else 0
    return chosen | may & STEEP | root | (INFINITE if pole else 0)


def _has_pole(let: Let, facts: list[int]) -> bool:
    """Whether a result may be infinite or nan where the operands are finite."""
    op, result_type = let.op, let.outs[0].type
    if not (op.elementwise and isinstance(result_type, Type) and result_type.dtype.kind in "fc"):
        return False
    if op.finite == "always":
        return False
    if op in (mod, fmod, floordiv):
        return not facts[1] & NONZERO
    return not (op.finite == "positive" and facts[0] & ABOVE == ABOVE)


def of_one(a: int, b: int) -> int:
    """Of one of two values: what is sure of both, and what may be of either."""
    return (a & b & (ABOVE | INDICATOR)) | ((a | b) & (STEEP | ZERO))


def of_comparison(op: Op, bound: Atom, facts: int) -> tuple[int, int]:
    """What a comparison with `bound` says of a value, where it holds and where it does not."""
    if not facts & POSITIVE:
        return 0, 0
    low = facts & ABOVE
    zero = NONZERO if is_number(bound, 0) else 0
    table = {
        greater: (ABOVE, 0),
        greater_equal: (low, 0),
        less: (0, low),
        less_equal: (0, ABOVE),
        equal: (0, zero),
        not_equal: (zero, 0),
    }
    return table.get(op, (0, 0))


def asks_for_infinity(let: Let) -> bool:
    """Whether a statement tests if a value is infinite, which says that it may be."""
    if let.op in (isfinite, isinf):
        return True
    bound = let.args[1] if let.op in (equal, not_equal) else None
    return isinstance(bound, Literal) and bound.value in (np.inf, -np.inf)


def is_truth(a: Atom) -> bool:
    """Whether a value is one of truth values."""
    return getattr(a.type, "dtype", None) == np.dtype(bool)


def _is_real(a: Atom) -> bool:
    return bool(a.type.dtype.kind in "iuf")


def _both_zero(a: int, b: int) -> int:
    """What makes a sum zero: what makes both terms zero."""
    if not (a & ZERO and b & ZERO):
        return 0
    return a & b & (CHOSEN | PARTLY) or UNREAD


def _sum(let: Let, facts: list[int]) -> int:
    a, b = facts
    nonzero = NONZERO if a & b & POSITIVE and (a | b) & NONZERO else 0
    some = ABOVE | SOME if a & b & SOME else 0
    return a & b & POSITIVE | _both_zero(a, b) | nonzero | some


def _difference(let: Let, facts: list[int]) -> int:
    a, b = facts
    if is_number(let.args[0], 1) and b & INDICATOR:
        return INDICATOR | CHOSEN | POSITIVE
    return _both_zero(a, b) | (LEVEL if b & EXTREME else 0)


def _product(let: Let, facts: list[int]) -> int:
    a, b = facts
    square = POSITIVE if let.args[0] is let.args[1] and _is_real(let.args[0]) else 0
    return a & b & (ABOVE | INDICATOR) | square | (a | b) & (ZERO | LEVEL)


def _quotient(let: Let, facts: list[int]) -> int:
    a, b = facts
    pole = INFINITE if let.args[1].type.shape else EVERYWHERE
    return a & b & ABOVE | a & (ZERO | LEVEL) | (0 if b & NONZERO else pole)


def _power(let: Let, facts: list[int]) -> int:
    (x, n), a = let.args, facts[0]
    kept_facts = a & (ABOVE | ZERO)
    whole = n.type.dtype.kind in "iu" or (isinstance(n, Literal) and n.value % 1 == 0)
    if a & ABOVE == ABOVE:
        return kept_facts
    if not whole:
        return INFINITE | ROOT | kept_facts & ZERO
    if not isinstance(n, Literal):
        return kept_facts & ZERO  # taken for one that is not negative
    even = POSITIVE if n.value % 2 == 0 and _is_real(x) else 0
    return kept_facts | even | (0 if n.value >= 0 or a & NONZERO else INFINITE)


def _square(let: Let, facts: list[int]) -> int:
    return facts[0] & (NONZERO | ZERO) | (POSITIVE if _is_real(let.args[0]) else 0)


def _absolute(let: Let, facts: list[int]) -> int:
    return facts[0] & (NONZERO | ZERO) | POSITIVE


def _square_root(let: Let, facts: list[int]) -> int:
    (a,) = facts
    return POSITIVE | ROOT | a & (NONZERO | ZERO) | (0 if a & POSITIVE else INFINITE)


def _larger(let: Let, facts: list[int]) -> int:
    a, b = facts
    sure = NONZERO if ABOVE in (a & ABOVE, b & ABOVE) else 0
    return (a | b) & POSITIVE | sure | _both_zero(a, b) | EXTREME


def _total(let: Let, facts: list[int]) -> int:
    return facts[0] & (POSITIVE | ZERO) | (ABOVE if facts[0] & SOME else 0)


def _update(let: Let, facts: list[int]) -> int:
    """Where zeros are stored by a mask, the program chooses."""
    stored = CHOSEN if any(map(is_truth, let.args[2:])) else UNREAD
    return facts[0] & ZERO | (stored if facts[1] & ZERO else 0)


def _cast(let: Let, facts: list[int]) -> int:
    return facts[0] | (INDICATOR | CHOSEN | POSITIVE if is_truth(let.args[0]) else 0)


def _constant_rule(always: int) -> Rule:
    return lambda let, facts: always


def _exponential(let: Let, facts: list[int]) -> int:
    return POSITIVE | (SOME if facts[0] & LEVEL else 0)


def _elements(let: Let, facts: list[int]) -> int:
    return reduce(of_one, facts) if facts else 0


Rule = Callable[[Let, list[int]], int]
RULES: dict[Op, Rule] = {
    add: _sum,
    sub: _difference,
    mul: _product,
    truediv: _quotient,
    neg: lambda let, found: found[0] & (NONZERO | ZERO | LEVEL),
    power: _power,
    elementwise.square: _square,
    absolute: _absolute,
    sqrt: _square_root,
    select: lambda let, found: of_one(*found[1:]),
    maximum: _larger,
    shapes.sum: _total,
    mean: _total,
    # elements of a product are sums: zeros beside a triangle leave none of them zero
    matmul: lambda let, found: (found[0] | found[1]) & ZERO & ~PARTLY,
    amax: lambda let, found: found[0] & (ABOVE | ZERO) | EXTREME,
    amin: lambda let, found: found[0] & (ABOVE | ZERO) | EXTREME,
    cast: _cast,
    **dict.fromkeys([array, stack_op, concatenate, full], _elements),
    **dict.fromkeys([norm, std], _constant_rule(POSITIVE | ROOT)),
    var: _constant_rule(POSITIVE),
    **dict.fromkeys([exp, exp2], _exponential),
    **dict.fromkeys([size_value, cosh], _constant_rule(ABOVE)),
    **dict.fromkeys([eye, tri], _constant_rule(INDICATOR | PARTLY | POSITIVE)),
    **dict.fromkeys(CALLS.values(), _constant_rule(CHOSEN)),
    unbundle: _constant_rule(CHOSEN | INFINITE),  # what another function saved, or its cotangent
    **dict.fromkeys([*POPS, peek, unstack], _constant_rule(UNREAD)),
    **dict.fromkeys([strong_mul, strong_both], _constant_rule(CHOSEN)),
    strong_div: lambda let, found: CHOSEN | (0 if found[1] & NONZERO else INFINITE),
    add_at: lambda let, found: UNREAD if found[0] & ZERO else 0,
    update: _update,
}
