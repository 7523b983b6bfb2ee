"""Computes the Threefry-2x32 block cipher as plain NumPy code: random words for counts, and keys of
them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeless.transforms.ops.primitives.module_functions import threefry2x32

__staged__ = True  # plain NumPy code: a staged run enters it


def bits_of_counts(key: Any, size: Any) -> Any:
    """64 random bits for each of the counts 0, 1, 2, ..."""
    return threefry2x32(key[0:1], key[1:2], np.arange(size, dtype=np.uint64))


def words_of(bits: Any) -> tuple[Any, Any]:
    """The two words of 64 bits."""
    return (bits >> np.uint64(32)).astype(np.uint32), bits.astype(np.uint32)


def bits_of(bits: Any, width: int) -> Any:
    """Random unsigned integers of 8, 16, 32 or 64 bits of 64 bits."""
    if width == 64:
        return bits
    first, second = words_of(bits)
    return (first ^ second).astype(f"u{width // 8}")


def split_key(key: Any, shape: Any = (2,)) -> Any:
    """New keys, an array of shape (*shape, 2)."""
    words = words_of(bits_of_counts(key, math.prod(shape)))
    return np.reshape(np.stack(words, axis=-1), (*shape, 2))


def fold_word(key: Any, word: Any) -> Any:
    """The key that belongs to a key and a uint32 word."""
    count = np.reshape(word, (1,)).astype(np.uint64)
    return np.concatenate(words_of(threefry2x32(key[0:1], key[1:2], count)))
