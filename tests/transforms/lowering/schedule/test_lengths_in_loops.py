"""Arrays whose lengths change from pass to pass have room for the longest: the loop is compiled."""

import numpy as np
import pytest

from tapeless import grad, jit

RNG = np.random.default_rng(0)
A, R = RNG.normal(size=(7, 6)), 0.5 / np.arange(2, 8)


def covariance(a, r):
    n = a.shape[1]
    h = np.zeros((n, n))
    for i in range(n):
        h[i, i:] = a[:, i] @ a[:, i:]
    return h


def levinson(a, r):
    y = np.zeros(len(r))
    alpha, beta = -r[0], 1.0
    y[0] = -r[0]
    for k in range(1, len(r)):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def pairs(a, r):
    n, total = len(r), 0.0
    for i in range(n):
        for j in range(i):
            total += np.sum(np.sort(r[j:i] * i)[::-1] * np.arange(i - j))
    return total


def triangle(a, r):
    x = np.zeros(len(r))
    for i in range(len(r)):
        x[i] = (r[i] - np.tanh(a[i, :i]) @ x[:i]) / (3 + a[i, i])
    return x


def windows(a, r):
    n, total = len(r), np.zeros(3)
    for i in range(1, n - 1):
        part = np.cumsum(r[i - 1 : n - i + 1])
        total[i % 3] += np.sum(part * part[::-1])
    return total


def backwards(a, r):
    total = 0.0
    for i in range(len(r) - 1, 0, -1):
        total += np.sum(np.cumprod(r[:i] + i))
    return total


def from_an_argument(a, r, first=2):
    h = np.zeros(a.shape[1])
    for i in range(first, a.shape[1]):
        h[: i - first] += np.outer(a[:, i], a[: i - first, 0])[0] @ np.eye(i - first)
    return h


FUNCTIONS = [covariance, levinson, pairs, triangle, windows, backwards, from_an_argument]


@pytest.mark.parametrize("count", [1, 2, 6])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values(function, count):
    a, r = A[: count + 1, :count].copy(), R[:count].copy()
    compiled = jit(function)
    np.testing.assert_allclose(compiled(a, r), function(a, r), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("function", [covariance, levinson, triangle, windows])
def test_the_loop_is_compiled(function):
    assert jit(function).explain(A, R).loops == ()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_derivatives(function):
    def loss(a, r):
        return np.sum(function(a, r) ** 2)

    step = 1e-6
    for k, slope in enumerate(jit(grad(loss, (0, 1)))(A, R)):
        direction = RNG.normal(size=slope.shape)
        moved = [(A + s * step * direction * (k == 0), R) for s in (1, -1)]
        if k == 1:
            moved = [(A, R + s * step * direction) for s in (1, -1)]
        quotient = (loss(*moved[0]) - loss(*moved[1])) / (2 * step)
        np.testing.assert_allclose(np.sum(slope * direction), quotient, rtol=2e-6, atol=1e-7)


def test_no_passes_at_all():
    def longest(x, n):
        total = 0.0
        for i in range(1, n):
            total += np.sum(np.cumsum(x[: i + 1] * 2))
        return total

    for n in (-3, 0, 1, 4):
        np.testing.assert_allclose(jit(longest)(R, n), longest(R, n))
