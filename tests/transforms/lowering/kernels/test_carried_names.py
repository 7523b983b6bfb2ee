"""A number that a loop goes on with keeps its name, if nothing else reads what it was before."""

import numpy as np
import pytest

from tapeless import grad, jit


def gone_on_with(x, n):
    y = x[0]
    for i in range(n):
        y = 0.5 * y + np.sin(y) * i
    return y


def begun_in_each_pass(x, n):
    total = 0.0
    for i in range(n):
        y = x[i]
        for j in range(3):
            y = 0.5 * y + j
        total += y * y
    return total


def begun_outside(x, n):
    start, total = np.sin(x[0]), 0.0
    for i in range(n):
        y = start
        while y < 2 + i:
            y = 1.5 * y + 1
        total += y * x[1]
    return total


def read_behind(x, n):
    start = np.sin(x[0])
    y = start
    for i in range(n):
        y = 0.5 * y + i * x[1]
    return y * start


def two_of_one(x, n):
    a = np.sin(x[0])
    b = a
    for _ in range(n):
        a, b = 0.5 * b, a + x[1]
    return a * b


def on_one_side(x, n):
    y = x[0] * x[1]
    if x[1] > 0:
        for i in range(n):
            y = 0.5 * y + i
    return y * x[2]


PROGRAMS = [
    gone_on_with,
    begun_in_each_pass,
    begun_outside,
    read_behind,
    two_of_one,
    on_one_side,
]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("n", [0, 3])
def test_values(program, n):
    x = np.array([0.3, 0.7, 1.1])
    np.testing.assert_allclose(jit(program)(x, n), program(x, n), rtol=1e-12)
    np.testing.assert_allclose(jit(grad(program))(x, n), grad(program)(x, n), rtol=1e-12)


def test_no_copy():
    source = jit(gone_on_with).source(np.ones(3), 3)
    assert "y = x[0]" in source, source
    assert "y_2" not in source, source
