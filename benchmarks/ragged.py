"""Times loops over parts whose lengths differ from pass to pass: NumPy and Numba beside `jit`, and
their gradients.

    python benchmarks/ragged.py [name ...]

Least of several calls of each, in turn, in milliseconds; "by NumPy" is the emitted array form of
the gradient. Numba compiles the same source.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from tapeless import grad, jit

rng = np.random.default_rng(0)


def sparse_rows(v: Any, x: Any, rows: Any, columns: Any) -> Any:
    total = 0.0
    for i in range(len(rows) - 1):
        part = v[rows[i] : rows[i + 1]] * x[columns[rows[i] : rows[i + 1]]]
        total += np.tanh(np.sum(np.exp(part)))
    return total


def softmax_by_segments(v: Any, x: Any, rows: Any, columns: Any) -> Any:
    total = 0.0
    for i in range(len(rows) - 1):
        part = v[rows[i] : rows[i + 1]]
        w = np.exp(part - np.max(part))
        w = w / np.sum(w)
        total += np.sum(w * x[columns[rows[i] : rows[i + 1]]]) ** 2
    return total


def pair_potential(x: Any, charge: Any) -> Any:
    energy = 0.0
    for i in range(len(x) - 1):
        d = x[i + 1 :] - x[i]
        energy += charge[i] * np.sum(charge[i + 1 :] * np.exp(-d * d))
    return energy


def all_segments(v: Any, x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total += np.sum(np.exp(v[j:i] * x[i])) * x[j]
    return total


def arrays_by_counts(x: Any, counts: Any) -> Any:
    total = 0.0
    for i in range(len(counts)):
        z = np.arange(counts[i]) * x[i]
        w = np.exp(-z)
        total += np.sum(w * z) / np.sum(w)
    return total


def _sparse(n: int) -> tuple[Any, ...]:
    rows = np.concatenate([[0], np.cumsum(rng.integers(1, 12, n))])
    return rng.random(rows[-1]), rng.random(n), rows, rng.integers(0, n, rows[-1])


PROGRAMS: dict[Callable[..., Any], tuple[Any, ...]] = {
    sparse_rows: _sparse(2000),
    softmax_by_segments: _sparse(2000),
    pair_potential: (rng.random(400), rng.random(400)),
    all_segments: (rng.random(100), rng.random(100)),
    arrays_by_counts: (rng.random(2000), rng.integers(1, 40, 2000)),
}


def milliseconds(call: Callable[..., Any], args: tuple[Any, ...]) -> float:
    call(*args)
    least, end = float("inf"), time.perf_counter() + 1.0
    while time.perf_counter() < end:
        begin = time.perf_counter()
        call(*args)
        least = min(least, time.perf_counter() - begin)
    return least * 1e3


def main(names: list[str]) -> None:
    print("| program | NumPy | Numba | jit | gradient by NumPy | jit(grad) | gradient / function |")
    print("|---|---|---|---|---|---|---|")
    for f, args in PROGRAMS.items():
        if names and f.__name__ not in names:
            continue
        slope = grad(f)
        calls = [f, numba.njit(f), jit(f), slope, jit(slope)]
        times = [milliseconds(call, args) for call in calls]
        cells = [f"{t:.3g}" for t in times] + [f"{times[4] / times[2]:.1f}"]
        print(f"| {f.__name__} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
