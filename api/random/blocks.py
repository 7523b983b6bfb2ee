"""Random words for large arrays outside of staged runs: in place, in blocks that fit the cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeless.transforms.ops.written_once import PARITY, ROTATIONS

BLOCK = 16384  # elements: the words of a block and their temporaries stay in the cache
Words = Any  # an array of uint32


def blocks(size: int) -> Iterator[tuple[int, int]]:
    """Start and stop of each block."""
    for start in range(0, size, BLOCK):
        yield start, min(start + BLOCK, size)


def mix(k0: Words, k1: Words, x0: Words, x1: Words, spare: Words) -> None:
    """Threefry-2x32 on two arrays of counter words, in place."""
    keys = (k0, k1, k0 ^ k1 ^ np.uint32(PARITY))
    x0 += k0
    x1 += k1
    for four in range(5):
        for turn in ROTATIONS[four % 2]:
            x0 += x1
            np.right_shift(x1, np.uint32(32 - turn), out=spare)
            np.left_shift(x1, np.uint32(turn), out=x1)
            x1 |= spare
            x1 ^= x0
        x0 += keys[(four + 1) % 3]
        x1 += keys[(four + 2) % 3] + np.uint32(four + 1)


def words(key: Words, size: int) -> Iterator[tuple[int, int, Words, Words]]:
    """Start, stop and the two random words of each block; the memory is used again by the next."""
    length = min(size, BLOCK)
    x0, x1, spare = (np.empty(length, np.uint32) for _ in range(3))
    for start, stop in blocks(size):
        n = stop - start
        count = np.arange(start, stop, dtype=np.uint64)
        x0[:n] = count >> np.uint64(32)
        x1[:n] = count & np.uint64(0xFFFFFFFF)
        mix(key[0:1], key[1:2], x0[:n], x1[:n], spare[:n])
        yield start, stop, x0[:n], x1[:n]


def joined(x0: Words, x1: Words, width: int) -> Any:
    """Random unsigned integers of a width; overwrites the words."""
    if width == 64:
        made = x0.astype(np.uint64)
        made <<= np.uint64(32)
        made |= x1
        return made
    x0 ^= x1
    return x0 if width == 32 else x0.astype(f"u{width // 8}")


def bits_array(key: Words, shape: tuple[int, ...], width: int) -> Any:
    """Random unsigned integers of a width."""
    made = np.empty(math.prod(shape), f"u{width // 8}")
    for start, stop, x0, x1 in words(key, made.size):
        made[start:stop] = joined(x0, x1, width)
    return made.reshape(shape)[()]


def unit_array(
    key: Words, shape: tuple[int, ...], dtype: Any, transform: Callable[[Any], Any]
) -> Any:
    """`transform` of uniform numbers in [0, 1)."""
    info = np.finfo(dtype)
    word = f"u{info.bits // 8}"
    one = np.ones((), dtype).view(word)
    made = np.empty(math.prod(shape), dtype)
    for start, stop, x0, x1 in words(key, made.size):
        bits = joined(x0, x1, info.bits)
        bits >>= bits.dtype.type(info.bits - info.nmant)
        bits |= one  # the mantissa of a number in [1, 2)
        unit = bits.view(dtype)
        unit -= dtype.type(1)
        made[start:stop] = transform(unit)
    return made.reshape(shape)[()]
