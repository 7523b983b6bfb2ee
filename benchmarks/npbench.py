"""Runs NPBench (spcl/npbench) out of a checkout: its NumPy programs, unchanged, under `jit`, beside
NumPy itself, its versions for Numba, and its versions for JAX; gradients beside JAX's.

python -m benchmarks.npbench CHECKOUT [--sizes S,M] [--only TEXT] [--gradients] [--table FILE]

Each program runs in a process of its own with each library, with an empty cache. Times are the
least; what a call stores to is copied before. Results are compared with NumPy's, gradients with
finite differences of NumPy's, and with JAX's.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import inspect
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.own_process import output_of  # after the path is set

#: The endings of the files of one program, by library; of several versions the fastest counts.
VERSIONS = {
    "NumPy": ("numpy",),
    "tapeless": ("numpy",),
    "JAX": ("jax",),
    "Numba": ("numba_n", "numba_np", "numba_npr"),
}
GRADIENTS = ("tapeless", "JAX")
SECONDS, MOST, FEWEST = 1.0, 50, 3  # of repeated calls
#: Differences that count as right, by precision: relative to a number, or to the largest of them.
RIGHT = {"single": (1e-4, 1e-5), "double": (1e-6, 1e-8)}


@dataclass(frozen=True)
class Program:
    """What NPBench's file says of a program."""

    name: str
    info: dict[str, Any]

    @property
    def module(self) -> str:
        place = self.info["relative_path"].replace("/", ".")
        return f"npbench.benchmarks.{place}.{self.info['module_name']}"

    def arguments(self, size: str) -> list[Any]:
        """Those of the function, in its order."""
        values = dict(self.info["parameters"][size])
        if "init" in self.info:
            init = self.info["init"]
            initialize = getattr(importlib.import_module(self.module), init["func_name"])
            made = initialize(*(values[name] for name in init["input_args"]))
            values.update(zip(init["output_args"], _several(made), strict=True))
        return [values[name] for name in self.info["input_args"]]

    def function(self, ending: str) -> Callable[..., Any] | None:
        """A version of the program; None if there is none."""
        try:
            module = importlib.import_module(f"{self.module}_{ending}")
        except ImportError:
            return None
        return getattr(module, self.info["func_name"], None)

    def results(self, returned: Any, before: list[Any], args: list[Any]) -> list[np.ndarray]:
        """What the program computes: what it returns, or the arrays that it stores to."""
        if returned is not None:
            return [np.asarray(x) for x in _several(returned)]
        return [np.asarray(args[k]) for k in self.stored(before, args)]

    def stored(self, before: list[Any], after: list[Any]) -> list[int]:
        """The places of the arrays that the program stores to; what NPBench's file calls results
        is not stored to in all programs."""
        names = self.info["input_args"]
        changed = [k for k in range(len(names)) if not np.array_equal(before[k], after[k])]
        named = [names.index(name) for name in self.info["output_args"]]
        return [k for k in named if k in changed] or changed


def _several(made: Any) -> tuple[Any, ...]:
    return tuple(made) if isinstance(made, (tuple, list)) else (made,)


def programs(checkout: Path, only: str = "") -> list[Program]:
    """All of them, those of these short names, or those whose short name has a text in it."""
    files = sorted((checkout / "bench_info").glob("*.json"))
    infos = [json.loads(path.read_text(encoding="utf-8"))["benchmark"] for path in files]
    listed = [Program(info["short_name"], info) for info in infos]
    listed = [p for p in listed if "parameters" in p.info]
    named = [p for p in listed if p.name in only.split(",")]
    return named or [p for p in listed if only in p.name]


# -- one program, one library, in a process of its own


def measured(program: Program, size: str, library: str, gradient: bool) -> dict[str, Any]:
    """Seconds of the first call and of later ones, and where the results are kept."""
    args = program.arguments(size)
    best: dict[str, Any] = {}
    for ending in VERSIONS[library]:
        function = program.function(ending)
        if function is None:
            continue
        if gradient:
            function = gradient_of(program, function, library, args)
        elif library == "tapeless":
            function = _tapeless().jit(function)
        try:
            made = timed(program, function, library, args)
            if gradient and library == "tapeless":
                made["function"] = seconds_of_function(program, ending, args)
                made["right"] = is_a_slope(program, ending, args, made["results"])
        except Exception as error:  # noqa: BLE001  # a version that this release of its library does not take
            made = {"error": f"{type(error).__name__}: {str(error).splitlines()[0][:100]}"}
        if not best or made.get("steady", math.inf) < best.get("steady", math.inf):
            best = made
    return best or {"error": "no version for this library"}


