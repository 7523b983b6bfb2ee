"""Implements functions of Python's numbers: `math.isclose`, `round` of integers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it


def _isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError("tolerances must be non-negative")
    if a == b:  # infinite ones too
        return True
    if not (np.isfinite(a) and np.isfinite(b)):
        return False
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


def rounded_integer(n: Any, digits: int) -> Any:
    """round(n, digits) of an integer: to a multiple of a power of ten, halves to even ones."""
    if digits >= 0:
        return n
    unit = 10**-digits
    rest = n % unit
    up = 2 * rest > unit or (2 * rest == unit and n // unit % 2 == 1)
    return n - rest + (unit if up else 0)


def _remainder(x: Any, y: Any, /) -> Any:
    """The difference of x from the nearest multiple of y, the even one of two: without rounding."""
    if math.isnan(x) or math.isnan(y):
        return x + y
    if math.isinf(x) or y == 0.0:
        raise ValueError("math domain error")
    size, divisor = abs(x), abs(y)
    rest = math.fmod(size, divisor) if math.isfinite(y) else size * 1.0
    beyond = divisor - rest
    if rest < beyond:
        nearest = rest
    elif rest > beyond:
        nearest = -beyond
    else:
        nearest = rest - 2.0 * math.fmod(0.5 * (size - rest), divisor)
    return math.copysign(1.0, x) * nearest


NUMPY: dict[Any, Any] = {math.isclose: _isclose, math.remainder: _remainder}
