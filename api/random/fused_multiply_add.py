"""Computes x * y + z with one rounding in plain NumPy, as compilers do where processors can.

The parts that products and sums lose are computed exactly (T. J. Dekker, Numerische Mathematik 18,
1971; D. E. Knuth, The Art of Computer Programming 2, 4.2.2).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transformations.public_functions import stop_gradient

__staged__ = True  # plain NumPy code: a staged run enters it

LARGE = 1e290  # nothing is known of what larger numbers lose
SPLIT = 2.0**27 + 1  # cuts a float64 into two halves of 26 bits


def multiply_add(x: Any, y: Any, z: Any) -> Any:
    """x * y + z of arrays of one float dtype; |x| is at most one."""
    rounded = x * y + z
    lost = _lost_of_double(x, y, z) if rounded.dtype == np.float64 else _lost(x, y, z, rounded)
    return rounded + stop_gradient(lost)


def _lost(x: Any, y: Any, z: Any, rounded: Any) -> Any:
    exact = x.astype(np.float64) * y.astype(np.float64) + z.astype(np.float64)
    return (exact - rounded.astype(np.float64)).astype(rounded.dtype)


def _lost_of_double(x: Any, y: Any, z: Any) -> Any:
    near = np.abs(y) < LARGE
    y = np.where(near, y, 0.0)
    product = x * y
    total = product + z
    x_high, y_high = _half(x), _half(y)
    x_low, y_low = x - x_high, y - y_high
    of_product = x_low * y_low - (((product - x_high * y_high) - x_low * y_high) - x_high * y_low)
    z_part = total - product
    of_sum = (product - (total - z_part)) + (z - z_part)
    return np.where(near, of_product + of_sum, 0.0)


def _half(x: Any) -> Any:
    large = SPLIT * x
    return large - (large - x)
