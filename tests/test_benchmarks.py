"""The workloads of the benchmarks: they run, and ours agrees with the peers that are here."""

import argparse
import functools
import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from tapeless import disable_jit, jit

ROOT = str(Path(__file__).parents[1])
sys.path.insert(0, ROOT)  # they are no part of the package

from benchmarks import cell, first_calls, growth, loops, memory  # noqa: E402  # after the path is set
from benchmarks.chart import chart  # noqa: E402  # the same
from benchmarks.same_source import row  # noqa: E402  # the same
from benchmarks.stage_times import STAGES  # noqa: E402  # the same
from benchmarks.table import compare, mean, ratios, seconds, tables  # noqa: E402  # the same
from benchmarks.time_stepping import PROGRAMS  # noqa: E402  # the same
from benchmarks.workloads import WORKLOADS  # noqa: E402  # the same

sys.path.remove(ROOT)


@pytest.mark.parametrize("name", WORKLOADS)
def test_workloads_are_what_numpy_computes(name):
    w = WORKLOADS[name]
    args = w.arguments(w.sizes[0], np.random.default_rng(0))
    call, given = cell.by_tapeless(w, args)
    with disable_jit():
        found = cell.magnitude(call(*given))
    if w.transform == "jit":
        assert found == pytest.approx(cell.magnitude(w.make(np)(*args)), rel=1e-5)
    assert found > 0
    assert np.isfinite(found)


def test_a_cell():
    made, call = cell.prepared("S7 logistic, one slope", "NumPy", 1)
    assert 0 < cell.seconds_of(call, burst=1e-3) < 1
    assert made["check"] == pytest.approx(1 / (1 + np.exp(-0.3)))


def test_the_table_and_its_chart(tmp_path):
    ours = {"seconds": 0.5e-3, "first": 2.0, "filled": 0.1, "memory": 1.5, "check": 1.0}
    rows = {"S1 sin(x) + cos(y)": {"tapeless": ours, "NumPy": {**ours, "seconds": 2e-3}}}
    grown = {"S1 sin(x) + cos(y)": {"tapeless": {10: 1e-6, 100: 5e-5}}}
    text = "\n".join(tables(rows, grown))
    assert "| 500 µs | 2 ms | **4.00** |" in text
    assert "| 2 s | 100 ms | 1.5 MB |" in text
    assert "over all rows: **4.00**" in text
    assert "10: 1 µs, 100: 50 µs" in text
    assert seconds(3e-9) == "3 ns"
    pytest.importorskip("matplotlib", reason="draws the chart")
    chart(ratios(rows), grown, tmp_path / "chart.png")
    assert (tmp_path / "chart.png").stat().st_size > 1000


def test_the_geometric_mean():
    assert mean([1.0, 4.0, 16.0]) == pytest.approx(4.0)


def test_results_are_compared():
    name = "S1 sin(x) + cos(y)"
    compare(name, {"tapeless": {"check": 1.0}, "NumPy": {"check": 1.001}})
    with pytest.raises(AssertionError, match="tapeless: another S1"):
        compare(name, {"tapeless": {"check": 1.01}, "NumPy": {"check": 1.0}})


@pytest.mark.parametrize("name", loops.PROGRAMS)
def test_loops_are_what_python_computes(name):
    f, arguments = loops.PROGRAMS[name]
    args = arguments(1)
    np.testing.assert_allclose(jit(f)(*args), f(*args), rtol=1e-9)


def test_a_row_of_one_source():
    assert re.fullmatch(r"\| smoothing \| [\d.]+ ms \|( [\d.]+( times)? \|){4}", row("smoothing"))


def test_a_first_call(tmp_path):
    options = argparse.Namespace(npbench=None, timeout=120)
    kept = str(tmp_path / "cache"), str(tmp_path / "compiled")
    made = first_calls.outcome("S7 logistic, one slope", "tapeless", *kept, options, stages=True)
    assert made["seconds"] > 0
    assert {"imports", "staging", "derivative", "machine code"} <= {*made["stages"]}
    assert sum(made["stages"].values()) >= made["seconds"]


@pytest.mark.parametrize("place", [place for places in STAGES.values() for place in places])
def test_functions_of_stages(place):
    module, path = place
    if module.startswith("llvmlite"):
        pytest.importorskip("llvmlite", reason="compiles kernels")
    assert callable(functools.reduce(getattr, path.split("."), importlib.import_module(module)))


def test_the_table_of_first_calls():
    rows = [
        {"program": "S2 x * x * x", "tapeless": 0.2, "JAX": 0.4, "filled": 0.05},
        {"program": "adi", "tapeless": 0.8, "JAX": 0.5, "filled": 0.1},
        {"program": "gradient of adi", "tapeless": 0.8, "JAX": None, "filled": 0.1},
    ]
    text = first_calls.table(rows, stages=False)
    assert "| S2 x * x * x | 0.20 | 0.40 | 0.50 | 0.05 |" in text
    assert "| gradient of adi | 0.80 | - | - | 0.10 |" in text
    assert "Own programs: 1 rows, median 0.50 of JAX's, beyond 1.5: none." in text
    assert "NPBench: 1 rows, median 1.60 of JAX's, beyond 1.5: adi 1.60." in text


def test_first_calls_take_what_the_readme_says():
    """Four of five programs that were measured, LeNet among them, and the share of staging."""
    lines = (Path(ROOT) / "benchmarks" / "first_calls.md").read_text("utf-8").splitlines()
    cells = [[c.strip() for c in line.split("|")[1:-1]] for line in lines if line[:2] == "| "]
    head, *rows = (row for row in cells if row[1] != "-")
    (promise,) = re.findall(
        r"staging, (\d+) to (\d+) ms; under `jit` ([\d.]+) to ([\d.]+) s, LeNet ([\d.]+) s, once",
        (Path(ROOT) / "README.md").read_text("utf-8"),
    )
    least_ms, most_ms, least, most, of_lenet = map(float, promise)
    first = {row[0]: float(row[head.index("tapeless, s")]) for row in rows}
    assert sum(least <= s <= most for s in first.values()) >= 0.8 * len(first)
    assert first["lenet"] == pytest.approx(of_lenet, abs=0.1)
    stages = [head.index(f"{k}, ms") for k in ("staging", "derivative", "passes")]
    staging = [sum(float(row[k]) for k in stages) for row in rows]
    assert sum(0.5 * least_ms <= ms <= most_ms for ms in staging) >= 0.8 * len(staging)


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_of_time_stepping(name):
    """They agree with central differences of the loop in NumPy along a direction."""
    program, steps = PROGRAMS[name], 3
    state = program.start(64, np.random.default_rng(0))
    loss = memory.loss_of(program)
    first, *rest = state
    direction = np.cos(np.arange(first.size)).reshape(first.shape)

    def along(t):
        moved = first + t * direction
        return loss(moved if program.jax else (moved, *rest), steps)

    slope = (along(1e-5) - along(-1e-5)) / 2e-5
    gradient = memory.by_tapeless(program, steps)(state)
    np.testing.assert_allclose(np.sum(gradient * direction), slope, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", growth.KINDS)
def test_programs_of_growing_length(kind, tmp_path):
    write, argument, _ = growth.KINDS[kind]
    f = growth.function(write(3), tmp_path)
    assert jit(f)(argument) == pytest.approx(f(argument))
