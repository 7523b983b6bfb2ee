"""Compares the systems: a process for each, one after the other, on the same programs."""

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Systems that are others under a setting.
VARIANTS = {"tapeless-launches": ("tapeless", {"TAPELESS_GPU_GRAPHS": "0"})}


def stream(command, seconds, environment=None):
    """Lines of a process's output while it runs, at most for some seconds; then its exit status."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **(environment or {})},
    )
    end, rest = time.monotonic() + seconds, b""
    while True:
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            process.kill()
            yield f"stopped after {seconds:.0f} s"
            break
        part = os.read(process.stdout.fileno(), 1 << 16)
        if not part:
            break
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield line.decode(errors="replace")
    process.wait()
    yield f"exit status {process.returncode}"


def systems(names, only="", dtypes="float32,float64"):
    """A step that runs workers of these systems."""

    def step(seconds):
        share = seconds / len(names)
        for name in names:
            worker, environment = VARIANTS.get(name, (name, {}))
            command = [
                sys.executable,
                "-m",
                "benchmarks.gpu_steps.worker",
                worker,
                str(share - 15),
                "--dtypes",
                dtypes,
                *(["--only", only] if only else []),
            ]
            other = []
            for line in stream(command, share, environment):
                if line.startswith("{"):
                    yield {"system": name, **json.loads(line)}
                elif line:
                    other = [*other[-3:], line]
            yield {"system": name, "ended": " | ".join(other)[-600:]}

    return step


def numpy_times(_):
    """What the introductions' programs take with NumPy on the host's cores."""
    import numpy as np

    from benchmarks.gpu_steps.programs import PROGRAMS

    for name in (
        "x + x*x + 3, 3000 x 3000",
        "x*x + x*x.T, 3000 x 3000",
        "x + x*x + 3, 10000 x 10000",
        "sin(x) + cos(x), 5000 x 5000",
        "dot, 1000 x 1000",
    ):
        program = PROGRAMS[name]
        args = program.arguments(np.random.default_rng(7), "float32")
        function, times = program.make(np), []
        for _ in range(3):
            start = time.perf_counter()
            function(*args)
            times.append(1e6 * (time.perf_counter() - start))
        yield {"system": "numpy", "program": name, "dtype": "float32", "us": min(times)}
