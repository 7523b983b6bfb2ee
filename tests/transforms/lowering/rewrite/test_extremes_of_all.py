"""The place of the largest element of a whole array, inside of loops."""

import numpy as np
import pytest

import tapeless

A = np.random.default_rng(0).random((5, 7))
WITH_NAN = np.where(A > 0.95, np.nan, A)


def peaks(a, n):
    a, total = a.copy(), 0
    for k in range(n):
        i, j = np.unravel_index(np.argmax(a), a.shape)
        total += (k + 1) * (10 * i + j)
        a[i, j] = -1
    return total


def lows(a, n):
    total = 0
    for k in range(n):
        total = 3 * total + np.argmin(a[:-1] * (k - 2) + a[1:])
    return total


def of_three_axes(a, n):
    total = 0
    for k in range(n):
        total = 3 * total + np.argmax(np.sin(a[:, :, None] * np.arange(3) * k))
    return total


@pytest.mark.filterwarnings("error::tapeless.PerformanceWarning")
@pytest.mark.parametrize("function", [peaks, lows, of_three_axes])
@pytest.mark.parametrize("a", [A, WITH_NAN, np.round(4 * A), A.T])
def test_places(function, a):
    assert tapeless.jit(function)(a, 6) == function(a, 6)


def test_of_nothing():
    with pytest.raises(ValueError, match="empty"):
        tapeless.jit(peaks)(np.zeros((0, 3)), 2)
