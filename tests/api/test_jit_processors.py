"""jit for other processors, and without vector functions: the same values."""

import os
import platform
import subprocess
import sys

import pytest

SCRIPT = """
import sys
import numpy as np
from tapeless import grad, jit, vmap


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def loss(x):
    for _ in range(3):
        x = np.tanh(x) + 0.1 * np.sin(x) * x.T
    return np.sum(np.log1p(x * x))


def newton(x):
    y = 1.0
    while abs(y * y - x) > 1e-10:
        y = 0.5 * (y + x / y)
    return y


def check(function, x, tolerance):
    got, want = jit(function)(x), function(x)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


x = np.random.default_rng(0).normal(size=(33, 33))
check(softmax, x.astype("f4"), 2e-5)
check(grad(loss), x, 1e-12)
np.testing.assert_allclose(jit(vmap(newton))(np.arange(1.0, 9)), np.sqrt(np.arange(1.0, 9)))
print("ended", "numba" in sys.modules)
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names CPUs of x86")
@pytest.mark.parametrize(
    "setting", ["NUMBA_CPU_NAME=generic", "NUMBA_CPU_NAME=haswell", "TAPELESS_VECMATH=none"]
)
def test_values(tmp_path, setting):
    (tmp_path / "script.py").write_text(SCRIPT)
    name, _, value = setting.partition("=")
    made = subprocess.run(
        [sys.executable, tmp_path / "script.py"],
        env={**os.environ, "TAPELESS_CACHE_DIR": str(tmp_path), name: value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.stdout == "ended False\n", made.stderr  # without Numba