def timed(
    program: Program, function: Callable[..., Any], library: str, args: list[Any]
) -> dict[str, Any]:
    def call() -> tuple[float, Any, list[Any]]:
        given = copy.deepcopy(args)
        if library == "JAX":
            given = [with_x64().numpy.asarray(x) if isinstance(x, np.ndarray) else x for x in given]
        start = time.perf_counter()
        returned = function(*given)
        if library == "JAX":
            returned = with_x64().block_until_ready(returned)
        return time.perf_counter() - start, returned, given

    first, returned, given = call()
    results = program.results(returned, args, given)
    with tempfile.NamedTemporaryFile(suffix=".npz", delete=False) as file:
        np.savez(file, *results)
    times: list[float] = []
    while len(times) < FEWEST or (sum(times) < SECONDS and len(times) < MOST):
        times.append(call()[0])
    return {"first": first, "steady": min(times), "results": file.name}


def seconds_of_function(program: Program, ending: str, args: list[Any]) -> float:
    """Those of the function that a gradient is of."""
    function = program.function(ending)
    assert function is not None
    made = timed(program, _tapeless().jit(function), "tapeless", args)
    Path(made["results"]).unlink()
    return float(made["steady"])


def gradient_of(
    program: Program, function: Callable[..., Any], library: str, args: list[Any]
) -> Callable[..., Any]:
    """The gradient of the sum of all results by the first array of floats."""
    place = place_of(args)
    if library == "JAX":
        jnp = with_x64().numpy
        names = list(inspect.signature(function).parameters)
        fixed = tuple(k for k in range(len(names)) if not isinstance(args[k], np.ndarray))

        def total(*given: Any) -> Any:
            return sum(jnp.sum(jnp.real(x)) for x in _several(function(*given)))

        return with_x64().jit(with_x64().grad(total, argnums=place), static_argnums=fixed)
    loss = loss_of(program, function, args)
    return _tapeless().jit(_tapeless().grad(loss, argnums=place))


def is_a_slope(program: Program, ending: str, args: list[Any], results: str) -> bool:
    """Whether a gradient is the slope of NumPy's program along a random line, by differences."""
    function, place = program.function(ending), place_of(args)
    assert function is not None
    loss = loss_of(program, function, args)
    along = np.random.default_rng(0).normal(size=args[place].shape)
    with np.load(results) as file:
        slope = np.sum(file["arr_0"] * along)

    def at(step: float) -> Any:
        given = copy.deepcopy(args)
        given[place] = (given[place] + step * along).astype(given[place].dtype)
        return loss(*given)

    steps = 10.0 ** -np.arange(11, 1, -1)
    return any(np.isclose((at(h) - at(-h)) / (2 * h), slope, rtol=1e-3) for h in steps)


def place_of(args: list[Any]) -> int:
    """The first array of floats among the arguments."""
    floats = (k for k, x in enumerate(args) if isinstance(x, np.ndarray) and x.dtype.kind == "f")
    place = next(floats, None)
    if place is None:
        raise SystemExit(json.dumps({"error": "no array of floats among its arguments"}))
    return place


def loss_of(program: Program, function: Callable[..., Any], args: list[Any]) -> Callable[..., Any]:
    """The sum of all results of a program."""
    given = copy.deepcopy(args)
    if function(*given) is not None:
        return _of_returned(function)
    return _of_stored(function, program.stored(args, given))


def _of_returned(function: Callable[..., Any]) -> Callable[..., Any]:
    def total_of_returned(*args):
        result = function(*args)
        if isinstance(result, tuple):
            total = 0.0
            for x in result:
                total = total + np.sum(np.real(x))
            return total
        return np.sum(np.real(result))

    return total_of_returned


def _of_stored(function: Callable[..., Any], places: list[int]) -> Callable[..., Any]:
    def total_of_stored(*args):
        function(*args)
        total = 0.0
        for k in places:
            total = total + np.sum(np.real(args[k]))
        return total

    return total_of_stored


def _tapeless() -> Any:
    return importlib.import_module("tapeless")


def with_x64() -> Any:
    """JAX, which computes in the precision of NumPy."""
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


# -- all of them


def outcome(
    checkout: Path, program: Program, size: str, library: str, gradient: bool, timeout: float
) -> dict[str, Any]:
    """What a process of its own has measured."""
    command = ["benchmarks.npbench", str(checkout), "--sizes", size, "--only", program.name]
    command += ["--measure", library, *["--gradients"] * gradient]
    with tempfile.TemporaryDirectory() as cache:
        caches = {"TAPELESS_CACHE_DIR": cache, "NUMBA_CACHE_DIR": cache}
        output, errors = output_of(command, timeout, [checkout], **caches)
    lines = output.splitlines()
    if not lines or not lines[-1].startswith("{"):
        return {"error": errors.splitlines()[-1][:100] if errors else "no result"}
    return json.loads(lines[-1])  # type: ignore[no-any-return]


