"""Measures one program in a process of its own: a line of JSON for each transformation.

python -m benchmarks.programs.measure CHECKOUTS INDEX
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["TAPELESS_CACHE_DIR"] = tempfile.mkdtemp()  # first calls are those of an empty cache
os.environ.setdefault("MPLBACKEND", "agg")

import numpy as np  # after the environment is set

import tapeless
from benchmarks.programs import catalogue
from benchmarks.programs.program import Program

TRANSFORMATIONS = ("jit", "grad", "jit(grad)", "jvp", "vmap", "jit(vmap)")
BATCH = 3
STEPS = (1e-4, 1e-5, 1e-6)  # of central differences, relative to the arguments
SECONDS = 0.6  # of interleaved calls, for a ratio

Call = Callable[..., Any]


class UncheckableError(Exception):
    """The program has no value to compare with here: it is not smooth, or does not run itself."""


def leaves(x: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The numbers and arrays of a result, with the keys that lead to them."""
    if isinstance(x, dict):
        for key, value in x.items():
            yield from leaves(value, (*path, key))
    elif isinstance(x, (tuple, list)):
        for key, value in enumerate(x):
            yield from leaves(value, (*path, key))
    elif x is not None and np.asarray(x).dtype.kind in "biufc":
        yield path, np.asarray(x)  # a class of arrays may have operations of its own


