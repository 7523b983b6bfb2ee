"""Batches Python's integers that differ by element: arrays of int64, which behave like Python's
numbers.

u + k, u of uint8      becomes, for a batch of k,      if np.any((k < 0) | (k > 255)): raise ...
                                                       u + k.astype(np.uint8)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import current, defining_statement, size_of
from tapeless.transforms.core.language import Atom, Let, Literal, Type
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.ops.numpy.run_time_errors import raise_first, raise_where
from tapeless.transforms.ops.primitives.arithmetic import add, floordiv, mod, mul, sub, truediv
from tapeless.transforms.ops.primitives.batch_rules import Axes
from tapeless.transforms.ops.primitives.comparisons_and_rounding import (
    equal,
    greater,
    greater_equal,
    isnan,
    left_shift,
    less,
    less_equal,
    logical_or,
    not_equal,
    right_shift,
)
from tapeless.transforms.ops.primitives.dtypes import PYTHON
from tapeless.transforms.ops.primitives.elementwise import absolute, ldexp, power
from tapeless.transforms.ops.primitives.joining import array
from tapeless.transforms.ops.primitives.new_arrays import full
from tapeless.transforms.ops.primitives.selection import refuses_integers, select
from tapeless.transforms.ops.primitives.shapes import Atoms, cast, cast_to
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, update

COMPARISONS = (less, less_equal, greater, greater_equal, equal, not_equal)
#: What may leave 64 bits, as it is computed in floats.
GROWING = (add, sub, mul, power, left_shift)
SHIFTS = (left_shift, right_shift)
DIVIDING = (truediv, floordiv, mod)
#: What puts numbers into arrays.
STORING = (update, add_at, array, full, cast)
SMALL, BEYOND = 2**32, 2.0**63
NAN = "cannot convert float NaN to integer"
TOO_LONG = "vmap: an integer of more than 64 bits: use floats"


def kept_kinds(s: Let, args: Atoms, axes: Axes) -> Atoms:
    """Python numbers adapt to arrays (NEP 50); a batch of them is an array, which is cast."""
    if s.op is ldexp:
        return args  # its integers are no numbers of the array
    places = range(1 if s.op is select else 0, len(args))
    types: list[Type] = [s.args[k].type for k in places]
    adapting = [k for k in places if s.args[k].type.weak and axes[k] is not None]
    if not adapting:
        return args
    firm = [t.dtype for t in types if not t.weak]
    numbers = [PYTHON[t.dtype.kind](0) for t in types if t.weak]
    kind = np.result_type(*firm, *numbers)
    if not firm and kind.kind == "b" and s.outs[0].type.dtype.kind != "b":
        kind = s.outs[0].type.dtype  # True + True is 2
    if kind.kind in "iu" and s.op in COMPARISONS:
        return args  # NumPy compares integers as numbers, whatever their dtypes
    result_args = list(args)
    for k in adapting:
        if s.op is not select or refuses_integers():
            _check_bounds(args[k], kind)
        result_args[k] = cast_to(args[k], kind)
    return tuple(result_args)


def check_stored(s: Let, args: Atoms, axes: Axes) -> None:
    """OverflowError where an array is made of integers that its dtype does not hold."""
    if s.op in STORING:
        operands_stored = range(1, 2) if s.op in (update, add_at) else range(len(args))
        for k in operands_stored:
            if s.args[k].type.weak and axes[k] is not None:
                _check_bounds(args[k], s.outs[0].type.dtype)


def _check_bounds(a: Atom, dtype: np.dtype[Any]) -> None:
    """OverflowError if a batch of integers has one that an array of this dtype does not take."""
    if dtype.kind not in "iu" or a.type.dtype != INT.dtype or dtype == INT.dtype:
        return
    limits = np.iinfo(dtype)
    numbers = _numbers(a)
    if numbers and all(limits.min <= k <= limits.max for k in numbers):
        return
    outside = less(a, int(limits.min))
    if limits.max < np.iinfo(INT.dtype).max:
        outside = logical_or(outside, greater(a, int(limits.max)))
    raise_where(outside, OverflowError, f"Python integer out of bounds for {dtype}")


def _numbers(a: Atom) -> list[int]:
    """The integers of which each number of a batch is one; none if they are not known."""
    if isinstance(a, Literal):
        return [int(a.value)]
    let = defining_statement(a)
    if let is None or let.op is not select:
        return []
    choices = [_numbers(x) for x in let.args[1:]]
    return [k for part in choices for k in part] if all(choices) else []


def may_grow(s: Let) -> bool:
    """Whether a result is an integer of Python's that may leave 64 bits."""
    if s.op not in GROWING:
        return False
    out = s.outs[0].type
    if not out.weak or out.dtype != INT.dtype:
        return False
    steps = any(isinstance(a, Literal) and abs(a.value) < SMALL for a in s.args)
    return not (steps and s.op in (add, sub))  # it would take years to get there


def may_divide_by_zero(s: Let) -> bool:
    """Whether a division is one by an integer of Python's that may be zero."""
    if s.op not in DIVIDING or not s.outs[0].type.weak or s.args[1].type.dtype != INT.dtype:
        return False
    divisor = s.args[1]
    return not (isinstance(divisor, Literal) and divisor.value)


def check_divisor(s: Let, args: Atoms) -> None:
    """ZeroDivisionError where an integer of Python's that divides others is zero."""
    by = args[1] if may_divide_by_zero(s) else None
    if by is None or (not by.type.shape and current().at_least(size_of(by), 1).certain):
        return
    raise_where(equal(by, 0), ZeroDivisionError, "division by zero")


def check_growth(s: Let, args: Atoms) -> None:
    """OverflowError where integers that have no bounds in Python would leave 64 bits."""
    if not may_grow(s):
        return
    x, y = cast_to(args[0], np.dtype(float)), args[1]
    size = absolute(mul(x, power(2.0, y)) if s.op is left_shift else s.op(x, y))
    raise_where(greater_equal(size, BEYOND), OverflowError, TOO_LONG)


def check_shift(s: Let, args: Atoms) -> None:
    """ValueError where an integer of Python's is shifted by fewer bits than none."""
    if not (s.op in SHIFTS and s.outs[0].type.weak):
        return
    count = args[1]
    if count.type.shape or not current().at_least(size_of(count), 0).certain:
        raise_where(less(count, 0), ValueError, "negative shift count")


def may_be_no_integer(s: Let) -> bool:
    """Whether a float becomes an integer of Python's, which nan and infinities do not, or an
    unsigned one of 64 bits, which a signed one may not hold."""
    return (
        s.op is cast
        and s.outs[0].type.weak
        and s.outs[0].type.dtype == INT.dtype
        and (s.args[0].type.dtype.kind == "f" or s.args[0].type.dtype == np.uint64)
    )


def check_whole(s: Let, args: Atoms) -> None:
    """The error of the first number that is no integer of 64 bits where int() is taken of it."""
    if not may_be_no_integer(s):
        return
    if args[0].type.dtype.kind == "u":
        raise_where(greater(args[0], int(np.iinfo(INT.dtype).max)), OverflowError, TOO_LONG)
    else:
        fine = less(absolute(args[0]), BEYOND)
        raise_first(fine, isnan(args[0]), (ValueError, NAN), (OverflowError, TOO_LONG))
