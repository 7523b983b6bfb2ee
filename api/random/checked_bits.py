"""Draws random bits and uniform numbers from checked keys, for the functions of this package."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.random.fused_multiply_add import multiply_add
from tapeless.random.threefry import bits_of, bits_of_counts, split_key
from tapeless.random.threefry_blocks import bits_array, unit_array
from tapeless.transforms.core.builder import active
from tapeless.transforms.ops.primitives import module_functions

__staged__ = True  # plain NumPy code: a staged run enters it


def bits(key: Any, shape: Any, width: int) -> Any:
    """Random unsigned integers of 8, 16, 32 or 64 bits."""
    if active():
        return in_shape(bits_of(bits_of_counts(key, math.prod(shape)), width), shape)
    return bits_array(key, shape, width)


def in_shape(x: Any, shape: Any) -> Any:
    """A line of numbers in a shape; last, so that all before is one loop when it is compiled."""
    return x if len(shape) == 1 else np.reshape(x, shape)


def split(key: Any, shape: Any = (2,)) -> Any:
    """New keys, an array of shape (*shape, 2)."""
    return split_key(key, shape)


def unit(key: Any, shape: Any, dtype: Any) -> Any:
    """Uniform numbers in [0, 1)."""
    return map_uniform(key, shape, dtype, lambda u: u)


def map_uniform(key: Any, shape: Any, dtype: Any, transform: Callable[[Any], Any]) -> Any:
    """`transform`, which must be elementwise, of uniform numbers in [0, 1)."""
    if not active():
        return unit_array(key, shape, dtype, transform)
    return in_shape(transform(unit_of(bits_of_counts(key, math.prod(shape)), dtype)), shape)


def unit_of(bits: Any, dtype: Any) -> Any:
    """Of 64 random bits the mantissa of numbers in [0, 1); nothing is rounded."""
    nmant, width = np.finfo(dtype).nmant, 8 * dtype.itemsize
    if width == 64:
        return module_functions.unit_of(bits)
    top = bits_of(bits, width)
    return (top >> top.dtype.type(width - nmant)).astype(dtype) * dtype.type(2.0**-nmant)


def uniform_between(key: Any, shape: Any, dtype: Any, low: Any, high: Any) -> Any:
    """Uniform numbers in [low, high); rounding may reach below `low`, hence the maximum."""
    return np.maximum(low, unit(key, shape, dtype) * (high - low) + low)


def uniform_scaled(key: Any, shape: Any, dtype: Any, low: Any, high: Any) -> Any:
    """As `uniform_between`, rounded once only: the bits of XLA."""
    return np.maximum(low, multiply_add(unit(key, shape, dtype), high - low, low))
