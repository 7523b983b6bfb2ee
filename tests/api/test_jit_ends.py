"""Processes that end while compiled functions run, or are still to be called: none dies."""

import os
import subprocess
import sys

import pytest

START = """
import atexit
import os
import threading
import time

import numpy as np

from tapeless import grad, jit


def loss(x):
    return np.sum(np.sin(x) ** 2)


slope, x = jit(grad(loss)), np.ones(300_000)
product = jit(lambda a, b: a * b + a)
slope(x), product(1.0, 2.0)


def often(call, *args):
    while True:
        call(*args)


def behind(call, *args):
    threading.Thread(target=often, args=(call, *args), daemon=True).start()


class AtLast:
    def __del__(self):
        slope(x), product(1.0, 2.0)


"""
ENDS = {
    "threads are in kernels": "behind(slope, x), behind(slope, x[:10]), behind(product, 1.0, 2.0)\n"
    "time.sleep(0.05)",
    "objects call when they go": "kept = AtLast()\nkept.itself = kept\n"
    "atexit.register(lambda: (slope(x), product(1.0, 2.0)))",
    "copies of the process end first": """
behind(slope, x)
for _ in range(3):
    child = os.fork()
    if not child:
        slope(x), jit(lambda y: y * 2 + 1)(x)
        raise SystemExit(0)
    assert os.waitpid(child, 0)[1] == 0
""",
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="copies processes")
@pytest.mark.parametrize("end", ENDS)
def test_processes_end(tmp_path, end):
    script = tmp_path / "script.py"
    script.write_text(START + ENDS[end])
    made = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", script],  # of forks
        env={**os.environ, "TAPELESS_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (made.returncode, made.stderr) == (0, "")
