"""Computes random words for large arrays outside of staged runs: in place, in blocks that fit the
cache, by several threads.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeless.transforms.ops.primitives.module_functions import BLOCK, PARITY, ROTATIONS

PART = 4 * BLOCK  # elements that a thread takes at a time
HIGH = 1 if sys.byteorder == "little" else 0  # the place of the first word in 64 bits
Words = Any  # an array of uint32
#: How far words are turned, and what is left of 32 bits: NumPy takes arrays faster than numbers.
TURNS = [
    [(np.array(n, np.uint32), np.array(32 - n, np.uint32)) for n in four] for four in ROTATIONS
]


def in_parts(size: int, work: Callable[[int, int], None]) -> None:
    """Calls `work` for the start and stop of parts, which threads share."""
    if size <= PART:
        work(0, size)
        return
    from tapeless.backends.cpu.runtime.threads import share  # noqa: PLC0415 (takes long to import)

    share(lambda k: work(k * PART, min((k + 1) * PART, size)), -(-size // PART))


def mix(k0: Words, k1: Words, x0: Words, x1: Words, spare: Words) -> None:
    """Threefry-2x32 on two arrays of counter words, in place."""
    keys = (k0, k1, k0 ^ k1 ^ np.uint32(PARITY))
    x0 += k0
    x1 += k1
    for four in range(5):
        for turn, rest in TURNS[four % 2]:
            x0 += x1
            np.right_shift(x1, rest, out=spare)
            np.left_shift(x1, turn, out=x1)
            x1 |= spare
            x1 ^= x0
        x0 += keys[(four + 1) % 3]
        x1 += keys[(four + 2) % 3] + np.uint32(four + 1)


def words(key: Words, first: int, last: int) -> Iterator[tuple[int, int, Words, Words]]:
    """Start, stop and the two random words of each block of counts; the memory is used again by
    the next."""
    length = min(last - first, BLOCK)
    x0, x1, spare = (np.empty(length, np.uint32) for _ in range(3))
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        n = stop - start
        if stop <= 1 << 32:
            x0[:n], x1[:n] = 0, np.arange(start, stop, dtype=np.uint32)
        else:
            count = np.arange(start, stop, dtype=np.uint64)
            x0[:n], x1[:n] = count >> np.uint64(32), count & np.uint64(0xFFFFFFFF)
        mix(key[0:1], key[1:2], x0[:n], x1[:n], spare[:n])
        yield start, stop, x0[:n], x1[:n]


def join_words(x0: Words, x1: Words, width: int) -> Any:
    """Random unsigned integers of a width; overwrites the words."""
    if width == 64:
        numbers = np.empty(x0.shape, np.uint64)
        halves = numbers.view(np.uint32).reshape(-1, 2)
        halves[:, HIGH], halves[:, 1 - HIGH] = x0, x1
        return numbers
    x0 ^= x1
    return x0 if width == 32 else x0.astype(f"u{width // 8}")


def bits_array(key: Words, shape: tuple[int, ...], width: int) -> Any:
    """Random unsigned integers of a width."""
    numbers = np.empty(math.prod(shape), f"u{width // 8}")

    def part(first: int, last: int) -> None:
        for start, stop, x0, x1 in words(key, first, last):
            numbers[start:stop] = join_words(x0, x1, width)

    in_parts(numbers.size, part)
    return numbers.reshape(shape)[()]


def unit_array(
    key: Words, shape: tuple[int, ...], dtype: Any, transform: Callable[[Any], Any]
) -> Any:
    """`transform` of uniform numbers in [0, 1)."""
    info = np.finfo(dtype)
    word = f"u{info.bits // 8}"
    bits_of_one = np.ones((), dtype).view(word)
    numbers = np.empty(math.prod(shape), dtype)

    def part(first: int, last: int) -> None:
        for start, stop, x0, x1 in words(key, first, last):
            bits = join_words(x0, x1, info.bits)
            bits >>= bits.dtype.type(info.bits - info.nmant)
            bits |= bits_of_one  # the mantissa of a number in [1, 2)
            unit = bits.view(dtype)
            unit -= dtype.type(1)
            numbers[start:stop] = transform(unit)

    in_parts(numbers.size, part)
    return numbers.reshape(shape)[()]
