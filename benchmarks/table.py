"""The table of workloads: compiled functions and derivatives beside peers, as Markdown and a chart.

    python benchmarks/table.py                        # benchmarks/table.md, benchmarks/table.png
    python benchmarks/table.py --only S1,L1 --threads 2 --out /tmp

Each cell is a process of its own (tapeless once with an empty and once with a filled cache), and
those of a row take turns, so that what else the machine does strikes all alike. What a library
cannot do, or not within two minutes, is a dash, and so is one that is not installed. Results are
compared.
"""

import argparse
import contextlib
import datetime
import functools
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import dispatch  # after the path is set
from benchmarks.cell import LIBRARIES, installed, version  # the same
from benchmarks.chart import chart  # the same
from benchmarks.workloads import WORKLOADS  # the same

HERE = Path(__file__).parent
ROUNDS, FEWER = 7, 3  # of the cells of a row; where sizes are varied
PATIENCE = 120  # seconds for what a cell is asked
SLOW = 3  # seconds of a call after which one is enough
TOLERANCE = 2e-3  # of the sum of magnitudes, in single precision
POOLS = ("OMP", "OPENBLAS", "MKL", "TAPELESS")


class Cell:
    """A process that measures one workload on one library when it is asked to."""

    def __init__(self, name, library, size, threads, folder):
        command = [sys.executable, str(HERE / "cell.py"), name, library, str(size)]
        if threads == 1 and sys.platform == "linux":
            command = ["taskset", "-c", str(max(os.sched_getaffinity(0))), *command]
        self.process = subprocess.Popen(
            command,
            env=environment(threads, folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if library == "tapeless" else subprocess.DEVNULL,
            text=True,
        )

    def answer(self):
        """What it prints next; None if it has died, or takes too long."""
        timer = threading.Timer(PATIENCE, self.process.kill)
        timer.start()
        try:
            line = self.process.stdout.readline()
        finally:
            timer.cancel()
        return json.loads(line) if line else None

    def seconds(self):
        """A call, measured now."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        return self.answer()

    def close(self):
        """Ends it; what it said about errors."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.kill()
        said = self.process.stderr.read() if self.process.stderr else ""
        self.process.wait()
        return said


def environment(threads, folder):
    flags = "--xla_cpu_multi_thread_eigen=" + ("false" if threads == 1 else "true")
    pools = {f"{pool}_NUM_THREADS": str(threads) for pool in POOLS}
    pools["OPENBLAS_THREAD_TIMEOUT"] = "10"  # else idle threads of one process slow the next one
    caches = {"TAPELESS_CACHE_DIR": folder, "TORCHINDUCTOR_CACHE_DIR": f"{folder}/torch"}
    return {**os.environ, **pools, **caches, "XLA_FLAGS": flags}


def opened(name, library, size, threads, folder):
    """A cell and what its first calls show; None where the library cannot do it."""
    cell = Cell(name, library, size, threads, folder)
    shown = cell.answer()
    if shown is not None:
        return cell, shown
    said = cell.close()
    if library == "tapeless":
        raise SystemExit(f"{name}: tapeless fails\n{said}")
    return None


def able(name, library):
    """Whether it is there, and would not unroll a long loop for minutes."""
    unrolled = library == "torch.compile" and WORKLOADS[name].jax is not None
    return installed(library) and not unrolled


def row(name, size, threads, libraries, rounds=ROUNDS):
    """Library -> what was measured, without what is wrong."""
    cells, found = {}, {}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        for library in libraries:
            made = opened(name, library, size, threads, folder)
            if made and library == "tapeless" and rounds == ROUNDS:
                made[0].close()
                cell, again = opened(name, library, size, threads, folder)
                made = cell, {**made[1], "filled": again["first"]}
            if made:
                cells[library], found[library] = made
                stack.callback(made[0].close)
        compare(name, found)
        for library, times in in_turn(cells, rounds).items():
            if times:
                found[library]["seconds"] = statistics.median(times)
    return {library: made for library, made in found.items() if "seconds" in made}


def in_turn(cells, rounds):
    """Library -> the seconds of calls, one a round."""
    found = {library: [] for library in cells}
    for k in range(rounds):
        order = [*cells]
        for library in order[k % len(order) :] + order[: k % len(order)]:
            slow = found[library] and found[library][-1] > SLOW
            value = None if slow else cells[library].seconds()
            if value is not None:
                found[library].append(value)
    return found


def compare(name, found):
    """All that compute the same have the same result."""
    same = {k: v for k, v in found.items() if k != "NumPy" or WORKLOADS[name].transform == "jit"}
    wanted = [*same.values()][-1]["check"]
    for library, value in same.items():
        near = abs(value["check"] - wanted) <= TOLERANCE * abs(wanted)
        assert near, f"{library}: another {name}"


def growth(name, rows, threads):
    """Library -> size -> seconds, of a workload whose size is varied."""
    found, w = {}, WORKLOADS[name]
    if len(w.sizes) > 1:
        libraries = [k for k in rows[name] if k != "NumPy" or w.transform == "jit"]
        libraries = [k for k in libraries if rows[name][k]["seconds"] < SLOW]
        libraries = [k for k in libraries if k != "torch.compile"]  # it compiles for each size
        cells = {n: row(name, n, threads, libraries, FEWER) for n in w.sizes[:-1]}
        cells[w.sizes[-1]] = rows[name]
        for k in libraries:
            found[k] = {n: made[k]["seconds"] for n, made in cells.items() if k in made}
    return found


# -- what is written


def seconds(value):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def best_peer(name, cells):
    """The time of the fastest other library that computes the same."""
    same = WORKLOADS[name].transform == "jit"
    times = [v["seconds"] for k, v in cells.items() if k != "tapeless" and (same or k != "NumPy")]
    return min(times, default=None)


def ratios(rows):
    """Workload -> time of the best peer over ours."""
    peers = {name: best_peer(name, cells) for name, cells in rows.items()}
    return {n: peers[n] / cells["tapeless"]["seconds"] for n, cells in rows.items() if peers[n]}


def mean(values):
    """The geometric mean."""
    return math.exp(statistics.fmean(map(math.log, values)))


def tables(rows, grown):
    """The Markdown of the measurements."""
    libraries = [k for k in LIBRARIES if any(k in cells for cells in rows.values())]
    columns = ["workload", *libraries, "best peer / tapeless"]
    yield from (f"| {' | '.join(columns)} |", "|---" * len(columns) + "|")
    found = ratios(rows)
    for name, cells in rows.items():
        texts = [seconds(cells[k]["seconds"]) if k in cells else "-" for k in libraries]
        if "NumPy" in cells and WORKLOADS[name].transform != "jit":
            texts[libraries.index("NumPy")] += " *"
        texts.append(f"**{found[name]:.2f}**" if name in found else "-")
        yield f"| {name} | {' | '.join(texts)} |"
    yield "\n\\* the function only, where the others compute its derivative."
    if found:
        yield f"\nGeometric mean of the last column, over all rows: **{mean(found.values()):.2f}**."
    yield from costs(rows)
    if grown:
        yield "\n## Time by size\n"
        yield from ("| workload | library | sizes and times |", "|---|---|---|")
    for name, library, times in [(n, k, t) for n, found in grown.items() for k, t in found.items()]:
        listed = ", ".join(f"{size}: {seconds(t)}" for size, t in times.items())
        yield f"| {name} | {library} | {listed} |"


def costs(rows):
    """The first call, and memory."""
    peers = [k for k in LIBRARIES if k != "NumPy" and any(k in cells for cells in rows.values())]
    yield "\n## First calls and memory\n"
    yield "First calls after the import, of tapeless with an empty and with a filled cache;"
    yield "what a further call takes above what the process held before, results included.\n"
    firsts = ["first call, " + k for k in peers]
    firsts.insert(1, "with a filled cache")
    columns = ["workload", *firsts, *("memory, " + k for k in peers)]
    yield from (f"| {' | '.join(columns)} |", "|---" * len(columns) + "|")
    for name, cells in rows.items():
        texts = [seconds(cells[k]["first"]) if k in cells else "-" for k in peers]
        texts.insert(1, seconds(cells["tapeless"]["filled"]))
        texts += [megabytes(cells[k]) if k in cells else "-" for k in peers]
        yield f"| {name} | {' | '.join(texts)} |"


def megabytes(cell):
    return "-" if cell["memory"] is None else f"{cell['memory']:.1f} MB"


@functools.cache
def processor():
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def head(threads):
    """When, where and with what it was measured."""
    used = [library for library in LIBRARIES if installed(library) and "." not in library]
    versions = ", ".join(f"{library} {version(library)}" for library in used)
    yield "# Workloads beside peers\n"
    yield (
        f"Made by `python benchmarks/table.py{' --threads 2' * (threads == 2)}` on "
        f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}: {processor()}, "
        f"{threads} of {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}, {versions}."
    )
    kind = "processor" if threads == 1 else "wall"
    yield f"Medians of {ROUNDS} rounds in which the libraries take turns, in {kind} time."
    yield "Ratios are what counts; a dash: not there, or not within two minutes.\n"


