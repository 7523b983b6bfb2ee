"""What comes before the first result of a gradient: milliseconds of processor time.

python benchmarks/first_calls.py

Each program runs in new processes of its own, with caches of its own: as array code, under `jit`,
and under `jit` once more with what the process before has left. What a further call takes is taken
off. Imports of `tapeless` count, those of NumPy do not.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402 (after the path is set)

from benchmarks.workloads import WORKLOADS  # noqa: E402 (the same)

GRADIENTS = {
    name: (w.make(np), w.argnums, lambda w=w: w.arguments(w.sizes[0], np.random.default_rng(0)))
    for name, w in WORKLOADS.items()
    if w.transform.endswith("grad") and "vmap" not in w.transform
}


def convolved(x, kernel):
    height, width = x.shape[1] - 4, x.shape[2] - 4
    out = 0.0
    for i in range(5):
        for j in range(5):
            out = out + x[:, i : i + height, j : j + width, :] @ kernel[i, j]
    return out


def pooled(x):
    n, height, width, channels = x.shape
    return np.mean(x.reshape(n, height // 2, 2, width // 2, 2, channels), axis=(2, 4))


def lenet(params, x, y):
    first, second, w1, w2, w3 = params
    x = pooled(np.maximum(convolved(x, first), 0))
    x = pooled(np.maximum(convolved(x, second), 0)).reshape(len(x), -1)
    x = np.maximum(np.maximum(x @ w1, 0) @ w2, 0) @ w3
    x = x - np.max(x, axis=1, keepdims=True)
    return -np.mean(np.sum((x - np.log(np.sum(np.exp(x), axis=1, keepdims=True))) * y, axis=1))


def lenet_arguments():
    rng = np.random.default_rng(0)
    shapes = (5, 5, 1, 6), (5, 5, 6, 16), (256, 120), (120, 84), (84, 10)
    params = [rng.normal(0, 0.1, s).astype(np.float32) for s in shapes]
    images = rng.normal(size=(32, 28, 28, 1)).astype(np.float32)
    return params, images, np.eye(10, dtype=np.float32)[rng.integers(0, 10, 32)]


GRADIENTS["LeNet, 32 images"] = (lenet, 0, lenet_arguments)


def first(name, compiled):
    """Prints what the first call takes, in this process."""
    function, argnums, arguments = GRADIENTS[name]
    args = arguments()
    start = time.process_time()
    import tapeless  # noqa: PLC0415  # this counts

    slope = tapeless.grad(function, argnums=argnums)
    slope = tapeless.jit(slope) if compiled else slope
    slope(*args)
    middle = time.process_time()
    slope(*args)
    slope(*args)
    print(1e3 * (middle - start - (time.process_time() - middle) / 2))


def measured(name, compiled, folder):
    environment = {**os.environ, "TAPELESS_CACHE_DIR": folder}
    command = [sys.executable, __file__, name, compiled]
    made = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(made.stdout)


def main():
    print("| gradient of | array code | `jit` | `jit`, from the cache |\n|---|---|---|---|")
    for name in GRADIENTS:
        with tempfile.TemporaryDirectory() as plain, tempfile.TemporaryDirectory() as kept:
            pairs = ("", plain), ("jit", kept), ("jit", kept)
            times = [measured(name, *pair) for pair in pairs]
        print(f"| {name} | " + " | ".join(f"{t:.0f} ms" for t in times) + " |", flush=True)


if __name__ == "__main__":
    first(*sys.argv[1:]) if sys.argv[1:] else main()
