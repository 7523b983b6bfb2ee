"""Stores to overlapping parts of an array, gathered to one store for each part of its own."""

import numpy as np
import pytest

import tapeless
from tapeless.transformations.compilation.compiled_function import Jit
from tests.test_corpus_compiled import by_python


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def burgers(u0):
    n = u0.shape[0]
    u, old = u0.copy(), np.zeros(n)
    for _ in range(3):
        for i in range(n):
            old[i] = u[i]
        for i in range(1, n - 1):
            u[i] = old[i] - 0.2 * old[i] * (old[i] - old[i - 1])
            u[i] += 0.1 * (old[i + 1] - 2 * old[i] + old[i - 1])
    return np.sum(u * u)


def five_points(u):
    inner = u[1:-1, 1:-1]
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    return np.sum(inner * (around - 4 * inner) ** 2)


def wide(x):
    return np.sum(np.sin(x[4:]) * x[:-4] + x[2:-2] ** 3)


def before_and_after(x):
    """The sums of neighbours, where one is stored over what was added before."""
    y = np.zeros_like(x)
    y[:-1] += 2 * x[1:]
    y[1:] += x[:-1] * x[1:]
    y[:2] = x[:2]
    y[1:] += 1
    return y


def reads_itself(x):
    y = x * 2
    y[1:] += y[:-1]
    y[:-1] += y[1:]
    y[1:] = y[1:] - y[:-1] * x[1:]
    return y


def source_changes(x):
    a = x.copy()
    y = np.zeros_like(x)
    t = 3 * a[1:]
    y[1:] += t
    a[2:] = 0
    y[:-1] += t
    return y + a


def one_row(x):
    y = np.zeros((3, x.shape[0]))
    y[1, :-1] += x[1:]
    y[1, 1:] += x[:-1]
    y[-1, 1:] -= x[:-1]
    return y


def by_columns(x):
    y = np.zeros((x.shape[0], 2))
    y[:-1] += x[1:, None] * np.array([1.0, 2.0])
    y[1:] += x[:-1, None]
    return y


def in_a_branch(x):
    y = np.zeros_like(x)
    if x[0] > 0:
        y[1:] += x[:-1]
        y[:-1] += x[1:]
    return y


def rows_at(x):
    """Ends of slices that a loop computes."""
    y = np.zeros_like(x)
    for k in range(1, x.shape[0]):
        y[k:] += x[k:]
        y[: x.shape[0] - k] += x[k:]
    return y


def integers(x):
    y = np.zeros(x.shape[0], dtype=np.int32)
    y[1:] += np.ones(x.shape[0] - 1, np.int32) * 3
    y[:-1] += np.ones(x.shape[0] - 1, np.int32)
    return y


PLAIN = [
    before_and_after,
    reads_itself,
    source_changes,
    one_row,
    by_columns,
    in_a_branch,
    rows_at,
    integers,
]


@pytest.mark.parametrize("f", PLAIN, ids=lambda f: f.__name__)
def test_as_numpy_for_any_length(f, monkeypatch):
    monkeypatch.setattr(Jit, "load", by_python)
    compiled = tapeless.jit(f)
    for n in (9, 2, 3, 4, 5, 70):
        x = np.random.default_rng(n).normal(size=n)
        want = f(x)
        got = compiled(x)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("f", [rosenbrock, burgers, wide], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_gradients_for_any_length(f, dtype, monkeypatch):
    monkeypatch.setattr(Jit, "load", by_python)
    slope, plain = tapeless.jit(tapeless.grad(f)), tapeless.grad(f)
    rtol = {"f4": 2e-5, "f8": 1e-12}[dtype]
    for n in (12, 5, 6, 7, 8, 4, 3, 70):
        if f is wide and n < 4:
            continue
        x = np.random.default_rng(n).normal(size=n).astype(dtype)
        got, want = slope(x), plain(x)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * np.abs(want).max())


def test_gradient_in_two_dimensions(monkeypatch):
    monkeypatch.setattr(Jit, "load", by_python)
    slope = tapeless.jit(tapeless.grad(five_points))
    for shape in ((9, 7), (3, 3), (3, 5), (5, 4), (4, 3)):
        u = np.random.default_rng(1).normal(size=shape)
        np.testing.assert_allclose(slope(u), _differences(five_points, u), rtol=1e-6, atol=1e-6)


def test_second_derivatives():
    hessian = tapeless.jit(tapeless.hessian(rosenbrock))
    for n in (6, 2, 3):
        x = np.random.default_rng(n).normal(size=n)
        want = np.zeros((n, n))
        for i in range(n - 1):
            want[i, i] += 1200 * x[i] ** 2 - 400 * x[i + 1] + 2
            want[i + 1, i + 1] += 200
            want[i, i + 1] = want[i + 1, i] = -400 * x[i]
        np.testing.assert_allclose(hessian(x), want, rtol=1e-12)


def test_golden(golden):
    golden("loops/gathered.py", tapeless.jit(tapeless.grad(rosenbrock)).source(np.ones(5)))


def test_zeros_of_each_pass_are_not_carried():
    source = tapeless.jit(tapeless.grad(burgers)).source(np.ones(9))
    assert source.count("np.zeros") == 1  # the old state of the user


def _differences(f, x, step=1e-5):
    found = np.zeros_like(x)
    for k in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[k] = step
        found[k] = (f(x + e) - f(x - e)) / (2 * step)
    return found


def of_two_lengths(a, b):
    n = len(a)
    return np.sum((a[1:-1] - b[: n - 2] * b[2:n]) ** 2) + np.sum(np.sin(b))


def two_grids(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.3 * (b[1:-1, 1:-1] + b[1:-1, 2:] + b[2:, 1:-1] * b[:-2, 1:-1])
    return np.sum(a * a)


def differences(f, args, place, along):
    def at(h):
        moved = [np.array(a, copy=True) if isinstance(a, np.ndarray) else a for a in args]
        moved[place] = moved[place] + h * along
        return f(*moved)

    return (at(1e-6) - at(-1e-6)) / 2e-6


@pytest.mark.parametrize("lengths", [[(9, 9), (9, 12), (7, 7), (3, 3)], [(5, 8), (5, 5), (2, 6)]])
@pytest.mark.parametrize("place", [0, 1])
def test_lengths_that_are_equal_in_the_first_call(lengths, place):
    slope, rng = (
        tapeless.jit(tapeless.grad(of_two_lengths, argnums=place)),
        np.random.default_rng(0),
    )
    for n, m in lengths:
        args = rng.normal(size=n), rng.normal(size=m)
        along = rng.normal(size=len(args[place]))
        expected = differences(of_two_lengths, args, place, along)
        np.testing.assert_allclose(slope(*args) @ along, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("shape", [(7, 9), (4, 4), (3, 5), (2, 2)])
def test_two_grids(shape):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=shape), rng.normal(size=shape)
    slopes = tapeless.jit(tapeless.grad(two_grids, argnums=(0, 1)))(a.copy(), b.copy(), 3)
    for place in (0, 1):
        along = rng.normal(size=shape)
        expected = differences(two_grids, (a, b, 3), place, along)
        np.testing.assert_allclose(np.sum(slopes[place] * along), expected, rtol=1e-6, atol=1e-8)


def test_stores_to_one_of_two_grids_share_a_loop():
    a = np.ones((7, 9))
    text = tapeless.jit(tapeless.grad(two_grids)).source(a, a.copy(), 3)
    assert text.count("for i in range(sums.shape[0])") < 4
