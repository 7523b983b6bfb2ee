"""What it costs that shards meet: `psum` under `pmap`, by the number of shards and of bytes.

    python benchmarks/collectives.py                     threads of one process
    mpiexec -n 4 python benchmarks/collectives.py        processes, with one shard each

Each line is the time of a call of pmap with one psum, less that of the same call without, and, as
the peer, the bare Allreduce of mpi4py, in the same run. Least of several repetitions.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tapeless
from tapeless import pmap
from tapeless.lax import psum

SIZES = (1, 1 << 10, 1 << 17, 1 << 20)


def least(f: Callable[[], Any], seconds: float = 0.5) -> float:
    """The shortest time of a call, in microseconds."""
    f()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        f()
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def repeated(f: Callable[[], Any], count: int = 20) -> float:
    """The same where all processes must make as many calls."""
    f()
    times = []
    for _ in range(count):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return min(times) * 1e6


def measure(shards: int, timed: Callable[..., float]) -> list[tuple[int, float]]:
    """Bytes and microseconds for each size."""
    devices = tapeless.local_devices()[:1] * shards
    meeting = pmap(lambda v: psum(v, "i")[:1], axis_name="i", devices=devices)
    apart = pmap(lambda v: v[:1] + 0.0, axis_name="i", devices=devices)
    rows = []
    for n in SIZES:
        x = np.ones((shards, n))
        rows.append((8 * n, timed(lambda x=x: meeting(x)) - timed(lambda x=x: apart(x))))
    return rows


def main() -> None:
    tapeless.distributed.initialize()
    count = tapeless.process_count()
    if count == 1:
        for shards in (2, 4):
            for size, cost in measure(shards, least):
                print(f"{shards} threads    {size:>8} bytes  {cost:10.1f} us")
        return
    from mpi4py import MPI  # noqa: PLC0415 (optional)

    rows = measure(1, repeated)
    for size, cost in rows:
        x, out = np.ones(size // 8), np.empty(size // 8)
        bare = repeated(lambda x=x, out=out: MPI.COMM_WORLD.Allreduce(x, out))
        if tapeless.process_index() == 0:
            print(f"{count} processes  {size:>8} bytes  {cost:10.1f} us  Allreduce {bare:10.1f} us")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
