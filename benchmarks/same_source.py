"""Loops as people write them, compiled by tapeless and by Numba from one source.

python benchmarks/same_source.py [NAME ...]      prints a table in Markdown

The gradient is of the sum of the result; "growth" is by how much more of it a function and its
gradient take at twice the size: where these differ, a derivative copies what it should store to.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.loops import PROGRAMS  # after the path is set
from tapeless import grad, jit  # the same

SIZE = 10
CALLS = 7
HEAD = (
    "| program | time | of Numba | gradient | growth | of the gradient |\n|---|---|---|---|---|---|"
)


def seconds(f: Callable[..., Any], args: tuple[Any, ...]) -> float:
    """The quickest of a few calls, after one that compiles."""
    f(*args)
    taken = []
    for _ in range(CALLS):
        start = time.perf_counter()
        f(*args)
        taken.append(time.perf_counter() - start)
    return min(taken)


def by_numba(f: Callable[..., Any]) -> Callable[..., Any]:
    import numba  # noqa: PLC0415  # it takes its time

    return numba.njit(f, error_model="numpy")  # type: ignore[no-any-return]


def total(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: np.sum(f(*args))


def row(name: str) -> str:
    """What one program takes."""
    f, arguments = PROGRAMS[name]
    small, large = arguments(SIZE), arguments(2 * SIZE)
    compiled, slope = jit(f), jit(grad(total(f)))
    own, peer, back = (seconds(g, small) for g in (compiled, by_numba(f), slope))
    growth, of_slope = seconds(compiled, large) / own, seconds(slope, large) / back
    return (
        f"| {name.replace('_', ' ')} | {own * 1e3:.3f} ms | {own / peer:.2f} "
        f"| {back / own:.1f} times | {growth:.1f} | {of_slope:.1f} |"
    )


def main() -> None:
    print(HEAD)
    for name in sys.argv[1:] or PROGRAMS:
        print(row(name), flush=True)


if __name__ == "__main__":
    main()
