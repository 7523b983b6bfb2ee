"""Compares what a GPU makes of random programs with what NumPy makes of them.

`python -m tests.gpu.generated_programs --count 100 --seed 0` runs many, and prints what differs.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import copy
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeless
from tapeless import jit, value_and_grad
from tapeless.transforms.errors import InternalError, TapelessError
from tests.gpu.conftest import REAL, installed
from tests.gpu.emulator import ORDERS, EmulationError, emulating
from tests.gpu.program_writer import Program, Writer

GOOD = frozenset(["right", "refused", "raises"])
#: In place of broadcasting, where only data tells that a length is one.
LENGTHS = "could not be broadcast together: the lengths differ"


def outcomes(seed: int) -> dict[str, str]:
    """What became of each comparison of a program."""
    program = program_of(seed)
    with tempfile.TemporaryDirectory() as folder:
        module = program.module(Path(folder))
        return {name: compare(seed) for name, compare in comparisons(program, module)}


def program_of(seed: int) -> Program:
    """A program; arrays of every other one hold floats alone."""
    return Writer(seed).program(floats=seed % 2 == 0)


def comparisons(program: Program, module: Any) -> Iterator[tuple[str, Callable[[int], str]]]:
    """Values at all sizes; gradients too, whose reference is the array form, run by NumPy."""
    on_gpu = jit(module.f, backend="gpu")
    for k, args in enumerate(program.arguments):
        yield f"values {k}", partial(outcome, on_gpu, module.f, args, program.tolerance)
    floats = tuple(k for k in range(4) if program.arguments[0][k].dtype.kind == "f")
    if not floats:
        return
    slopes = value_and_grad(module.total, argnums=floats)
    on_gpu = jit(slopes, backend="gpu")
    for k, args in enumerate(program.arguments[:2]):
        yield f"gradient {k}", partial(outcome, on_gpu, slopes, args, program.tolerance)


def outcome(
    on_gpu: Callable[..., Any],
    reference: Callable[..., Any],
    args: tuple[Any, ...],
    tolerance: float,
    seed: int,
) -> str:
    """Says "right", "refused", "raises" where NumPy raises an error, or what is wrong.

    seed  picks the order of blocks and threads
    """
    expected = tried(reference, args)
    with emulating(order=ORDERS[seed % 3], seed=seed):
        found = tried(lambda *a: tapeless.device_get(on_gpu(*a)), args)
    if isinstance(found, TapelessError) and not isinstance(found, InternalError):
        return "refused" if "line" in str(found) else f"no line: {found}"
    if isinstance(found, ValueError) and LENGTHS in str(found):
        return "refused"  # a length that data tells is one, and others are not
    if isinstance(expected, Exception) and not isinstance(found, (InternalError, EmulationError)):
        return "raises"
    if isinstance(found, Exception):
        return "".join(traceback.format_exception(found))
    return difference(found, expected, tolerance)


def tried(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What a function returns, with the arrays that it was given, or the error that it raises."""
    args = copy.deepcopy(args)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = function(*args)
    except Exception as e:  # noqa: BLE001  # it is compared with the other one
        return e
    return value, args


def difference(found: Any, expected: Any, tolerance: float) -> str:
    """Says "right", or what differs first."""
    pairs = [tapeless.tree.leaves(x) for x in (found, expected)]
    for k, (x, y) in enumerate(zip(*pairs, strict=True)):
        x, y = np.asarray(x), np.asarray(y)
        if (x.shape, x.dtype) != (y.shape, y.dtype):
            return f"leaf {k}: {x.dtype}{x.shape} instead of {y.dtype}{y.shape}"
        scale = 1 + np.abs(y[np.isfinite(y)]).max(initial=0) if y.dtype.kind in "fc" else 0
        same = np.isclose(x, y, tolerance, tolerance * scale, equal_nan=True) if scale else x == y
        if not np.all(same):
            return f"leaf {k}: {x[~same][:5]} instead of {y[~same][:5]}"
    return "right"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    total: collections.Counter[str] = collections.Counter()
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        if not REAL:
            installed(patch)
        for seed in range(options.seed, options.seed + options.count):
            found = outcomes(seed)
            wrong = {name: x for name, x in found.items() if x not in GOOD}
            total.update(x if x in GOOD else "wrong" for x in found.values())
            for name, text in wrong.items():
                print(f"seed {seed}, {name}: {text}")  # noqa: T201
            if wrong:
                print(program_of(seed).body, flush=True)  # noqa: T201
    print(dict(total))  # noqa: T201  # the result of the command


if __name__ == "__main__":
    main()
