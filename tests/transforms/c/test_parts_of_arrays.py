"""Parts of arrays, as long as loops say, that functions of C get: sorted, searched, transformed."""

import numpy as np
import pytest

from tapeless import grad
from tests.transforms.c.compiled import checked, normal


def medians(x):
    """Windows are shorter at both ends."""
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = np.median(x[max(0, i - 2) : min(len(x), i + 3)])
    return y


def quartiles(x):
    total = 0.0
    for i in range(1, len(x)):
        low, high = np.quantile(x[:i], [0.25, 0.75])
        total = total + (high - low) * i
    return total


def of_later_ones(x):
    total = 0
    for i in range(1, len(x)):
        order = np.argsort(x[i:])
        total = total + order[0] + 3 * order[-1]
    return total


def searched(x):
    total = 0
    for i in range(1, len(x)):
        total = total + np.searchsorted(np.sort(x[i // 2 : i]), x[i])
    return total


def of_columns(x):
    total = 0.0
    for i in range(2, x.shape[0]):
        column = np.sort(x[:i, 1])
        total = total + column[i // 2] * column[0]
    return total


def transformed(x):
    total = 0.0
    for i in range(2, len(x)):
        total = total + np.abs(np.fft.fft(x[:i])).sum()
    return total


X = normal(14, seed=5)


@pytest.mark.parametrize("f", [medians, quartiles, of_later_ones, searched, transformed])
def test_values(f, tmp_path):
    checked(f, (X,), tmp_path, expected=f(X))


def test_columns(tmp_path):
    x = normal(12, 3, seed=5)
    checked(of_columns, (x,), tmp_path, expected=of_columns(x))


@pytest.mark.parametrize("f", [quartiles, transformed])
def test_gradients(f, tmp_path):
    expected = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(X.size)]
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-5, atol=1e-7)
    checked(grad(f), (X,), tmp_path)
