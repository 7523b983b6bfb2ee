"""The loops of products of parts go along the memory of the matrix, as those of whole ones do."""

import re

import numpy as np
import pytest

from tapeless import grad, jit

A = np.arange(30.0).reshape(6, 5) / 7
X = np.linspace(-1.0, 2.0, 6)


def columns_left(a, x):
    for _ in range(3):
        x = np.append(a[:, 1:] @ x[2:], 0.0)[:6]
    return x


def columns_right(a, x):
    for _ in range(3):
        x = x[1:5] @ a[:, 1:].T
    return x


def rows_right(a, x):
    for _ in range(3):
        x = np.append(x[1:] @ a[1:], 1.0)
    return x


def turned(a, x):
    for _ in range(3):
        x = np.append(a.T[:, 1:] @ x[1:], 1.0)
    return x


def every_second(a, x):
    for _ in range(3):
        x = a[:, ::2] @ x[::2]
    return x


def growing(a, x):
    y = np.zeros(a.shape)
    for t in range(4):
        y[:, t] = a[:, t:] @ x[t:5]
    return y


#: The innermost loop runs over columns of `a` in its memory.
CASES = {f.__name__: f for f in (columns_left, columns_right, rows_right, turned, every_second)}
CASES["growing"] = growing


@pytest.mark.parametrize("case", CASES)
def test_values(case):
    f = CASES[case]
    np.testing.assert_allclose(jit(f)(A, X), f(A, X), rtol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_along_memory(case):
    lines = jit(CASES[case]).source(A, X).splitlines()
    sums = [k for k, line in enumerate(lines) if "plus_product(" in line and "def " not in line]
    assert sums
    for k in sums:
        loop = next(line for line in reversed(lines[:k]) if line.strip().startswith("for "))
        index = re.search(r"for (\w+) in", loop)[1]
        read = re.search(r"\ba\[([^\]]*)\]", lines[k])[1]
        assert re.search(rf"\b{index}\b", read.rpartition(",")[2]), lines[k]


def test_gradient_of_a_covariance():
    def total(x):
        centred = x - np.mean(x, axis=0)
        cov = np.zeros((5, 5))
        for i in range(5):
            cov[i:5, i] = cov[i, i:5] = centred[:, i] @ centred[:, i:5] / 4
        return np.sum(cov**2)

    def closed(x):
        centred = x - np.mean(x, axis=0)
        return np.sum((centred.T @ centred / 4) ** 2)

    np.testing.assert_allclose(jit(grad(total))(A**2), grad(closed)(A**2), rtol=1e-10)
