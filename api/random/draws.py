"""Random bits and uniform numbers, for the functions of this package: a key that is checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.random.blocks import bits_array, unit_array, words_array
from tapeless.random.threefry import bits_of, counted, split_key
from tapeless.transforms.core.builder import active

__staged__ = True  # plain NumPy code: a staged run enters it


def words(key: Any, shape: Any) -> Any:
    """Two arrays of random uint32 words."""
    return counted(key, shape) if active() else words_array(key, shape)


def bits(key: Any, shape: Any, width: int) -> Any:
    """Random unsigned integers of 8, 16, 32 or 64 bits."""
    return bits_of(*counted(key, shape), width) if active() else bits_array(key, shape, width)


def split(key: Any, shape: Any = (2,)) -> Any:
    """New keys, an array of shape (*shape, 2)."""
    return split_key(key, shape)


def unit(key: Any, shape: Any, dtype: Any) -> Any:
    """Uniform numbers in [0, 1)."""
    return mapped(key, shape, dtype, lambda u: u)


def mapped(key: Any, shape: Any, dtype: Any, transform: Callable[[Any], Any]) -> Any:
    """`transform`, which must be elementwise, of uniform numbers in [0, 1)."""
    if active():
        width, nmant = np.finfo(dtype).bits, np.finfo(dtype).nmant
        return transform(unit_of(bits(key, shape, width), dtype, width, nmant))
    return unit_array(key, shape, dtype, transform)


def unit_of(words: Any, dtype: Any, width: int, nmant: int) -> Any:
    """The top bits of unsigned integers as the mantissa of numbers in [0, 1)."""
    top = words >> words.dtype.type(width - nmant)
    return top.astype(dtype) * dtype.type(2.0**-nmant)


def between(key: Any, shape: Any, dtype: Any, low: Any, high: Any) -> Any:
    """Uniform numbers in [low, high); rounding may reach below `low`, hence the maximum."""
    return np.maximum(low, unit(key, shape, dtype) * (high - low) + low)
