"""Printed programs compare the lengths that they rely on, ahead of all else."""

import numpy as np
import pytest

import tapeless

X = np.linspace(0.5, 1.0, 8)


def of_parts(x, y):
    return np.sum(x[1:] * y[1:])


def in_a_loop(x, y):
    total = 0.0
    for _ in range(3):
        total += np.sum(x * y)
        x = x * 2
    return total


def of_parts_in_a_loop(x, y):
    total = 0.0
    for _ in range(3):
        total += np.sum(x[1:] * y[1:])
        x = x * 2
    return total


def carried(x, y):
    for _ in range(3):
        x = x * y
    return x


def stored(x, y):
    for k in range(3):
        x[2:] = x[2:] + k * y[2:]
    return x


def of_two_lengths(x, y):
    total = 0.0
    for k in range(3):
        total += np.dot(np.ones((2, len(x))) @ (k * y), np.ones(2))
    return total


@pytest.mark.parametrize(
    "function", [of_parts, in_a_loop, of_parts_in_a_loop, carried, stored, of_two_lengths]
)
def test_copied_text_refuses_lengths_that_differ(function):
    text = tapeless.jit(function).source(X.copy(), X.copy())
    names = {}
    exec(compile(text, "copied.py", "exec"), names)
    copied = names[function.__name__]
    np.testing.assert_allclose(copied(X.copy(), X.copy()), function(X.copy(), X.copy()), rtol=1e-13)
    for shorter in (X[:-1], X[:-5]):
        with pytest.raises(ValueError, match="lengths differ"):
            copied(X.copy(), shorter.copy())


def rows_of_a_sparse_matrix(starts, columns, values, x):
    y = np.zeros(len(starts) - 1)
    for i in range(len(starts) - 1):
        part = columns[starts[i] : starts[i + 1]]
        y[i] = values[starts[i] : starts[i + 1]] @ x[part]
    return y


def test_lengths_are_compared_once():
    compiled = tapeless.jit(rows_of_a_sparse_matrix)
    starts, columns, values = np.array([0, 2, 3, 5]), np.array([0, 1, 2, 1, 0]), np.ones(5)
    np.testing.assert_array_equal(compiled(starts, columns, values, np.arange(3.0)), [1, 2, 1])
    assert compiled.source().count("raise ValueError") == 1
    with pytest.raises(ValueError, match="the lengths differ"):
        compiled(starts, columns, values[:4], np.arange(3.0))


def test_long_chains_of_equal_sizes():
    """Each layer tells that two more lengths are equal; all sums share the loops of one kernel."""

    def layers(x, parts):
        for a, b in parts:
            x = a * np.tanh(x + b)
        return x

    parts = [(X + k, X - k) for k in range(12)]
    compiled = tapeless.jit(layers)
    np.testing.assert_allclose(compiled(X, parts), layers(X, parts), rtol=1e-14)
    source = compiled.source(X, parts)
    assert source.count("@njit(nogil") == 1
    assert source.count(" = empty(") == 1
