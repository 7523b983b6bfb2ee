"""Programs whose loops call libraries at each step: one kernel, the same values and slopes."""

import numpy as np
import pytest

from tapeless import jit, value_and_grad

rng = np.random.default_rng(0)


def kalman(observed, moving, seen, x, spread):
    likelihood = 0.0
    for y in observed:
        x = moving @ x
        spread = moving @ spread @ moving.T + 0.1 * np.eye(len(x))
        expected = seen @ spread @ seen.T + 0.5 * np.eye(len(y))
        rest = y - seen @ x
        gain = np.linalg.solve(expected, seen @ spread).T
        x = x + gain @ rest
        spread = spread - gain @ seen @ spread
        likelihood = likelihood - 0.5 * np.linalg.slogdet(expected)[1]
    return likelihood + np.sum(x)


def gaussian_process(x, y, scales):
    total = 0.0
    for scale in scales:
        gaps = (x[:, None] - x[None, :]) / scale
        low = np.linalg.cholesky(np.exp(-0.5 * gaps**2) + 0.1 * np.eye(len(x)))
        a = np.linalg.solve(low, y)
        total = total - 0.5 * a @ a - np.sum(np.log(np.diag(low)))
    return total


def particles(observed, x, noise, u):
    n, total = len(x), 0.0
    for t in range(len(observed)):
        x = 0.9 * x + noise[t]
        w = np.exp(-0.5 * (observed[t] - x) ** 2)
        w = w / np.sum(w)
        total = total + np.sum(w * x)
        places = np.searchsorted(np.cumsum(w), (u[t] + np.arange(n)) / n)
        x = x[np.minimum(places, n - 1)]
    return total


def median_filter(x):
    smooth = np.zeros_like(x)
    for i in range(2, len(x) - 2):
        window = x[i - 2 : i + 3]
        smooth[i] = np.median(window) + 0.1 * np.percentile(window, 30) + np.sort(window)[1]
    return np.sum(smooth**2)


def newton(x):
    for _ in range(5):
        value = np.array([x[0] ** 2 + x[1] ** 2 - 4.0, x[0] * x[1] - 1.0])
        x = x - np.linalg.solve(np.array([[2 * x[0], 2 * x[1]], [x[1], x[0]]]), value)
    return x[0] - 2 * x[1]


def bouncing(x, v):
    for _ in range(30):
        x = x + 0.1 * v
        v = v - 0.1 * x
        out = x > 1.0
        x[out] = 1.0
        v[out] = -0.9 * v[out]
    return np.sum(x * v) + np.sum(x[x > 0])


def interpolation(x, y, q):
    total = 0.0
    for t in range(10):
        total = total + np.sum(np.interp(q + 0.01 * t, x, y) ** 2)
    return total


PROGRAMS = {
    "particles": (
        *(particles, rng.normal(size=8), rng.normal(size=30)),
        *(rng.normal(size=(8, 30)), rng.uniform(size=8)),
    ),
    "median filter": (median_filter, rng.normal(size=40)),
    "newton": (newton, np.array([2.0, 0.5])),
    "bouncing": (bouncing, rng.normal(size=20), rng.normal(size=20)),
    "interpolation": (
        *(interpolation, np.sort(rng.uniform(size=9)), rng.normal(size=9)),
        rng.uniform(0.1, 0.8, size=15),
    ),
}


def driver(text):
    return text[text.rindex("\ndef ") :]


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_slopes(name):
    f, *args = PROGRAMS[name]
    compiled = jit(value_and_grad(f))
    value, slope = compiled(*args)
    assert "for " not in driver(compiled.source(*args))
    step = 1e-6 * rng.normal(size=args[0].shape)
    up, down = (f(args[0] + sign * step, *args[1:]) for sign in (1, -1))
    np.testing.assert_allclose(value, f(*args), rtol=1e-9)
    np.testing.assert_allclose(np.sum(slope * step), (up - down) / 2, rtol=1e-5, atol=1e-13)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (
            kalman,
            (
                *(rng.normal(size=(9, 2)), 0.9 * np.eye(3) + 0.05, rng.normal(size=(2, 3))),
                *(np.zeros(3), np.eye(3)),
            ),
        ),
        (gaussian_process, (rng.normal(size=12), rng.normal(size=12), np.linspace(0.5, 2, 4))),
    ],
    ids=["kalman", "gaussian process"],
)
def test_values(f, args):
    compiled = jit(f)
    np.testing.assert_allclose(compiled(*args), f(*args), rtol=1e-9)
    assert "for " not in driver(compiled.source(*args))


def test_slope_of_a_determinant_that_is_zero():
    slope = jit(value_and_grad(lambda a: sum(np.linalg.det(a * (k + 1)) for k in range(2))))
    for rank in range(3):
        a = rng.normal(size=(3, rank)) @ rng.normal(size=(rank, 3))
        minors = np.array([[_minor(a, i, j) * (-1) ** (i + j) for j in range(3)] for i in range(3)])
        np.testing.assert_allclose(slope(a)[1], 9 * minors, rtol=1e-9, atol=1e-12)


def _minor(a, i, j):
    return np.linalg.det(np.delete(np.delete(a, i, 0), j, 1))
