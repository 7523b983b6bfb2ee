"""Counts the bytes that emulated kernels load from and store to the memory of a device.

Loads that the compiler finds needless are none; those that a cache would serve are counted.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SECTOR = 32  # bytes that memory moves at once
ROOM = 1 << 21  # accesses of a launch that are kept at most


class Counted(ctypes.Structure):
    """`emulator::Counted`."""

    _fields_ = (
        ("begin", ctypes.c_size_t),
        ("end", ctypes.c_size_t),
        ("loaded", ctypes.c_longlong),
        ("stored", ctypes.c_longlong),
    )


class Access(ctypes.Structure):
    """`emulator::Access`."""

    _fields_ = (
        ("offset", ctypes.c_size_t),
        ("instruction", ctypes.c_size_t),
        ("allocation", ctypes.c_uint),
        ("warp", ctypes.c_uint),
        ("thread", ctypes.c_uint),
        ("block", ctypes.c_uint),
        ("bytes", ctypes.c_uint),
        ("is_store", ctypes.c_uint),
    )


@dataclass
class Traffic:
    """Bytes of each allocation, by its address.

    sectors  what warps ask for at once, where `by_warps`: a pair of the parts of 32 bytes of memory
             that the lanes of a warp load or store by one instruction, in all, and how many there
             would be if these lay beside each other; for each kernel
    blocks   the parts of memory that each block loads, each once, as a cache that holds them all
             would; the sum over blocks, for each kernel
    """

    by_warps: bool = False
    sectors: list[tuple[int, int]] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)

    loaded: Counter[int] = field(default_factory=Counter)
    stored: Counter[int] = field(default_factory=Counter)
    kernels: list[tuple[str, int, int]] = field(default_factory=list)

    @contextmanager
    def counting(self, library: ctypes.CDLL, kernel: str, args: Sequence[Any]) -> Iterator[None]:
        """Adds what a launch moves, which happens inside."""
        spans = dict(_spans(args))
        table = (Counted * len(spans))(*[Counted(*span, 0, 0) for span in spans.items()])
        ctypes.c_void_p.in_dll(library, "traffic").value = ctypes.addressof(table)
        ctypes.c_int.in_dll(library, "traffic_count").value = len(spans)
        log = (Access * (ROOM if self.by_warps else 0))()
        ctypes.c_void_p.in_dll(library, "accesses").value = ctypes.addressof(log)
        ctypes.c_longlong.in_dll(library, "access_room").value = len(log)
        count = ctypes.c_longlong.in_dll(library, "access_count")
        count.value = 0
        yield
        if self.by_warps:
            if count.value > ROOM:
                raise ValueError(f"{kernel} makes {count.value} accesses, {ROOM} can be kept")
            accesses = np.frombuffer(log, dtype=Access)[: count.value]
            self.sectors.append(_sectors(accesses))
            self.blocks.append(_sectors_of_blocks(accesses))
        for row in table:
            self.loaded[row.begin] += row.loaded
            self.stored[row.begin] += row.stored
        sums = sum(row.loaded for row in table), sum(row.stored for row in table)
        self.kernels.append((kernel, *sums))


def _sectors(accesses: np.ndarray) -> tuple[int, int]:
    """How many sectors the warps of a launch ask for, and how many would do. What lanes do by one
    instruction for the n-th time, they do at once."""
    keys = ("thread", "instruction", "is_store")
    order = np.lexsort([accesses[k] for k in keys])
    accesses = accesses[order]
    same = np.ones(len(accesses), bool)
    for k in keys:
        same[1:] &= accesses[k][1:] == accesses[k][:-1]
    same[:1] = False
    places = np.arange(len(accesses))
    turn = places - np.maximum.accumulate(np.where(same, 0, places))
    columns = [accesses[k] for k in ("warp", "instruction", "is_store", "allocation")]
    at_once = np.stack([*columns, turn], axis=1).astype(np.int64)
    _, group = np.unique(at_once, axis=0, return_inverse=True)
    first = accesses["offset"].astype(np.int64) // SECTOR
    last = (accesses["offset"] + accesses["bytes"] - 1).astype(np.int64) // SECTOR
    touched = np.concatenate([np.stack([group, first]), np.stack([group, last])], axis=1)
    asked = len(np.unique(touched, axis=1).T)
    # lanes that ask for the same number get it from one sector
    numbers = np.unique(
        np.stack([group, accesses["offset"], accesses["bytes"]]).astype(np.int64), axis=1
    )
    sums = np.bincount(numbers[0], numbers[2])
    return asked, int(np.ceil(sums / SECTOR).sum())


def _sectors_of_blocks(accesses: np.ndarray) -> int:
    """How many sectors blocks load, if each loads one once."""
    loads = accesses[accesses["is_store"] == 0]
    columns = [loads["block"], loads["allocation"], loads["offset"].astype(np.int64) // SECTOR]
    return len(np.unique(np.stack(columns).astype(np.int64), axis=1).T)


def _spans(args: Sequence[Any]) -> Iterable[tuple[int, int]]:
    """Where the allocations of a launch begin and end."""
    for x in args:
        if hasattr(x, "memory") and x.memory.size:
            begin = x.memory.ctypes.data
            yield begin, begin + x.memory.nbytes
