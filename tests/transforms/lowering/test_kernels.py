"""Goldens of loop form, one for each kind of nest; read them like code in review."""

import numpy as np
import pytest

import tapeless

VECTOR = np.array([0.1, 0.2, 0.3])
MATRIX = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
SINGLE = MATRIX.astype(np.float32)
CASES = []


def golden_of(*args, transform=None):
    """The loop form of the decorated function is kept as a golden, and its values are NumPy's."""

    def register(function):
        made = function if transform is None else transform(function)
        CASES.append(pytest.param(function.__name__, made, args, id=function.__name__))
        return function

    return register


@golden_of(0.5)
def scalar(x):
    return np.exp(x) / (np.exp(x) + 1)


@golden_of(SINGLE, np.ones(3, np.float32))
def broadcast_over_rows(x, y):
    return np.sin(x) + np.cos(y)


@golden_of(np.eye(3))
def transposed_read(x):
    return (x + x * x + 3) * (x * x + x * x.T)


@golden_of(MATRIX)
def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


@golden_of(MATRIX)
def sums_over_axes(x):
    return np.sum(x, axis=0), np.sum(x * x, axis=1), np.mean(x)


@golden_of(SINGLE)
def recurrence_for_each_row(x):
    for _ in range(10):
        x = 0.5 * x + 0.1 * np.sin(x)
    return x


@golden_of(SINGLE, transform=lambda f: tapeless.grad(lambda x: np.sum(f(x))))
def gradient_of_a_recurrence(x):
    for _ in range(10):
        x = 0.5 * x + 0.1 * np.sin(x)
    return x


@golden_of(np.ones((4, 2)), np.ones((2, 3)), np.ones((3, 3)))
def recurrent_network(xs, w, u):
    h = np.zeros(3)
    for t in range(len(xs)):
        h = np.tanh(xs[t] @ w + h @ u)
    return h


@golden_of(np.arange(6.0), 3)
def stencil_in_place(u, steps):
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])
    return np.sum(u)


@golden_of(VECTOR, np.array([2, 0, 0]))
def gathered_and_scattered(v, k):
    total = np.zeros(3)
    np.add.at(total, k, v * v)
    return total + v[k]


@golden_of(1.0, 100)
def while_loop(x, n):
    i = 0
    while i < n:
        if x > 10:
            break
        x = x * 1.5
        i += 1
    return x, i


@golden_of(MATRIX, np.ones((3, 3)))
def around_a_library_call(x, w):
    return np.maximum(np.tanh(x) @ w + 1, 0)


@pytest.mark.parametrize(("name", "function", "args"), CASES)
def test_golden(golden, name, function, args):
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    source = tapeless.jit(function).source(*args)
    assert "tapeless" not in source
    assert max(map(len, source.splitlines())) <= 100
    golden(f"loops/{name}.py", source)


@pytest.mark.parametrize(("name", "function", "args"), CASES)
def test_values(name, function, args):
    given, copies = ([a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in "12")
    got, want = tapeless.jit(function)(*given), function(*copies)
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (got, want)), strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-6 if np.asarray(b).dtype == "f4" else 1e-13)


@pytest.mark.parametrize(("name", "function", "args"), CASES)
def test_the_text_runs_by_itself(name, function, args):
    """With NumPy and Numba only; here even without being compiled."""
    given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    made = tapeless.jit(function)
    text = made.source(*given).replace("from numba import njit", "")
    values = {"njit": lambda *f, **_: f[0] if f else lambda g: g}
    exec(text, values)
    found = values[made.emitted_name](*given)
    want = function(*[a.copy() if isinstance(a, np.ndarray) else a for a in args])
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, want)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum((x - 3 * np.round(x / 3)) ** 2),
        lambda x: np.tril(x, -1) * 2 + np.triu(x),
        lambda x: np.exp(-np.cumsum(x, axis=1)),
        lambda x: np.cumprod(1 + 0.1 * x, axis=0) * x,
        lambda x: np.maximum.accumulate(x, axis=1) - x,
    ],
)
def test_what_goes_over_an_array_once_is_one_kernel(f):
    """Roundings, triangles and running sums share kernels with what is around them."""
    x = np.random.default_rng(0).normal(size=(30, 40))
    compiled = tapeless.jit(f)
    driver = compiled.source(x).split("\ndef ")[-1]
    assert "np.round" not in driver
    assert "np.tri" not in driver
    assert "np.cum" not in driver
    np.testing.assert_allclose(compiled(x), f(x), rtol=1e-12)
