"""Loops of few passes that add up arrays element by element are one loop of a kernel."""

import re

import numpy as np
import pytest

from tapeless import grad, jit

RNG = np.random.default_rng(0)


def nine_points(u, w):
    total = 0.0
    for i in range(3):
        for j in range(3):
            total = total + w[i, j] * u[i : u.shape[0] - 2 + i, j : u.shape[1] - 2 + j]
    return total


def backwards(x, w):
    y = np.zeros(len(x) - 3)
    for k in range(3, -1, -1):
        y = y / (k + 1) - w[k, 0] * x[k : len(x) - 3 + k, 0]
    return y


def powers(x, w):
    y, term = np.ones(x.shape), np.ones(x.shape)
    for k in range(1, 6):
        term = term * x / k
        y = y + term
    return y


def over_time(x, w):
    for _ in range(len(w)):
        total = np.zeros(x.shape)
        for k in range(2):
            total = total + w[k, 1] * x[k] * x
        x = np.tanh(total)
    return x


def one_after_another(x, w):
    a, b, c = x * 0.0, x * 2.0, x
    for k in range(3):
        a, b = a + w[0, k] * x, b
    for k in range(2):
        c, a, b = b, a + w[k, 1] * c, a * 2
    for k in range(2):
        c = c * w[k, k] + b
    return a + b * 2 + c * 3


ONCE = [nine_points, backwards, powers, one_after_another]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("f", [*ONCE, over_time])
def test_values(f, dtype):
    x, w = RNG.normal(size=(9, 8)).astype(dtype), RNG.normal(size=(4, 4)).astype(dtype)
    found, wanted = jit(f)(x, w), f(x, w)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-5 if dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("f", ONCE)
def test_they_are_one_loop(f):
    x, w = RNG.normal(size=(9, 8)), RNG.normal(size=(4, 4))
    kernels = jit(f).source(x, w)
    axes = 1 if f is backwards else 2
    assert len(re.findall(r"^ +for ", kernels, re.MULTILINE)) == axes


@pytest.mark.parametrize("f", [*ONCE, over_time])
def test_derivatives(f):
    x, w, v = RNG.normal(size=(9, 8)), RNG.normal(size=(4, 4)), RNG.normal(size=(9, 8))

    def loss(x, w):
        return np.sum(np.sin(f(x, w)))

    by_differences = (loss(x + 1e-6 * v, w) - loss(x - 1e-6 * v, w)) / 2e-6
    np.testing.assert_allclose(np.sum(jit(grad(loss))(x, w) * v), by_differences, rtol=1e-6)


def neighbours(x, w):
    for k in range(3):
        x = x + w[0, k] * np.concatenate([x[1:], x[:1]])
    return x


def part_of_what_changes(x, w):
    y = x * 1.0
    for k in range(3):
        y = y + w[0, k] * y[0]
    return y


def many(x, w):
    for k in range(40):
        x = x + w[0, 1] / (k + 1) * x
    return x


@pytest.mark.parametrize("f", [neighbours, part_of_what_changes, many])
def test_other_loops_stay(f):
    x, w = RNG.normal(size=(9, 8)), RNG.normal(size=(4, 4))
    compiled = jit(f)
    np.testing.assert_allclose(compiled(x, w), f(x, w), rtol=1e-12)
    assert "in range(40):" in compiled.source() or "in range(3):" in compiled.source()
