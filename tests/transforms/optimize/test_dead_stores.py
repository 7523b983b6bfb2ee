"""Stores that nothing reads are left out, and those that something reads are not."""

import numpy as np
import pytest

import tapeless
from tests.api.lax.tables import check_slopes

RNG = np.random.default_rng(8)
X = RNG.normal(size=5)


def rows(x):
    y = np.empty((5, 2))
    for i in range(5):
        y[i] = np.sin(x[i])
    return np.sum(y**2)


def windows(x):
    y = np.empty((3, 3))
    for j in range(3):
        for i in range(3):
            y[j, i] = x[i + j] * x[i]
    return np.sum(y**3)


def test_gradients_do_not_clear_what_they_have_read():
    for f in (rows, windows):
        gradient = tapeless.grad(f)
        gradient(X)
        assert "= 0.0" not in gradient.source(X)
        check_slopes(lambda x, f=f: np.reshape(f(x), (1,)), (X,), 1)


def repeated(x):
    """A place is stored to in several passes: only the last store counts."""
    y = np.zeros(2)
    for i in range(5):
        y[i % 2] = x[i] ** 2
    return np.sum(y**2)


def neighbours(x):
    """A pass reads what the one before stored."""
    y = np.zeros(6)
    for i in range(5):
        y[i + 1] = y[i] * 0.5 + x[i] ** 2
    return np.sum(y**2)


def twice(x):
    """The inner loop goes over the same places in each pass of the outer one."""
    y = np.zeros(5)
    for k in range(2):
        for i in range(5):
            y[i] = x[i] ** (k + 2)
    return np.sum(y**2)


def from_both_ends(x):
    """Indices below 0 name places once more."""
    y = np.zeros(4)
    for i in range(-2, 4):
        y[i] = x[i + 1] ** 2
    return np.sum(y**2)


def by_test(x):
    y = np.zeros(5)
    for i in range(5):
        if x[i] > 0:
            y[i] = x[i] ** 2
        y[4 - i] += x[i]
    return np.sum(y**2)


@pytest.mark.parametrize("f", [repeated, neighbours, twice, from_both_ends, by_test])
def test_what_is_read_stays(f):
    check_slopes(lambda x: np.reshape(f(x), (1,)), (X,), 1)
