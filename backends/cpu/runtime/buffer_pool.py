"""Pools memory for results: large buffers whose arrays are gone are handed out again.

The first touch of fresh memory costs more than most kernels (the system clears each page), so large
arrays are views of buffers that the pool remembers. A buffer is free when only the pool refers to
it: NumPy makes every view, and every view of a view, refer to the array that owns the memory.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np

Shape = SupportsIndex | tuple[int, ...]
Buffers = list[np.ndarray[Any, Any]]
LARGE = 1 << 17  # bytes; glibc asks the system for these, and may give them back at once
WIDEST = 16  # bytes of a number
MANY = 256  # buffers that are remembered
SLACK = 1.25  # a free buffer is used for what fills most of it
COUNTED = getattr(sys, "_is_gil_enabled", lambda: True)()  # else counts are shared among threads


def empty(shape: Sequence[Any], dtype: Any) -> np.ndarray[Any, Any]:
    """`numpy.empty`, in memory that was used before if possible."""
    size = math.prod(shape)
    if size * WIDEST >= LARGE:
        size *= np.dtype(dtype).itemsize
    if size < LARGE or not COUNTED:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, _pool.buffer(size))


def zeros(shape: Shape, dtype: Any) -> np.ndarray[Any, Any]:
    """`numpy.zeros`, in memory that was used before if possible."""
    lengths = _lengths(shape)
    size = math.prod(lengths)
    if size * WIDEST >= LARGE:
        size *= np.dtype(dtype).itemsize
    if size < LARGE or not COUNTED:
        return np.zeros(shape, dtype)
    return np.ndarray(lengths, dtype, _pool.buffer(size, np.zeros))


def full(shape: Shape, value: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """`numpy.full`, in memory that was used before if possible."""
    array = empty(_lengths(shape), dtype)
    array.fill(value)
    return array


def _lengths(shape: Shape) -> Sequence[Any]:
    """The lengths of all axes; one axis is told by its length."""
    return (shape,) if isinstance(shape, SupportsIndex) else shape


def copy_of(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """`x.copy()`, in memory that was used before if possible."""
    if x.nbytes < LARGE:
        return x.copy()
    array = empty(x.shape, x.dtype)
    np.copyto(array, x)
    return array


def _count_of_free_buffer() -> int:
    """How many references to a buffer are counted where only the pool has it."""
    buffers: Buffers = [np.empty(0)]
    return sys.getrefcount(buffers[0])


ALONE = _count_of_free_buffer()


class BufferPool:
    """Buffers that were handed out and may be free by now, the last used ones last."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.buffers: Buffers = []
        self.lock = threading.Lock()

    def buffer(self, size: int, new: Callable[..., Any] = np.empty) -> np.ndarray[Any, Any]:
        """A buffer of at least so many bytes, to which nobody else refers; `new` is `numpy.empty`,
        or `numpy.zeros` for one of zeros."""
        if not self.lock.acquire(blocking=False):  # never waited for: a finaliser may ask, too
            return new(size, np.uint8)  # type: ignore[no-any-return]
        try:
            k = self.free(size)
            buffer = new(size, np.uint8) if k is None else self.buffers.pop(k)
            self.buffers.append(buffer)
            if k is None:
                self.forget()
        finally:
            self.lock.release()
        if k is not None and new is np.zeros:
            buffer[:size] = 0
        return buffer

    def free(self, size: int) -> int | None:
        """The place of the smallest free buffer that fits; of several the one that was used last,
        which may still be in the cache of the processor."""
        buffers, best, least = self.buffers, None, SLACK * size
        for k in range(len(buffers) - 1, -1, -1):
            have = buffers[k].nbytes
            if size <= have <= least and sys.getrefcount(buffers[k]) == ALONE:
                if have == size:
                    return k
                if best is None or have < least:
                    best, least = k, have
        return best

    def forget(self) -> None:
        """Lets go of buffers beyond the limits: of many the oldest; then free ones, then others,
        whose memory goes with their arrays."""
        del self.buffers[:-MANY]
        total = sum(b.nbytes for b in self.buffers)
        for wanted in (True, False):
            k = 0
            while total > self.limit and k < len(self.buffers):
                if (sys.getrefcount(self.buffers[k]) == ALONE) is wanted:
                    total -= self.buffers.pop(k).nbytes
                else:
                    k += 1

    def clear(self) -> None:
        """Gives the memory of free buffers back."""
        with self.lock:
            self.buffers.clear()


def _limit() -> int:
    """An eighth of the machine's memory, at most 1 GB; TAPELESS_POOL_SIZE says it in megabytes."""
    setting = os.environ.get("TAPELESS_POOL_SIZE", "")
    if setting.isdecimal():
        return int(setting) * 10**6
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        memory = 8 * 10**9
    return min(memory // 8, 10**9)


_pool = BufferPool(_limit())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_pool.lock.acquire,
        after_in_parent=_pool.lock.release,
        after_in_child=_pool.lock.release,
    )
