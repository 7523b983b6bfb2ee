"""Loops whose derivative is a product of factors: it is made in the forward loop."""

import numpy as np
import pytest

import tapeless
from tapeless.transformations.compilation.compiled_function import Jit
from tests.test_corpus_compiled import by_python


def iterated(x):
    for _ in range(4):
        x = 0.5 * x + 0.1 * np.sin(x) * x
    return np.sum(x * x)


def divided(x):
    for t in range(1, 5):
        x = (x - 3 / x) / t - x
    return np.sum(np.cos(x))


def by_pass(x):
    for t in range(4):
        x = x * np.sin(x + t) + t
    return np.sum(x)


def scalar(x):
    for _ in range(5):
        x = x - 0.1 * np.exp(-x * x)
    return x**3


def two_states(x):
    """Each state goes its own way."""
    y = x + 1
    for _ in range(3):
        x = np.sin(x)
        y = np.cos(y) * y
    return np.sum(x * y)


def overwritten(x):
    x = x.copy()
    for _ in range(3):
        x[:] = np.sin(x) + x
        x *= x
    return np.sum(x)


def sums(x, k=0.3):
    """Each pass adds to the derivative by k: the order matters."""
    for _ in range(4):
        x = x - k * np.sin(x)
    return np.sum(x)


def mixed(x):
    """What is carried is not treated number by number."""
    for _ in range(3):
        x = np.sin(x) + np.sum(x) * x[::-1]
    return np.sum(x)


def of_the_end(x):
    y = x
    for _ in range(3):
        y = np.tanh(y) * 2
    for _ in range(3):
        x = x * np.sin(y * x)
    return np.sum(x + y)


ALONGSIDE = [iterated, by_pass, two_states]
OTHERS = [divided, overwritten, sums, mixed, of_the_end]


@pytest.mark.parametrize("f", ALONGSIDE + OTHERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(5,), (3, 4)], ids=str)
def test_gradients(f, shape, monkeypatch):
    monkeypatch.setattr(Jit, "load", by_python)
    x = np.random.default_rng(0).uniform(0.5, 1.5, size=shape)
    got = tapeless.jit(tapeless.grad(f))(x)
    np.testing.assert_allclose(got, _differences(f, x), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("x", [0.7, np.float32(0.7)], ids=["float", "float32"])
def test_numbers(x, monkeypatch):
    monkeypatch.setattr(Jit, "load", by_python)
    got, want = tapeless.jit(tapeless.grad(scalar))(x), tapeless.grad(scalar)(x)
    assert type(got) is type(want)
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_by_two_arguments(monkeypatch):
    monkeypatch.setattr(Jit, "load", by_python)
    got = tapeless.jit(tapeless.grad(sums, (0, 1)))(np.array([0.3, 2.0]), 0.3)
    want = tapeless.grad(sums, (0, 1))(np.array([0.3, 2.0]), 0.3)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-14)
    np.testing.assert_allclose(got[1], want[1], rtol=1e-14)


@pytest.mark.parametrize("f", ALONGSIDE, ids=lambda f: f.__name__)
def test_nothing_is_saved(f):
    source = tapeless.jit(tapeless.grad(f)).source(np.ones(3))
    assert "saved" not in source
    assert "-1, -1)" not in source


def test_golden(golden):
    golden("loops/alongside.py", tapeless.jit(tapeless.grad(iterated)).source(np.ones((3, 4))))


def _differences(f, x, step=1e-6):
    found = np.zeros_like(x)
    for k in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[k] = step
        found[k] = (f(x + e) - f(x - e)) / (2 * step)
    return found
