"""Jobs of 1, 2 and 4 processes, each with a time limit that ends one that hangs."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tapeless import checkpoint_io, grad

PROGRAMS = Path(__file__).parent / "programs"
MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}")
pytestmark = pytest.mark.skipif(
    MPIEXEC is None or importlib.util.find_spec("mpi4py") is None,
    reason="needs mpi4py and mpiexec: pip install mpi4py mpich",
)


def job(count, program, *arguments):
    """Runs a program on `count` processes."""
    command = [MPIEXEC, "-n", str(count), sys.executable, str(PROGRAMS / program), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=90, check=False
    )


@pytest.mark.parametrize(("count", "shards"), [(1, 1), (1, 3), (2, 1), (2, 2), (4, 1)])
def test_collectives(count, shards):
    done = job(count, "collectives.py", str(shards))
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"fine {k}" for k in range(count)]


def reference():
    """The same training, written out: the gradient of the mean loss, in one process."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((16, 5)), rng.standard_normal((16, 2))
    params = [rng.standard_normal((5, 4)), np.zeros(4), rng.standard_normal((4, 2))]

    def loss(params):
        w1, b1, w2 = params
        return np.sum((np.tanh(x @ w1 + b1) @ w2 - y) ** 2) / 16

    for _ in range(20):
        params = [p - 0.1 * g for p, g in zip(params, grad(loss)(params), strict=True)]
    return dict(zip(("w1", "b1", "w2"), params, strict=True))


def trained(path):
    """Steps and parameters that a job wrote."""
    return checkpoint_io.load(path, (0, reference()))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_data_parallel_training(count, tmp_path):
    done = job(count, "training.py", str(tmp_path / "state.npz"), "-1")
    assert done.returncode == 0, done.stderr
    steps, found = trained(tmp_path / "state.npz")
    assert steps == 20
    for name, want in reference().items():
        np.testing.assert_allclose(found[name], want, rtol=1e-10)


def test_training_goes_on_from_its_file(tmp_path):
    path = str(tmp_path / "state.npz")
    done = job(2, "training.py", path, "7")
    assert done.returncode != 0
    assert "RuntimeError: the machine is gone" in done.stderr
    assert trained(path)[0] in (6, 7)  # the first process may not have written the last step
    done = job(4, "training.py", path, "-1")
    assert done.returncode == 0, done.stderr
    steps, found = trained(path)
    assert steps == 20
    for name, want in reference().items():
        np.testing.assert_allclose(found[name], want, rtol=1e-10)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("raises", "ValueError: beyond the limit"),
        ("dies", ""),
        ("catches it", ""),  # and ends before the others, which cannot go on
    ],
)
def test_a_process_that_fails_ends_the_job(how, says):
    start = time.monotonic()
    done = job(3, "failing.py", how)
    assert done.returncode != 0
    assert says in done.stderr
    assert done.stdout.count("went on") == (how == "catches it")
    assert time.monotonic() - start < 60


@pytest.mark.parametrize(
    ("how", "calls"),
    [
        ("functions", "process 0 at call 1, of first_pmap; process 1 at call 1, of second_pmap"),
        ("counts", "process 0 at call 1, of first_pmap; process 1 at call 2, of first_pmap"),
        ("leaves", "process 0 at call 2, of first_pmap; process 1 at its end"),
        ("lambdas", "process 0 at call 1, of function_pmap; process 1 at call 1, of function_pmap"),
        ("leaves a mesh", "process 0 at call 2, of first_pmap; process 1 at its end"),
    ],
)
def test_processes_that_make_different_calls(how, calls):
    done = job(4 if how == "leaves a mesh" else 2, "different.py", how)
    assert done.returncode != 0
    said = re.sub(r" \(different\.py:\d+\)", "", done.stderr)
    assert said != done.stderr
    assert f"the processes do not make the same calls of pmap: {calls}" in said


def test_a_mesh_of_named_axes():
    done = job(4, "mesh.py")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"fine {k}" for k in range(4)]


def test_processes_that_bring_different_shapes():
    done = job(2, "different.py", "shapes")
    assert done.returncode != 0
    assert "the processes bring different things to a meeting: process" in done.stderr
    assert "a psum of (3,) float64" in done.stderr or "a psum of (4,) float64" in done.stderr


def test_several_processes_inside_another_transformation():
    done = job(2, "refused.py")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["fine 0", "fine 1"]


def test_a_process_that_fails_before_it_joins_is_not_waited_for():
    done = job(2, "absent.py")
    assert done.returncode != 0
    assert "the cause" in done.stderr
    assert "Timeout" in done.stderr
    assert "initialize" in done.stderr
