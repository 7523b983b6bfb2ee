"""Errors of kernels say which index is out of bounds, of which axis and size, as NumPy's do."""

import re

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.backends.cpu.llvm import compile as direct

X = np.arange(1.0, 6.0)
M = np.arange(12.0).reshape(3, 4) + 0.5


def squares(x, n):
    total = 0.0
    for k in range(n):
        total += x[k] * x[k]
    return total


def from_a_start(x, n):
    total = 0.0
    for k in range(n, n + 3):
        total += np.sin(x[k])
    return total


def backwards(x, n):
    total = 0.0
    for k in range(n - 1, -1, -1):
        total = total * 0.5 + x[k]
    return total


def lagged(x, n):
    total = 0.0
    for k in range(n):
        total += x[k - 1] * x[k - 7]
    return total


def ahead(x, n):
    y = np.zeros(3)
    for k in range(3):
        y[k] = x[k + n]
    return np.sum(y)


def stored(x, n):
    y = np.zeros(4)
    for k in range(3):
        y[k * n] = x[k]
    return np.sum(y)


def gathered(x, n):
    return np.sum(x[np.arange(3) * n] ** 2)


def chosen(x, n):
    return np.sum(np.exp(x)[n] * x)


def of_a_matrix(m, n):
    total = 0.0
    for i in range(3):
        total += m[i, n] + m[n, i]
    return total


def row_of_a_matrix(m, n):
    return np.sum(np.tanh(m)[:, n])


def first_of_a_pass(x, n):
    total = 0.0
    while total < 100.0:
        total += x[n] + 1.0
        n = n + 2
    return total


CASES = [
    *((f, X, n) for f in (squares, from_a_start, backwards, ahead) for n in (6, 9)),
    (lagged, X, 1),
    *((f, X, n) for f in (stored, gathered, chosen) for n in (7, -9)),
    *((f, M, n) for f in (of_a_matrix, row_of_a_matrix) for n in (5, -5)),
    (first_of_a_pass, X, 2),
]


@pytest.mark.parametrize(("function", "x", "n"), CASES)
def test_index_and_size_are_those_of_numpy(function, x, n):
    with pytest.raises(IndexError) as expected:
        function(x, n)
    with pytest.raises(IndexError) as caught:
        jit(function)(x, n)
    assert str(caught.value) == str(expected.value)
    with pytest.raises(IndexError) as caught:
        jit(grad(function))(x, n)  # may read in another order
    index, axis, size = map(int, re.findall(r"-?\d+", str(caught.value).splitlines()[0]))
    assert size == (4 if function is stored else x.shape[axis])
    assert not -size <= index < size


def test_in_a_batch():
    with pytest.raises(IndexError, match="index 8 is out of bounds for axis 0 with size 5"):
        jit(vmap(chosen, in_axes=(None, 0)))(X, np.array([1, 4, 8]))


@pytest.mark.parametrize("function", [squares, gathered])
def test_in_kernels_that_numba_compiles(function, monkeypatch):
    monkeypatch.setattr(direct, "compile_kernel", lambda *args: None)
    with pytest.raises(IndexError) as expected:
        function(X, 6)
    with pytest.raises(IndexError) as caught:
        jit(function)(X, 6)
    assert str(caught.value) == str(expected.value)
