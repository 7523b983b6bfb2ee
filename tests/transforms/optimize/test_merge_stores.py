"""Stores into one place become one store."""

import numpy as np
import pytest

from tapeless import grad, jit

FIRST = np.array([3, 0, 3, 2])
SECOND = np.array([1, 1, 0, 3])


def gathered(x):
    return np.sum((x[FIRST] ** 2 - x[SECOND]) * np.sin(x[FIRST]) * x[SECOND])


def added_twice(x, u, v):
    y = np.zeros(5)
    np.add.at(y, FIRST, u)
    np.add.at(y, SECOND, v)
    np.add.at(y, FIRST, v * v)
    return y * x


def stored_then_added(x, u, v):
    y = np.zeros(5)
    y[FIRST] = u  # the last one of those with the same index stays
    np.add.at(y, FIRST, v)
    return y * x


def read_in_between(x, u, v):
    y = np.zeros(5)
    np.add.at(y, FIRST, u)
    z = y[0] * x
    np.add.at(y, FIRST, v)
    return y * z


def test_indices_that_repeat():
    x = np.arange(5.0)
    gradient = grad(gathered)
    source = gradient.source(x)
    assert source.count("np.add.at") == 2, source
    want = np.zeros(5)
    a, b, s, c = x[FIRST], x[SECOND], np.sin(x[FIRST]), np.cos(x[FIRST])
    np.add.at(want, FIRST, 2 * a * s * b + (a**2 - b) * c * b)
    np.add.at(want, SECOND, (a**2 - b) * s - s * b)
    np.testing.assert_allclose(gradient(x), want, rtol=1e-12)
    np.testing.assert_allclose(jit(gradient)(x), want, rtol=1e-12)


@pytest.mark.parametrize("f", [added_twice, stored_then_added, read_in_between])
def test_values(f, rng):
    x, u, v = rng.normal(size=5), rng.normal(size=4), rng.normal(size=4)
    np.testing.assert_allclose(jit(f)(x, u, v), f(x, u, v), rtol=1e-12)
    plain = grad(lambda u, v: np.sum(f(x, u, v) ** 2), argnums=(0, 1))
    h = 1e-6
    for k in (0, 1):
        e = np.eye(4)
        args = [u, v]

        def at(d, k=k, args=args):
            shifted = [a + d if j == k else a for j, a in enumerate(args)]
            return np.sum(f(x, *shifted) ** 2)

        slopes = [(at(h * d) - at(-h * d)) / (2 * h) for d in e]
        np.testing.assert_allclose(plain(u, v)[k], slopes, rtol=1e-5, atol=1e-7)


def test_additions_in_one_loop():
    """Additions to one array at several places share a loop, for they commute."""
    x = np.arange(5.0)
    gradient = jit(grad(gathered))
    kernel = gradient.source(x)
    assert kernel.count("for i in range(") <= 2, kernel
    exact = jit(grad(gathered), fastmath=False)
    np.testing.assert_array_equal(exact(x), grad(gathered)(x))


def items(x, n):
    d = [x, 2 * x]
    for _ in range(n):
        d.append(d[-1] * 0.5)
    for j in range(n):
        d[j] = 0.5 * d[j] + d[j + 1] * d[j]
    return d[0] + d[1]


def items_at_equal_indices(x, n):
    d = [x * k + 1.0 for k in range(n)]
    for j in range(n):
        d[j] = d[j] * d[n - 1 - j] * d[0]
        d[n - 1 - j] = d[j] * d[n - 1 - j]
    return sum(d)


@pytest.mark.parametrize("f", [items, items_at_equal_indices])
def test_items_of_lists(f):
    gradient = grad(f)
    source, h = gradient.source(0.3, 3), 1e-6
    assert "d_bar[j] = 0.0" not in source, source
    want = (f(0.3 + h, 3) - f(0.3 - h, 3)) / (2 * h)
    np.testing.assert_allclose([gradient(0.3, 3), jit(gradient)(0.3, 3)], want, rtol=1e-8)
