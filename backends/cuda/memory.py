"""Reports and limits the memory of a GPU: CuPy's pool, what it holds, and what to say when it is
full.

Nothing is taken in advance. Arrays that are freed stay in the pool, and are used again in the order
of the stream, so that reuse needs no wait.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Iterator
from typing import Any

from tapeless.backends.cuda.availability import cupy
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import ArgumentError, OutOfMemoryError

LIMIT = "TAPELESS_POOL_SIZE"


@dataclass(frozen=True)
class MemoryUsage:
    """Bytes of the current device.

    arrays  those of arrays that are alive
    pool    all that the pool has taken from the device
    free    what the device has beside, for other processes too
    total   its whole memory
    """

    arrays: int
    pool: int
    free: int
    total: int


def usage(device: int | None = None) -> MemoryUsage:
    """What the memory of a device is used for, the current one if none is named."""
    module = cupy()
    pool = module.get_default_memory_pool()
    with module.cuda.Device(device):  # None is the current one
        free, total = module.cuda.runtime.memGetInfo()
        return MemoryUsage(int(pool.used_bytes()), int(pool.total_bytes()), int(free), int(total))


@functools.cache
def limit_pool(device: int) -> None:
    """Applies TAPELESS_POOL_SIZE, once for each device that a program runs on: megabytes, or a
    share of the device's memory such as "50%"."""
    setting = os.environ.get(LIMIT, "").strip()
    if not setting:
        return
    match = re.fullmatch(r"(\d+(?:\.\d*)?)(%?)", setting)
    if match is None:
        raise ArgumentError(f"{LIMIT} is {setting!r}", 'it is a number of megabytes, or "50%"')
    amount = float(match[1])
    pool = cupy().get_default_memory_pool()
    with cupy().cuda.Device(device):
        if match[2]:
            pool.set_limit(fraction=amount / 100)
        else:
            pool.set_limit(size=int(amount * 1e6))


def as_out_of_memory(error: BaseException, what: str) -> OutOfMemoryError:
    """CuPy's error as ours, with the sizes and what one can do.

    what  what needed the memory
    """
    try:
        now = usage()
    except Exception:  # noqa: BLE001  # the first error counts, whatever the device says now
        state = str(error)
    else:
        state = (
            f"arrays hold {_size(now.arrays)}, the pool has {_size(now.pool)} of "
            f"{_size(now.total)}, {_size(now.free)} are free"
        )
    asked = re.search(r"allocating ([\d,]+) bytes", str(error))
    wanted = f"{_size(int(asked[1].replace(',', '')))} for {what}" if asked else what
    return OutOfMemoryError(
        f"the GPU has no memory left: {wanted}; {state}",
        "let go of arrays, use smaller batches or float32, give arguments away (donate_argnums), "
        f"checkpoint what a gradient keeps, or raise {LIMIT} if that is the limit",
    )


@contextlib.contextmanager
def explaining(what: str) -> Iterator[None]:
    """Errors of CuPy about memory are ours inside."""
    try:
        yield
    except Exception as e:
        if not is_out_of_memory(e):
            raise
        raise as_out_of_memory(e, what) from e


def is_out_of_memory(e: BaseException) -> bool:
    """Whether an error is CuPy's about memory."""
    kind: Any = getattr(cupy().cuda.memory, "OutOfMemoryError", ())
    return isinstance(e, kind)


def _size(n: int) -> str:
    """Bytes for people.

    >>> _size(3_200_000_000), _size(1200)
    ('3.2 GB', '1.2 kB')
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n >= size:
            return f"{n / size:.1f} {unit}"
    return f"{n} bytes"