def at(x: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        x = x[key]
    return x


def smooth_leaves(result: Any) -> list[tuple[tuple[Any, ...], np.ndarray]]:
    """The floating-point leaves, each with the weights that a sum of them all gives it."""
    found = [(path, x) for path, x in leaves(result) if x.dtype.kind in "fc"]
    weights = [(path, np.cos(1.0 + np.arange(x.size)).reshape(x.shape)) for path, x in found]
    if not weights:
        raise UncheckableError("its result has no floating-point number")
    return weights


def weighted(f: Call, weights: list[tuple[tuple[Any, ...], np.ndarray]]) -> Call:
    """A number that depends on all that `f` returns."""

    def objective(*args: Any) -> Any:
        result = f(*args)
        total = 0.0
        for path, weight in weights:
            part = result
            for key in path:
                part = part[key]
            total = total + np.sum(weight * np.real(part))
        return total

    return objective


def close(got: Any, expected: Any, tolerance: float) -> bool:
    """Whether two results agree, number by number."""
    ours, theirs = dict(leaves(got)), dict(leaves(expected))
    return ours.keys() == theirs.keys() and all(
        np.shape(ours[path]) == np.shape(x)
        and np.allclose(
            ours[path],
            x,
            rtol=tolerance,
            atol=tolerance * float(np.max(np.abs(np.nan_to_num(x)), initial=0.0)) + 1e-12,
            equal_nan=True,
        )
        for path, x in theirs.items()
    )


class Measured:
    """A program, its arguments, and what its transformations should give."""

    def __init__(self, program: Program, checkouts: Path) -> None:
        self.program = program
        self.f = program.callable(checkouts)
        self.args = program.inputs(np.random.default_rng(0))
        self.plain = self.f(*self.fresh())
        if not any(np.all(np.isfinite(x)) for _, x in leaves(self.plain)):
            raise UncheckableError("it gives no finite number")
        random = np.random.default_rng(1)
        self.directions = [
            random.normal(size=np.shape(self.args[i])) * (0.1 + np.abs(self.args[i]))
            for i in program.smooth
        ]

    def fresh(self) -> tuple[Any, ...]:
        """The arguments, not yet stored to."""
        return copy.deepcopy(self.args)

    def moved(self, step: float) -> tuple[Any, ...]:
        new = list(self.fresh())
        for i, direction in zip(self.program.smooth, self.directions, strict=True):
            shifted = np.asarray(new[i], float) + step * direction
            new[i] = float(shifted) if isinstance(self.args[i], (int, float)) else shifted
        return tuple(new)

    def slopes(self, f: Call) -> Any:
        """Central differences along the directions, where those of three steps agree."""
        results = []
        for step in STEPS:
            high, low = f(*self.moved(step)), f(*self.moved(-step))
            results.append(
                {
                    path: (x.astype(complex) - np.asarray(at(low, path))) / (2 * step)
                    for path, x in leaves(high)
                    if x.dtype.kind in "fc"
                }
            )
        if not all(close(results[0][p], results[1][p], 2e-4) for p in results[0]):
            if not all(close(results[1][p], results[2][p], 2e-4) for p in results[0]):
                raise UncheckableError("central differences of two steps disagree")
            return results[2]
        return results[1]

    # What each transformation is called as, and what it should give

    def jit(self) -> tuple[Call, tuple[Any, ...], Any]:
        return tapeless.jit(self.f), self.args, lambda got: close(got, self.plain, 1e-8)

    def grad(self, compiled: bool = False) -> tuple[Call, tuple[Any, ...], Any]:
        objective = weighted(self.f, smooth_leaves(self.plain))
        expected = self.slopes(objective)[()].real
        slope = tapeless.grad(objective, argnums=self.program.smooth)

        def right(got: Any) -> bool:
            along = [float(np.sum(g * d)) for g, d in zip(got, self.directions, strict=True)]
            size = sum(
                float(np.sum(np.abs(g * d))) for g, d in zip(got, self.directions, strict=True)
            )
            return bool(abs(sum(along) - expected) <= 3e-4 * (abs(expected) + 0.1 * size) + 1e-8)

        return tapeless.jit(slope) if compiled else slope, self.args, right

    def jvp(self) -> tuple[Call, tuple[Any, ...], Any]:
        expected = self.slopes(self.f)
        places, args, f = self.program.smooth, self.args, self.f

        def varied(*values: Any) -> Any:
            every = list(args)
            for i, value in zip(places, values, strict=True):
                every[i] = value
            return f(*every)

        primals = tuple(args[i] for i in places)
        tangents = tuple(
            float(d) if isinstance(p, (int, float)) else d
            for p, d in zip(primals, self.directions, strict=True)
        )

        def right(got: Any) -> bool:
            return all(
                close(np.asarray(at(got[1], p), complex), x, 5e-4) for p, x in expected.items()
            )

        return lambda *primals: tapeless.jvp(varied, primals, tangents), primals, right

    def vmap(self, compiled: bool = False) -> tuple[Call, tuple[Any, ...], Any]:
        if not self.program.mapped:
            raise UncheckableError("no argument of it is batched")
        batch = self.batch()
        axes = tuple(0 if i in self.program.mapped else None for i in range(len(self.args)))
        results = [self.f(*self.element(batch, b)) for b in range(BATCH)]
        paths = [path for path, _ in leaves(results[0])]
        mapped = tapeless.vmap(self.f, in_axes=axes)

        def right(got: Any) -> bool:
            return all(
                close(at(got, path), np.stack([np.asarray(at(r, path)) for r in results]), 1e-8)
                for path in paths
            )

        return tapeless.jit(mapped) if compiled else mapped, batch, right

    def batch(self) -> tuple[Any, ...]:
        random = np.random.default_rng(2)
        new = list(self.fresh())
        for i in self.program.mapped:
            near = [
                np.asarray(self.args[i]) * (1 + 0.01 * random.normal(size=np.shape(self.args[i])))
                for _ in range(BATCH)
            ]
            new[i] = np.stack(near)
        return tuple(new)

    def element(self, batch: tuple[Any, ...], b: int) -> tuple[Any, ...]:
        new = list(copy.deepcopy(batch))
        for i in self.program.mapped:
            new[i] = new[i][b]
        return tuple(new)

    def beside(self, name: str, args: tuple[Any, ...]) -> Call:
        """What the calls of a transformation are compared with."""
        if "vmap" in name:
            elements = [self.element(args, b) for b in range(BATCH)]
            return lambda *_: [self.f(*e) for e in elements]
        return lambda *_: self.f(*self.fresh())


def ratio(ours: Call, theirs: Call, args: tuple[Any, ...]) -> float:
    """How many times as long a call takes, by medians of calls that take turns."""
    taken: tuple[list[float], list[float]] = ([], [])
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(taken[0]) < 3:
        for f, times in zip((ours, theirs), taken, strict=True):
            new = copy.deepcopy(args)
            start = time.perf_counter()
            f(*new)
            times.append(time.perf_counter() - start)
        if len(taken[0]) > 500:
            break
    return statistics.median(taken[0]) / statistics.median(taken[1])


def outcome(measured: Measured, name: str) -> dict[str, Any]:
    """What one transformation makes of the program."""
    maker = getattr(measured, name.removeprefix("jit(").removesuffix(")"))
    if name in ("grad", "jit(grad)", "jvp") and not measured.program.smooth:
        raise UncheckableError("no argument of it is differentiated")
    f, args, right = maker(True) if name.startswith("jit(") else maker()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        got = f(*copy.deepcopy(args))
        first = time.perf_counter() - start
    told = [str(w.message) for w in caught if issubclass(w.category, tapeless.PerformanceWarning)]
    traced = [message for message in told if "trace" in message or "call of its own" in message]
    if not right(got):
        return {"outcome": "wrong", "why": f"{got!r}"[:300]}
    return {
        "outcome": "traced" if traced else "right",
        "why": "; ".join(traced or told),
        "first": first,
        "ratio": ratio(f, measured.beside(name, args), args),
    }


def attempted(measured: Measured, name: str) -> dict[str, Any]:
    try:
        return outcome(measured, name)
    except UncheckableError as e:
        return {"outcome": "unchecked", "why": str(e)}
    except tapeless.errors.InternalError as e:
        return {"outcome": "error", "why": str(e)}
    except tapeless.TapelessError as e:
        return {"outcome": "refused", "why": str(e)}
    except Exception as e:  # noqa: BLE001  # whatever it is, it is no result
        return {"outcome": "error", "why": f"{type(e).__name__}: {e}"}


def main() -> None:
    checkouts, index = Path(sys.argv[1]), int(sys.argv[2])
    program = catalogue.PROGRAMS[index]
    said = sys.stdout
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        try:
            measured = Measured(program, checkouts)
        except Exception as e:  # noqa: BLE001  # a missing package, a changed function
            print(json.dumps({"outcome": "not run", "why": f"{type(e).__name__}: {e}"}), file=said)
            return
        for name in TRANSFORMATIONS:
            line = {"transformation": name, **attempted(measured, name)}
            print(json.dumps(line), file=said, flush=True)


if __name__ == "__main__":
    main()
