"""Programs whose loops call libraries at each step: NumPy beside `jit`, and their gradients.

    python benchmarks/library_calls.py [name ...]

Least of several calls of each, in turn, in milliseconds; "NumPy" of a gradient is the emitted array
form.
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless import grad, jit

rng = np.random.default_rng(0)


def kalman(observed: Any, moving: Any, seen: Any, x: Any, spread: Any) -> Any:
    likelihood = 0.0
    for t in range(len(observed)):
        x = moving @ x
        spread = moving @ spread @ moving.T + 0.1 * np.eye(4)
        expected = seen @ spread @ seen.T + 0.5 * np.eye(2)
        rest = observed[t] - seen @ x
        gain = np.linalg.solve(expected, seen @ spread).T
        x = x + gain @ rest
        spread = spread - gain @ seen @ spread
        inside = rest @ np.linalg.solve(expected, rest)
        likelihood = likelihood - 0.5 * (inside + np.linalg.slogdet(expected)[1])
    return likelihood


def newton(x: Any, steps: int) -> Any:
    for _ in range(steps):
        value = np.array([x[0] ** 2 + x[1] ** 2 - 4.0, x[0] * x[1] - 1.0])
        x = x - np.linalg.solve(np.array([[2 * x[0], 2 * x[1]], [x[1], x[0]]]), value)
    return np.sum(x)


def gauss_newton(theta: Any, t: Any, y: Any, steps: int) -> Any:
    for _ in range(steps):
        e = np.exp(-theta[1] * t)
        rest = theta[0] * e + theta[2] - y
        slopes = np.stack([e, -theta[0] * t * e, np.ones_like(t)], axis=1)
        theta = theta - np.linalg.solve(slopes.T @ slopes + 1e-6 * np.eye(3), slopes.T @ rest)
    return np.sum(theta**2)


def gaussian_process(x: Any, y: Any, scales: Any) -> Any:
    total = 0.0
    for k in range(len(scales)):
        gaps = (x[:, None] - x[None, :]) / scales[k]
        low = np.linalg.cholesky(np.exp(-0.5 * gaps**2) + 0.1 * np.eye(len(x)))
        a = np.linalg.solve(low, y)
        total = total - 0.5 * a @ a - np.sum(np.log(np.diag(low)))
    return total


def particle_filter(observed: Any, x: Any, noise: Any, u: Any) -> Any:
    n, total = len(x), 0.0
    for t in range(len(observed)):
        x = 0.9 * x + noise[t]
        w = np.exp(-0.5 * (observed[t] - x) ** 2)
        w = w / np.sum(w)
        total = total + np.sum(w * x)
        places = np.searchsorted(np.cumsum(w), (u[t] + np.arange(n)) / n)
        x = x[np.minimum(places, n - 1)]
    return total


def median_filter(x: Any, k: int) -> Any:
    smooth = np.zeros_like(x)
    for i in range(k, len(x) - k):
        smooth[i] = np.median(x[i - k : i + k + 1])
    return np.sum(smooth**2)


def masks(x: Any, v: Any, steps: int) -> Any:
    for _ in range(steps):
        x = x + 0.1 * v
        v = v - 0.1 * x
        out = x > 1.0
        x[out] = 1.0
        v[out] = -v[out]
    return np.sum(x * v)


def interpolation(x: Any, y: Any, q: Any, steps: int) -> Any:
    total = 0.0
    for t in range(steps):
        total = total + np.sum(np.interp(q + 0.01 * t, x, y) ** 2)
    return total


def thomas(a: Any, b: Any, c: Any, d: Any) -> Any:
    n = len(b)
    above, right, x = np.zeros(n), np.zeros(n), np.zeros(n)
    above[0], right[0] = c[0] / b[0], d[0] / b[0]
    for i in range(1, n):
        pivot = b[i] - a[i] * above[i - 1]
        above[i] = c[i] / pivot
        right[i] = (d[i] - a[i] * right[i - 1]) / pivot
    x[n - 1] = right[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = right[i] - above[i] * x[i + 1]
    return np.sum(x**2)


def power_iteration(a: Any, x: Any, steps: int) -> Any:
    value = 0.0
    for _ in range(steps):
        y = a @ x
        value = x @ y
        x = y / np.linalg.norm(y)
    return value


T = np.linspace(0, 3, 50)
PROGRAMS: dict[str, tuple[Any, ...]] = {
    "Kalman filter": (
        *(kalman, rng.normal(size=(200, 2)), 0.9 * np.eye(4) + 0.05, rng.normal(size=(2, 4))),
        *(np.zeros(4), np.eye(4)),
    ),
    "Newton": (newton, np.array([2.0, 0.5]), 20),
    "Gauss-Newton": (gauss_newton, np.array([1.0, 1.0, 0.5]), T, 2 * np.exp(-1.3 * T) + 0.1, 8),
    "Gaussian process": (
        *(gaussian_process, rng.normal(size=30), rng.normal(size=30)),
        np.linspace(0.5, 2, 20),
    ),
    "particle filter": (
        *(particle_filter, rng.normal(size=50), rng.normal(size=200)),
        *(rng.normal(size=(50, 200)), rng.uniform(size=50)),
    ),
    "median filter": (median_filter, rng.normal(size=2000), 3),
    "masks": (masks, rng.normal(size=100), rng.normal(size=100), 200),
    "interpolation": (
        *(interpolation, np.sort(rng.uniform(size=20)), rng.normal(size=20)),
        *(rng.uniform(0.1, 0.8, size=50), 20),
    ),
    "Thomas algorithm": (
        *(thomas, rng.uniform(size=1000), 4 + rng.uniform(size=1000)),
        *(rng.uniform(size=1000), rng.normal(size=1000)),
    ),
    "power iteration": (power_iteration, np.eye(20) + 0.1, rng.normal(size=20), 100),
}


def least(f: Callable[..., Any], args: tuple[Any, ...], count: int = 7) -> float:
    """The shortest time of a call, in milliseconds; each gets its own arrays."""
    best = float("inf")
    for _ in range(count):
        given = copy.deepcopy(args)
        start = time.perf_counter()
        f(*given)
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def main() -> None:
    print("| ms a call | NumPy | jit | gradient: NumPy | jit |")
    print("|---|---|---|---|---|")
    for name in sys.argv[1:] or PROGRAMS:
        f, *args = PROGRAMS[name]
        calls = f, jit(f), grad(f), jit(grad(f))
        values = [call(*copy.deepcopy(args)) for call in calls]
        np.testing.assert_allclose(values[1], values[0], rtol=1e-7)
        np.testing.assert_allclose(values[3], values[2], rtol=1e-6, atol=1e-9)
        times = [least(call, tuple(args)) for call in calls]
        print(f"| {name} |", " | ".join(f"{t:.3g}" for t in times), "|", flush=True)


if __name__ == "__main__":
    main()
