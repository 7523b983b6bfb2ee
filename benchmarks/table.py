"""The table of workloads: compiled functions and derivatives beside peers, as Markdown and a chart.

    python benchmarks/table.py                        # results/table.md, results/chart.png
    python benchmarks/table.py --only S1,L1 --threads 2

Each cell runs in a process of its own, tapeless with an empty and with a filled cache. What a
library cannot do is a dash, and so is a library that is not installed. Results are compared.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.cell import LIBRARIES, installed  # after the path is set
from benchmarks.workloads import WORKLOADS  # the same

HERE = Path(__file__).parent
GROWN = ("S1", "S3 its", "M1", "L1")  # the workloads whose sizes are varied
PATIENCE = 100  # seconds for a cell
TOLERANCE = 2e-3  # of the sum of magnitudes, in single precision
POOLS = ("OMP", "OPENBLAS", "MKL", "TAPELESS")


def run(name, library, size, threads, folder):
    """What a process measures; None if it fails or takes too long."""
    flags = "--xla_cpu_multi_thread_eigen=" + ("false" if threads == 1 else "true")
    pools = {f"{pool}_NUM_THREADS": str(threads) for pool in POOLS}
    command = [sys.executable, str(HERE / "cell.py"), name, library, str(size)]
    if threads == 1 and sys.platform == "linux":
        command = ["taskset", "-c", str(max(os.sched_getaffinity(0))), *command]
    environment = {**os.environ, **pools, "XLA_FLAGS": flags, "TAPELESS_CACHE_DIR": folder}
    try:
        made = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE
        )
    except subprocess.SubprocessError as e:
        if library == "tapeless":
            raise SystemExit(f"{name}: {e}\n{e.stderr}") from e
        return None
    return json.loads(made.stdout)


def row(name, size, threads):
    """Library -> what was measured, without what is wrong."""
    found = {}
    for library in filter(installed, LIBRARIES):
        with tempfile.TemporaryDirectory() as folder:
            found[library] = run(name, library, size, threads, folder)
            if library == "tapeless" and found[library]:
                again = run(name, library, size, threads, folder)
                found[library]["filled"] = again["first"]
    made = {k: v for k, v in found.items() if v}
    transform = WORKLOADS[name].transform
    values = [v["check"] for k, v in made.items() if k != "NumPy" or transform == "jit"]
    for library, value in made.items():
        same = abs(value["check"] - values[-1]) <= TOLERANCE * abs(values[-1])
        assert same or (library == "NumPy" and transform != "jit"), f"{library}: another {name}"
    return made


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


def tables(rows, grown):
    """The Markdown."""
    head = ["workload", *LIBRARIES, "best peer / tapeless"]
    head += ["first call", "cached", "memory", "of JAX"]
    yield from (f"| {' | '.join(head)} |", "|---" * len(head) + "|")
    for name, cells in rows.items():
        ours, peer = cells["tapeless"], best_peer(name, cells)
        texts = [seconds(cells[k]["seconds"]) if k in cells else "-" for k in LIBRARIES]
        if "NumPy" in cells and WORKLOADS[name].transform != "jit":
            texts[LIBRARIES.index("NumPy")] += " *"
        texts.append("-" if peer is None else f"**{peer / ours['seconds']:.2f}**")
        texts += [seconds(ours["first"]), seconds(ours["filled"])]
        texts += [megabytes(cells[k]) if k in cells else "-" for k in ("tapeless", "JAX")]
        yield f"| {name} | {' | '.join(texts)} |"
    yield "\n\\* the function only, where the others compute its derivative.\n"
    yield from ("| workload | library | sizes and times |", "|---|---|---|")
    for (name, library), times in grown.items():
        listed = ", ".join(f"{size}: {seconds(t)}" for size, t in times.items())
        yield f"| {name} | {library} | {listed} |"


def megabytes(cell):
    return "-" if cell["memory"] is None else f"{cell['memory']:.1f} MB"


def growth(rows, threads):
    """(workload, library) -> size -> seconds."""
    found = {}
    for name in rows:
        w = WORKLOADS[name]
        for library in [k for k in rows[name] if k != "NumPy" or w.transform == "jit"]:
            if name.startswith(GROWN):
                with tempfile.TemporaryDirectory() as folder:
                    cells = {n: run(name, library, n, threads, folder) for n in w.sizes}
                found[name, library] = {n: c["seconds"] for n, c in cells.items() if c}
    return found


def chart(rows, grown, path):
    """How much faster than the best peer, and times by size; without matplotlib nothing."""
    try:
        import matplotlib as mpl  # noqa: PLC0415  # where it is installed
    except ImportError:
        print("matplotlib is not installed: no chart")
        return
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415  # after the backend is chosen

    peers = {n: best_peer(n, c) for n, c in rows.items()}
    ratios = {n: peers[n] / c["tapeless"]["seconds"] for n, c in rows.items() if peers[n]}
    names = list(dict.fromkeys(name for name, _ in grown))
    figure = plt.figure(figsize=(11, 4.5 + 2.2 * bool(names)), layout="constrained")
    grid = figure.add_gridspec(2 if names else 1, max(1, len(names)))
    bars = figure.add_subplot(grid[0, :])
    bars.bar(list(ratios), list(ratios.values()), color="tab:blue")
    bars.axhline(1, color="black", linewidth=0.8)
    bars.set_yscale("log")
    bars.set_ylabel("time of the best peer / time of tapeless")
    bars.tick_params(axis="x", rotation=60)
    for k, name in enumerate(names):
        axes = figure.add_subplot(grid[1, k])
        for (other, library), times in grown.items():
            if other == name:
                axes.loglog(list(times), list(times.values()), marker=".", label=library)
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("size")
        axes.set_ylabel("seconds")
        axes.legend(fontsize=7)
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description="Measure compiled workloads beside peers.")
    parser.add_argument("--only", default="", help="workloads by how their names begin: S1,L1")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    chosen = tuple(options.only.split(","))
    rows = {}
    for name, w in WORKLOADS.items():
        if name.startswith(chosen):
            rows[name] = row(name, w.sizes[-1], options.threads)
            print(name, {k: seconds(v["seconds"]) for k, v in rows[name].items()}, flush=True)
    grown = growth(rows, options.threads)
    options.out.mkdir(parents=True, exist_ok=True)
    text = "\n".join(tables(rows, grown)) + "\n"
    (options.out / "table.md").write_text(text, encoding="utf-8")
    chart(rows, grown, options.out / "chart.png")
    print(text)


if __name__ == "__main__":
    main()
