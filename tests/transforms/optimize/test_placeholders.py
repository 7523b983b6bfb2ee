"""Kernels that are given what only one side of a branch sets."""

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient


def early(x, v):
    """The sort stays in the driver, and so do the branches around it."""
    if x > 0:
        w = np.sin(v)
        return np.sum(w * v[::-1]) * x
    order = np.sort(v)
    mixed = order[1:] * np.tanh(x * v[1:])
    scale = np.tanh(np.exp(x * order[0]))
    if scale < 0.9:
        return scale * np.linalg.norm(mixed * v[0])
    return np.sum(order * v * scale)


def either(x, v):
    if x > 0:
        w = np.sort(v * x)
        part, n = w[1:], 2.0
    else:
        w = v * x
    y = np.sum(np.sin(v * x))
    if x > 0:
        y = y * np.sum(part * part) * n
    return y + np.sum(w[::2])


@pytest.mark.parametrize("function", [early, either])
def test_both_sides(function):
    compiled = tapeless.jit(tapeless.value_and_grad(function, argnums=(0, 1)))
    v = np.array([0.4, -0.3, 0.9, 0.2])
    for x in (0.7, -0.8, -0.01):
        value, (dx, dv) = compiled(x, v)
        np.testing.assert_allclose(value, function(x, v))
        point = np.array([x, *v])
        expected = gradient(lambda p: float(function(p[0], p[1:])), point, 1e-6)
        np.testing.assert_allclose([dx, *dv], expected, rtol=1e-5, atol=1e-8)


def shrunk_in_some_rows(x, v):
    if v[0] <= 0.1:
        for i in range(3):
            for _ in range(i):
                v[1:] = v[1:] * np.tanh(x)
    return np.sum(v * v)


def test_what_no_pass_of_a_loop_makes_is_as_long_as_the_part_of_the_batch():
    rows = np.array([[-0.3, -0.1, 0.9], [-0.2, 0.4, 0.5], [0.6, 0.1, 0.2]])

    def of_rows(x):
        return np.sum(tapeless.vmap(shrunk_in_some_rows)(x, rows))

    x, e = np.array([0.5, 0.8, 1.1]), 1e-6
    differences = [(of_rows(x + step) - of_rows(x - step)) / (2 * e) for step in e * np.eye(3)]
    np.testing.assert_allclose(tapeless.grad(of_rows)(x), differences, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(tapeless.jit(tapeless.grad(of_rows))(x), differences, atol=1e-7)
