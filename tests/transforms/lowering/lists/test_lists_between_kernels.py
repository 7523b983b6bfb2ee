"""Lists that one loop fills and another one empties, with a library's work between them."""

import warnings

import numpy as np
import pytest

from tapeless import grad, jit

A = np.array([0.7, 1.9, 3.1, 2.2, 0.4])
M = 2 * np.eye(5) + 0.1 * np.arange(25).reshape(5, 5) / 25


def root(a):
    x = 1.0
    while abs(x * x - a) > 1e-10:
        x = 0.5 * (x + a / x)
    return x


def roots_around_a_solve(a):
    roots = np.zeros(len(a))
    for i in range(len(a)):
        roots[i] = root(a[i])
    y = np.linalg.solve(M, roots)
    z = np.fft.fft(y).real
    total = 0.0
    for i in range(len(a)):
        total += root(abs(z[i]) + 1)
    return total + np.sum(y**2)


def vectors_in_a_loop(a):
    total = 0.0
    for k in range(3):
        y = a * (k + 1.0)
        while np.sum(y**2) > 1.0:
            y = np.tanh(M @ y) * 0.3
        total += np.sum(np.linalg.solve(M, y))
    return total


def a_solve_in_each_pass(a):
    y = a
    for _ in range(4):
        x = y
        while np.max(np.abs(x)) > 0.5:
            x = x * 0.8 - 0.01 * np.sin(x)
        y = np.linalg.solve(M, x + a)
    return np.sum(y**2)


def matrices(a):
    total = np.outer(a, a) * 0.3
    for i in range(len(a)):
        b = total + a[i]
        while np.sum(b**2) > 2.0:
            b = np.tanh(b @ M) * 0.3
        total = total + 0.1 * b
    return np.sum(np.linalg.inv(total + 10 * M))


def masked_parts(a):
    total, y = 0.0, a.copy()
    for _ in range(3):
        for i in range(len(a) - 1):
            d = y[i + 1 :] - y[i]
            total += np.sum(np.exp(-(d[d > 0.1] ** 2)))
        y = y + 0.1 * np.cos(y)
    return total


def branches(a):
    total = 0.0
    for i in range(len(a)):
        y, n = a * 1.0, 0
        while n < 5 + i:
            y = np.sin(y) * y[i] if np.sum(y) > 1.0 else y + 0.3 * a[i]
            n += 1
        total += np.sum(y)
    return total + np.linalg.det(M + np.outer(a, a))


@pytest.mark.parametrize(
    "f",
    [
        roots_around_a_solve,
        vectors_in_a_loop,
        a_solve_in_each_pass,
        matrices,
        masked_parts,
        branches,
    ],
)
def test_derivatives_are_compiled_and_right(f):
    direction = np.random.default_rng(0).normal(size=A.shape)
    h = 1e-6
    expected = (f(A + h * direction) - f(A - h * direction)) / (2 * h)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what Python runs would be told
        slopes = jit(grad(f))(A)
    np.testing.assert_allclose(np.sum(slopes * direction), expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(slopes, grad(f)(A), rtol=1e-9, atol=1e-12)


def test_no_pass_where_the_list_is_empty():
    slopes = jit(grad(vectors_in_a_loop))(A * 0)
    np.testing.assert_allclose(slopes, grad(vectors_in_a_loop)(A * 0), rtol=1e-12)
