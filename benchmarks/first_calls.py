"""What comes before the first result, beside JAX: seconds of processor time.

python -m benchmarks.first_calls [--npbench CHECKOUT] [--only TEXT] [--stages] [--table FILE]

The programs are those of `workloads.py` and, out of a checkout, those of NPBench and their
gradients. Each runs in new processes of its own: with an empty cache, and with what the process
before has left in it. Imports count, but for NumPy's; what a further call takes is taken off.
Python has compiled all modules before, as it has those of an installed package.
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import cell, npbench  # after the path is set
from benchmarks.own_process import ROOT, output_of  # the same
from benchmarks.stage_times import ORDER, StageClock  # the same
from benchmarks.workloads import WORKLOADS  # the same

LIBRARIES = ("tapeless", "JAX")
GRADIENT = "gradient of "
MOST = 1.5  # times as long as JAX
Call = Callable[[], Any]

# -- one program, one library, in a process of its own


def workload(name: str, library: str) -> Callable[[], Call]:
    """A maker of the call of a workload."""
    w = WORKLOADS[name]
    args = w.arguments(w.sizes[0], np.random.default_rng(0))

    def make() -> Call:
        call, given = (cell.by_jax if library == "JAX" else cell.by_tapeless)(w, args)
        return lambda: call(*given)

    return make


def of_npbench(checkout: Path, name: str, library: str) -> Callable[[], Call]:
    """A maker of the call of a program of NPBench, in size S."""
    sys.path.insert(0, str(checkout))
    gradient, name = name.startswith(GRADIENT), name.removeprefix(GRADIENT)
    program = next(p for p in npbench.programs(checkout) if p.name == name)
    args = program.arguments("S")
    ending = npbench.VERSIONS[library][0]
    if library == "tapeless":
        plain = program.function(ending)
        if gradient:  # how results are returned is looked up in a run of NumPy's
            plain = npbench.loss_of(program, plain, args)

    def make() -> Call:
        if library == "tapeless":
            import tapeless  # noqa: PLC0415  # this counts

            place = npbench.place_of(args) if gradient else 0
            function = tapeless.grad(plain, argnums=place) if gradient else plain
            function = tapeless.jit(function)
            return lambda: function(*copy.deepcopy(args))
        jax = npbench.with_x64()
        function = program.function(ending)
        if gradient:
            function = npbench.gradient_of(program, function, library, args)
        arrays = [jax.numpy.asarray(x) if isinstance(x, np.ndarray) else x for x in args]
        return lambda: jax.block_until_ready(function(*arrays))

    return make


def measured(name: str, library: str, options: argparse.Namespace) -> dict[str, Any]:
    """Seconds before the first result, less a further call; with `--stages`, those by stage."""
    if name in WORKLOADS:
        make = workload(name, library)
    else:
        make = of_npbench(options.npbench, name, library)
    clock = StageClock() if options.stages else None
    start = time.process_time()
    call = make()
    call()
    first = time.process_time() - start
    by_stage = clock.seconds() if clock else {}
    again = []
    for _ in range(2):
        start = time.process_time()
        call()
        again.append(time.process_time() - start)
    return {"seconds": first - min(again), "stages": by_stage}


# -- all of them


def names(options: argparse.Namespace) -> Iterator[str]:
    """The programs that are measured."""
    found = list(WORKLOADS)
    if options.npbench:
        listed = [p.name for p in npbench.programs(options.npbench)]
        found += [*listed, *(GRADIENT + name for name in listed)]
    yield from (name for name in found if options.only in name)


def outcome(
    name: str, library: str, folder: str, compiled: str, options: argparse.Namespace, stages: bool
) -> dict[str, Any] | None:
    """What a process has measured; None where there is nothing to measure, or something failed."""
    command = ["benchmarks.first_calls", "--measure", library, "--only", name]
    command += ["--stages"] * stages
    if options.npbench:
        command += ["--npbench", str(options.npbench)]
    environment = {"TAPELESS_CACHE_DIR": folder, "OMP_NUM_THREADS": "1"}
    environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": compiled}
    output, _ = output_of(command, options.timeout, **environment)
    lines = output.splitlines()
    return json.loads(lines[-1]) if lines and lines[-1].startswith("{") else None


def compile_modules(compiled: str, options: argparse.Namespace) -> None:
    """Has Python compile the modules of tapeless, and those of JAX that it will need."""
    environment = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": compiled}
    folders = [str(ROOT / name) for name in ("api", "transforms", "backends", "benchmarks")]
    output_of(["compileall", "-q", *folders], options.timeout, **environment)
    for library in LIBRARIES:
        for name in ("S1 sin(x) + cos(y)", "S3 its gradient"):
            with tempfile.TemporaryDirectory() as folder:
                outcome(name, library, folder, compiled, options, stages=False)


def row(name: str, compiled: str, options: argparse.Namespace) -> dict[str, Any]:
    """A program: seconds of tapeless with an empty and a filled cache, of JAX, and stages."""
    made: dict[str, Any] = {"program": name}
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as other:
        runs = {"tapeless": ("tapeless", empty), "filled": ("tapeless", empty), "JAX": ("JAX", "")}
        for key, (library, folder) in runs.items():
            result = outcome(name, library, folder, compiled, options, stages=False)
            made[key] = result and result["seconds"]
        if options.stages:
            result = outcome(name, "tapeless", other, compiled, options, stages=True)
            made["stages"] = result and result["stages"]
    return made


def seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def ratio(made: dict[str, Any]) -> float | None:
    """How many times as long as JAX it took."""
    return made["tapeless"] / made["JAX"] if made["tapeless"] and made["JAX"] else None


def line(made: dict[str, Any], stages: bool) -> str:
    cells = [made["program"], *(seconds(made[k]) for k in ("tapeless", "JAX"))]
    cells += [seconds(ratio(made)), seconds(made["filled"])]
    if stages:
        spent = made["stages"] or {}
        cells += [f"{1e3 * spent.get(stage, 0):.0f}" for stage in ORDER]
    return f"| {' | '.join(cells)} |"


def table(rows: list[dict[str, Any]], stages: bool) -> str:
    """All rows in Markdown, with medians."""
    heads = ["program", "tapeless, s", "JAX, s", "ratio", "filled cache, s"]
    heads += [f"{stage}, ms" for stage in ORDER] if stages else []
    text = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    text += [line(made, stages) for made in rows]
    groups = {
        "Own programs": [r for r in rows if r["program"] in WORKLOADS],
        "NPBench": [
            r
            for r in rows
            if r["program"] not in WORKLOADS and not r["program"].startswith(GRADIENT)
        ],
        "Gradients of NPBench": [r for r in rows if r["program"].startswith(GRADIENT)],
    }
    for name, group in groups.items():
        ratios = {r["program"]: x for r in group if (x := ratio(r)) is not None}
        if ratios:
            beyond = [f"{p} {x:.2f}" for p, x in ratios.items() if x > MOST]
            median = statistics.median(ratios.values())
            text += ["", f"{name}: {len(ratios)} rows, median {median:.2f} of JAX's, "]
            text[-1] += f"beyond {MOST}: {', '.join(beyond) or 'none'}."
    return "\n".join(text) + "\n"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_calls")
    parser.add_argument("--npbench", type=Path, help="a clone of spcl/npbench")
    parser.add_argument("--only", default="", help="a part of the names of programs")
    parser.add_argument("--stages", action="store_true", help="also the time by stage")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for a process")
    parser.add_argument("--table", type=Path, help="a Markdown file to write")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.npbench = options.npbench and options.npbench.resolve()
    return options


def main() -> None:
    options = arguments()
    if options.measure:
        made = measured(options.only, options.measure, options)
        sys.stdout.write("\n" + json.dumps(made) + "\n")
        return
    rows = []
    with tempfile.TemporaryDirectory() as compiled:
        compile_modules(compiled, options)
        for name in names(options):
            rows.append(row(name, compiled, options))
            sys.stdout.write(line(rows[-1], options.stages) + "\n")
            sys.stdout.flush()
            if options.table:
                options.table.write_text(table(rows, options.stages), encoding="utf-8")
    sys.stdout.write(table(rows, options.stages))


if __name__ == "__main__":
    main()
