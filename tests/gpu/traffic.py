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


class Counted(ctypes.Structure):
    """`emulator::Counted`."""

    _fields_ = (
        ("begin", ctypes.c_size_t),
        ("end", ctypes.c_size_t),
        ("loaded", ctypes.c_longlong),
        ("stored", ctypes.c_longlong),
    )


@dataclass
class Traffic:
    """Bytes of each allocation, by its address."""

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
        yield
        for row in table:
            self.loaded[row.begin] += row.loaded
            self.stored[row.begin] += row.stored
        sums = sum(row.loaded for row in table), sum(row.stored for row in table)
        self.kernels.append((kernel, *sums))


def _spans(args: Sequence[Any]) -> Iterable[tuple[int, int]]:
    """Where the allocations of a launch begin and end."""
    for x in args:
        if hasattr(x, "memory") and x.memory.size:
            begin = x.memory.ctypes.data
            yield begin, begin + x.memory.nbytes
