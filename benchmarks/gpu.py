"""Measures the GPU backend on a card: costs, constants, tests, JAX and PyTorch beside it.

    python benchmarks/gpu.py --steps versions,costs,points,rows --out FOLDER

A step prints a line for a record at once (or only its best ones) and keeps all of them in
FOLDER/gpu.json, so that a run that is cut off has told what it knew. Tables are in FOLDER/gpu.md.
"""

import argparse
import json
import os
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
)

from benchmarks.gpu_steps import (  # after the path is set
    checks,
    compare,
    machine,
    points,
    report,
    rows,
)

# name: (step, seconds, fields that group its records where only the best are printed)
STEPS = {
    "versions": (machine.versions, 10, None),
    "costs": (machine.costs, 30, None),
    "tests": (checks.tests, 150, None),
    "sanitizers": (checks.sanitizers, 100, None),
    "points": (points.points, 45, ("program", "dtype", "bytes", "loads")),
    "rows": (rows.rows, 60, ("program", "columns", "mode", "width")),
    "columns": (rows.columns, 25, ("shape", "program", "n", "width")),
    "ensembles": (rows.ensembles, 25, ("program", "dtype")),
    "numpy": (compare.numpy_times, 20, None),
    "jax": (None, 120, None),
    "jax-exact": (None, 60, None),
    "torch": (None, 120, None),
    "tapeless": (None, 150, None),
    "tapeless-launches": (None, 60, None),
    "counters": (checks.counters, 60, None),
}
SYSTEMS = ("jax", "jax-exact", "torch", "tapeless", "tapeless-launches")


class Results:
    """Records by step, written to a folder as they come."""

    def __init__(self, folder):
        self.folder, self.records, self.written = folder, {}, 0.0
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, step, record):
        self.records.setdefault(step, []).append(record)
        if time.monotonic() > self.written + 2:
            self.write()

    def write(self):
        self.written = time.monotonic()
        part = self.folder / "gpu.json.part"
        part.write_text(json.dumps(self.records, indent=0))
        part.replace(self.folder / "gpu.json")


def run(name, results, seconds, options):
    """A step; its records are printed and kept, and a failure is one of them."""
    step, _, group = STEPS[name]
    step = step or compare.systems((name,), options.only, options.dtypes)
    end = time.monotonic() + seconds
    print(f"\n## {name} (at most {seconds:.0f} s)", flush=True)
    try:
        for record in step(seconds):
            results.add(name, record)
            if group is None:
                print(report.line(record)[:400], flush=True)
            if time.monotonic() > end + 15:
                print("stopped: no time left", flush=True)
                break
    except Exception as failure:  # noqa: BLE001  # the other steps go on
        results.add(name, {"failed": traceback.format_exc()})
        print(
            "FAILED",
            type(failure).__name__,
            str(failure)[:1500],
            traceback.format_exc()[-700:],
            flush=True,
        )
    if group:
        print(
            "\n".join(map(report.line, report.best(results.records.get(name, []), group))),
            flush=True,
        )
        wrong = [r for r in results.records.get(name, []) if r.get("error", 0) >= 1e-3]
        print(
            f"{len(results.records.get(name, []))} records, {len(wrong)} wrong",
            *map(report.line, wrong[:3]),
            sep="\n",
            flush=True,
        )
    print(f"({name}: {time.monotonic() - end + seconds:.0f} s)", flush=True)


def write_tables(results):
    """FOLDER/gpu.md: the best of each group, and the systems side by side."""
    parts = []
    for name, records in results.records.items():
        group = STEPS[name][2]
        if name not in SYSTEMS and name != "numpy":
            kept = report.best(records, group, 3) if group else records
            parts.append(
                f"## {name}\n\n"
                + (report.table(kept) if group else "\n".join(f"- {report.line(r)}" for r in kept))
            )
    compared = [r for name in (*SYSTEMS, "numpy") for r in results.records.get(name, [])]
    parts.append("## compared\n\n" + report.comparison(compared))
    (results.folder / "gpu.md").write_text("\n\n".join(parts) + "\n")
    print("\n" + parts[-1], flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument("--out", default="gpu-results", type=Path)
    parser.add_argument(
        "--only",
        default="",
        help="of the compared programs: beginnings of names, with ';' between them",
    )
    parser.add_argument("--dtypes", default="float32,float64")
    parser.add_argument("--seconds", default="", help="other budgets: jax=60,torch=90")
    options = parser.parse_args()
    budgets = dict(part.split("=") for part in options.seconds.split(",") if part)
    results = Results(options.out)
    for name in options.steps.split(","):
        run(name, results, float(budgets.get(name, STEPS[name][1])), options)
        results.write()
        _free()
    write_tables(results)
    results.write()


def _free():
    """Gives memory of the device back, for the workers."""
    import cupy  # noqa: PLC0415  # only where a step has used it

    cupy.get_default_memory_pool().free_all_blocks()


if __name__ == "__main__":
    main()
