"""Integers that index arrays: no tests where arguments are small, the same errors where not."""

import numpy as np
import pytest

from tapeless import grad, jit


def flat_product(a, x, n, m):
    y = np.zeros(n)
    for i in range(n):
        s = 0.0
        for j in range(m):
            s += a[i * m + j] * x[j]
        y[i] = s
    return y


def flat_steps(u, n, steps):
    v = u.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                k = i * n + j
                v[k] = 0.25 * (u[k - 1] + u[k + 1] + u[k - n] + u[k + n])
        for k in range(n * n):
            u[k] = v[k]
    return np.sum(u)


def from_start(x, start, n):
    s = 0.0
    for i in range(n):
        s = 0.5 * s + x[start + i]
    return s


def with_stride(x, stride, n):
    s = 0.0
    for i in range(n):
        s = 0.5 * s + x[i * stride]
    return s


def two_multiples(x, n, m):
    s = 0.0
    for i in range(m):
        s += x[n * i + i]
    return s


def by_columns(x, n, m):
    s = 0.0
    for i in range(n):
        for j in range(m):
            s = 0.9 * s + x[j * n + i]
    return s


def of_rows(x, starts, width):
    s = 0.0
    for k in range(len(starts)):
        start = starts[k]
        for j in range(width):
            s += x[start * width + j]
    return s


def butterflies(x, w):
    n = len(x)
    x = x.copy()
    size = 2
    while size <= n:
        half = size // 2
        step = n // size
        for start in range(0, n, size):
            for k in range(half):
                i = start + k
                t = w[k * step] * x[i + half]
                x[i + half] = x[i] - t
                x[i] = x[i] + t
        size *= 2
    return x


X = np.random.default_rng(0).normal(size=24)
CALLS = [
    (flat_product, (X, X[:4], 6, 4)),
    (flat_product, (X, X[:4], 0, 4)),
    (flat_product, (X, X[:4], 6, -1)),
    (flat_steps, (X[:16], 4, 3)),
    (from_start, (X, 3, 5)),
    (from_start, (X, -5, 5)),
    (from_start, (X, -2, 5)),
    (from_start, (X, 30, 0)),
    (with_stride, (X, 3, 8)),
    (with_stride, (X, -3, 8)),
    (with_stride, (X, 0, 8)),
    (two_multiples, (X, 2, 8)),
    (two_multiples, (X, -4, 8)),
    (by_columns, (X, 6, 4)),
    (of_rows, (X, np.array([0, 5, 2, -1]), 4)),
    (butterflies, (X[:16], X[:8])),
]
BEYOND = [
    (flat_product, (X, X[:4], 7, 4)),
    (flat_product, (X, X[:3], 6, 4)),
    (from_start, (X, 20, 5)),
    (from_start, (X, -25, 1)),
    (from_start, (X, 2**62, 1)),
    (from_start, (X, -(2**63), 1)),
    (with_stride, (X, 4, 8)),
    (with_stride, (X, -4, 8)),
    (with_stride, (X, 2**61, 3)),
    (two_multiples, (X, -6, 8)),
    (two_multiples, (X, -500, 2)),
    (of_rows, (X, np.array([0, 6]), 4)),
    (butterflies, (X[:16], X[:7])),
]


def copied(args):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


@pytest.mark.parametrize(("function", "args"), CALLS)
def test_values(function, args):
    np.testing.assert_allclose(jit(function)(*copied(args)), function(*copied(args)), rtol=1e-12)


@pytest.mark.parametrize(("function", "args"), BEYOND)
def test_errors(function, args):
    compiled = jit(function)
    with pytest.raises(IndexError):
        function(*copied(args))
    with pytest.raises(IndexError):
        compiled(*copied(args))


def test_errors_after_small_arguments():
    compiled = jit(from_start)
    assert compiled(X, 3, 5) == from_start(X, 3, 5)
    for start in (22, 2**28, 2**40, 2**62, -25, -(2**62)):
        with pytest.raises(IndexError):
            compiled(X, start, 3)
    assert compiled(X, -5, 5) == from_start(X, -5, 5)


@pytest.mark.parametrize("start", [2**63 - 2, 2**63 - 1])
def test_integers_beyond_64_bits(start):
    with pytest.raises((OverflowError, IndexError)):
        jit(from_start)(X, start, 5)
    with pytest.raises((OverflowError, IndexError)):
        jit(with_stride)(X, start, 5)


def test_small_arguments_need_no_tests():
    assert "OverflowError" not in jit(flat_product).source(X, X[:4], 6, 4)
    assert "OverflowError" in jit(flat_product).source(X, X[:4], 6, 2**40)


def test_tests_stand_before_the_loop():
    text = jit(butterflies).source(X[:16], X[:8])
    inner = text[text.index("for k in") :]
    assert "start + k" in inner
    assert "start + k)" not in inner


def test_gradients():
    slope = jit(grad(lambda a: np.sum(flat_product(a, X[:4], 6, 4) ** 2)))(X)
    expected = 2 * np.outer(flat_product(X, X[:4], 6, 4), X[:4]).ravel()
    np.testing.assert_allclose(slope, expected, rtol=1e-12)