def agree(one: dict[str, Any], other: dict[str, Any]) -> bool | None:
    """Whether results are the same; None where they cannot be compared."""
    if "results" not in one or "results" not in other:
        return None
    with np.load(one["results"]) as a, np.load(other["results"]) as b:
        if [a[k].shape for k in a.files] != [b[k].shape for k in b.files]:
            return None
        return all(_close(a[k], b[k]) for k in a.files)


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    single = {np.dtype(np.float32), np.dtype(np.complex64)} & {a.dtype, b.dtype}
    relative, absolute = RIGHT["single" if single else "double"]
    absolute *= max(1.0, float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b))))
    return np.allclose(a, b, rtol=relative, atol=absolute, equal_nan=True)


def rows(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """What each program took, library by library."""
    libraries = GRADIENTS if options.gradients else tuple(VERSIONS)
    chosen = [name for name in libraries if name in options.libraries.split(",")]
    for program in programs(options.checkout, options.only):
        for size in options.sizes.split(","):
            made = {
                name: outcome(
                    options.checkout, program, size, name, options.gradients, options.timeout
                )
                for name in chosen
            }
            reference = made.get("JAX" if options.gradients else "NumPy", {})
            row = {"program": program.name, "size": size, "made": made}
            row["right"] = agree(made.get("tapeless", {}), reference)
            if options.gradients:
                row["same"], row["right"] = row["right"], made["tapeless"].get("right")
            for each in made.values():
                if "results" in each:
                    Path(each.pop("results")).unlink()
            sys.stdout.write(line(row) + "\n")
            sys.stdout.flush()
            yield row


def cells(row: dict[str, Any]) -> list[str]:
    """A row of the table: milliseconds, ratios to tapeless, what went wrong."""
    ours = row["made"].get("tapeless", {})
    texts = [f"{row['program']} {row['size']}"]
    for name, each in row["made"].items():
        if "error" in each:
            texts.append(each["error"].replace("|", "/"))
            continue
        ratio = each["steady"] / ours["steady"] if "steady" in ours and name != "tapeless" else None
        text = f"{each['steady'] * 1e3:.3g} ms, first {each['first']:.2f} s"
        if "function" in each:
            text += f", {each['steady'] / each['function']:.1f} functions"
        texts.append(text if ratio is None else f"{text}, {ratio:.2f}")
    verdict = {True: "right", False: "**differs**", None: "not compared"}[row["right"]]
    if row.get("same") is False:
        verdict += ", JAX's differs"
    return [*texts, verdict]


def line(row: dict[str, Any]) -> str:
    return "  ".join(cells(row))


def table(made: list[dict[str, Any]]) -> str:
    """All rows in Markdown, and the geometric means of the times of others over ours."""
    names = list(made[0]["made"])
    heads = ["program", *names, "results"]
    text = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    text += [f"| {' | '.join(cells(row))} |" for row in made]
    for name in names:
        ratios = [
            row["made"][name]["steady"] / row["made"]["tapeless"]["steady"]
            for row in made
            if name != "tapeless" and all("steady" in row["made"][k] for k in (name, "tapeless"))
        ]
        if ratios:
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            slower = sum(ratio < 1 for ratio in ratios)
            text += ["", f"{name} takes {mean:.2f} times as long over {len(ratios)} rows "]
            text[-1] += f"(geometric mean); {slower} of them are faster than ours."
    return "\n".join(text) + "\n"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.npbench")
    parser.add_argument("checkout", type=Path, help="a clone of spcl/npbench")
    parser.add_argument("--sizes", default="S,M", help="S, M, L or paper, separated by commas")
    parser.add_argument("--only", default="", help="names, separated by commas, or a part of one")
    parser.add_argument("--libraries", default=",".join(VERSIONS), help="which are measured")
    parser.add_argument("--gradients", action="store_true", help="of sums of the results")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for a process")
    parser.add_argument("--table", type=Path, help="a Markdown file to write")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    options.checkout = options.checkout.resolve()
    if options.measure:
        sys.path.insert(0, str(options.checkout))
        program = next(p for p in programs(options.checkout) if p.name == options.only)
        made = measured(program, options.sizes, options.measure, options.gradients)
        sys.stdout.write("\n" + json.dumps(made) + "\n")
        return
    made: list[dict[str, Any]] = []
    for row in rows(options):
        made.append(row)
        if options.table:
            options.table.write_text(table(made), encoding="utf-8")


if __name__ == "__main__":
    main()
