"""The Threefry-2x32 block cipher as plain NumPy code: two counter words to two random words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA  # of the key schedule, from Skein


def threefry2x32(k0: Any, k1: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    """Two random words for each pair of counter words; uint32 arrays that broadcast.

    Arrays, not scalars: NumPy warns where the sum of scalars wraps around.
    """
    keys = (k0, k1, k0 ^ k1 ^ np.uint32(PARITY))
    x0, x1 = x0 + k0, x1 + k1
    for four in range(5):
        for turn in ROTATIONS[four % 2]:
            x0 = x0 + x1
            x1 = ((x1 << np.uint32(turn)) | (x1 >> np.uint32(32 - turn))) ^ x0
        x0 = x0 + keys[(four + 1) % 3]
        x1 = x1 + (keys[(four + 2) % 3] + np.uint32(four + 1))
    return x0, x1


def counted(key: Any, size: Any) -> tuple[Any, Any]:
    """The words for the counters 0, 1, 2, ..."""
    count = np.arange(size, dtype=np.uint64)
    high, low = (count >> np.uint64(32)).astype(np.uint32), count.astype(np.uint32)
    return threefry2x32(key[0:1], key[1:2], high, low)


def bits_of(first: Any, second: Any, width: int) -> Any:
    """Random unsigned integers of 8, 16, 32 or 64 bits from two words."""
    if width == 64:
        return (first.astype(np.uint64) << np.uint64(32)) | second.astype(np.uint64)
    return (first ^ second).astype(f"u{width // 8}")


def split_key(key: Any, shape: Any = (2,)) -> Any:
    """New keys, an array of shape (*shape, 2)."""
    return np.reshape(np.stack(counted(key, math.prod(shape)), axis=-1), (*shape, 2))


def folded(key: Any, word: Any) -> Any:
    """The key that belongs to a key and a uint32 word."""
    word = np.reshape(word, (1,))
    first, second = threefry2x32(key[0:1], key[1:2], np.zeros(1, np.uint32), word)
    return np.concatenate((first, second))
