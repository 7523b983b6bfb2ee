"""What it costs that shards meet: `psum` under `pmap`, by the number of shards and of bytes.

    python benchmarks/collectives.py                     threads of one process
    mpiexec -n 4 python benchmarks/collectives.py        processes, with one shard each
    python benchmarks/collectives.py --table             both, for 1, 2 and 4, as Markdown
    python benchmarks/collectives.py --scaling           programs on one device and on two

A cost is the time of a call of pmap with one psum, less that of the same call without, and, as the
peer, the bare Allreduce of mpi4py, in the same run. Least of several repetitions.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tapeless
from tapeless import jit, pmap
from tapeless.lax import psum

SIZES = (1, 1 << 10, 1 << 17, 1 << 20)
RANKS = (1, 2, 4)
Row = tuple[str, int, float, float]  # who meets, bytes, microseconds, those of the bare Allreduce


def least(f: Callable[[], Any], seconds: float = 0.5) -> float:
    """The shortest time of a call, in microseconds."""
    f()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        f()
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def repeated(f: Callable[[], Any], count: int = 50) -> float:
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
        cost = timed(lambda x=x: meeting(x)) - timed(lambda x=x: apart(x))
        rows.append((8 * n, max(cost, 0.0)))
    return rows


def by_threads() -> list[Row]:
    return [
        (f"{shards} threads", size, cost, float("nan"))
        for shards in (2, 4)
        for size, cost in measure(shards, least)
    ]


def by_processes(count: int) -> list[Row]:
    from mpi4py import MPI  # noqa: PLC0415 (optional)

    made = []
    for size, cost in measure(1, repeated):
        x, out = np.ones(size // 8), np.empty(size // 8)
        bare = repeated(lambda x=x, out=out: MPI.COMM_WORLD.Allreduce(x, out))
        made.append((f"{count} processes", size, cost, bare))
    return made


def table() -> None:
    """All of it, each number of processes by mpiexec, as Markdown."""
    rows = by_threads()
    places = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    launcher = shutil.which("mpiexec", path=places)
    if launcher is None:
        raise SystemExit("no mpiexec: pip install mpi4py mpich")
    for count in RANKS[1:]:
        command = [launcher, "-n", str(count), sys.executable, __file__, "--json"]
        found = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=300
        )
        rows += [tuple(row) for row in json.loads(found.stdout)]
    print("| µs for a meeting |", " | ".join(f"{_bytes(8 * n)}" for n in SIZES), "|")
    print("|---|" + "---|" * len(SIZES))
    for who in dict.fromkeys(row[0] for row in rows):
        mine = [row for row in rows if row[0] == who]
        print(f"| {who} |", " | ".join(f"{row[2]:.0f}" for row in mine), "|")
        if "processes" in who:
            print(f"| {who}, Allreduce |", " | ".join(f"{row[3]:.0f}" for row in mine), "|")


def _bytes(count: int) -> str:
    for unit, size in (("MB", 1 << 20), ("KB", 1 << 10)):
        if count >= size:
            return f"{count // size} {unit}"
    return f"{count} B"


def wave(v: Any) -> Any:
    """Sines of a vector: time goes into computing."""
    for _ in range(200):
        v = v + 0.01 * np.sin(v)
    return v


def powers(m: Any) -> Any:
    """Products of matrices: time goes into BLAS."""
    for _ in range(10):
        m = np.tanh(m @ m)
    return m


def copies(v: Any) -> Any:
    """Sums of long vectors: time goes into memory."""
    for _ in range(4):
        v = v + 1.0
    return v


def numbers(v: Any) -> Any:
    """One number after the other: time goes into Python, of which one thread runs at a time."""
    total = v[0]
    for _ in range(20_000):
        total = np.sin(total) + 1.0
    return total


def scaling() -> None:
    """Each program on one device and on two, and what both cores could give at most: two
    processes of one thread each would take half of the time."""
    rng = np.random.default_rng(0)
    programs: list[tuple[str, Any, Any]] = [
        ("sines, compiled", jit(wave, parallel=False), rng.uniform(size=(2, 20_000))),
        ("sines", wave, rng.uniform(size=(2, 20_000))),
        ("products of matrices", powers, rng.uniform(size=(2, 400, 400)) / 400),
        ("long vectors", copies, rng.uniform(size=(2, 4_000_000))),
        ("number by number", numbers, rng.uniform(size=(2, 1))),
    ]
    print("| ms | one device | two | ratio |")
    print("|---|---|---|---|")
    for name, f, x in programs:
        calls = [pmap(f, devices=tapeless.local_devices()[:1] * count) for count in (1, 2)]
        one, two = best_of_both(calls, x)
        print(f"| {name} | {one / 1000:.1f} | {two / 1000:.1f} | {one / two:.2f} |")


def best_of_both(calls: list[Any], x: Any, rounds: int = 15) -> list[float]:
    """The shortest times, in microseconds, of calls that take turns."""
    times: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call(x)
    for _ in range(rounds):
        for call, own in zip(calls, times, strict=True):
            start = time.perf_counter()
            call(x)
            own.append(time.perf_counter() - start)
    return [1e6 * min(own) for own in times]


def main() -> None:
    tapeless.distributed.initialize()
    count = tapeless.process_count()
    if "--table" in sys.argv:
        table()
    elif "--scaling" in sys.argv:
        scaling()
    else:
        rows = by_threads() if count == 1 else by_processes(count)
        if tapeless.process_index() == 0:
            show(rows)


def show(rows: list[Row]) -> None:
    if "--json" in sys.argv:
        print(json.dumps(rows))
        return
    for who, size, cost, bare in rows:
        beside = "" if np.isnan(bare) else f"  Allreduce {bare:10.1f} us"
        print(f"{who:<12}{size:>8} bytes  {cost:10.1f} us{beside}")


if __name__ == "__main__":
    main()