def main():
    parser = argparse.ArgumentParser(description="Measure compiled workloads beside peers.")
    parser.add_argument("--only", default="", help="workloads by how their names begin: S1,L1")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--add", action="store_true", help="keep the other rows of the last run")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / "table.json"
    known = json.loads(kept.read_text(encoding="utf-8")) if options.add else {}
    rows, grown = known.get("rows", {}), known.get("grown", {})
    for name in [name for name in WORKLOADS if name.startswith(tuple(options.only.split(",")))]:
        libraries = [library for library in LIBRARIES if able(name, library)]
        rows[name] = row(name, WORKLOADS[name].sizes[-1], options.threads, libraries)
        grown[name] = growth(name, rows, options.threads)
        print(name, {k: seconds(v["seconds"]) for k, v in rows[name].items()}, flush=True)
        kept.write_text(json.dumps({"rows": rows, "grown": grown}), encoding="utf-8")
    write(rows, grown, options)


def write(rows, grown, options):
    """The files, from all that was measured."""
    rows = {name: rows[name] for name in WORKLOADS if name in rows}
    grown = {name: grown[name] for name in rows if grown[name]}
    calls = ["\n## What a call costs\n", *dispatch.table()]
    text = "\n".join([*head(options.threads), *tables(rows, grown), *calls]) + "\n"
    (options.out / "table.md").write_text(text, encoding="utf-8")
    chart(ratios(rows), grown, options.out / "table.png")
    print(text)


if __name__ == "__main__":
    main()
