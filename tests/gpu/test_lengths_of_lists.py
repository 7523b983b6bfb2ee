"""Lengths that lists of a program tell: the driver knows them before it makes arrays of them."""

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit

X = np.array([0.9, 0.2, 0.7, 0.4, 0.1, 0.6, 0.3])


def part_of_a_table(x):
    """The length is that of a slice, and of the list of derivatives, which comes later."""
    own = [[1.0, x[2]], [3.0], [x[0], x[1], x[2]], [0.5], [], [x[3] * x[4]], [2.0]]
    return sum(v * v for v in own[int(np.argmax(x[1:]))])


def emptied(x):
    bins, total = [[] for _ in range(3)], 0.0
    for v in x:
        k = int(3 * v)
        bins[k] += [v, v * 2]
        if len(bins[k]) > 3:
            total += sum(bins[k]) ** 2
            bins[k] = []
    return total + sum(len(row) * sum(row) for row in bins)


def counted_by_data(x):
    counts = np.zeros(3, int)
    for v in x:
        counts[int(3 * v)] += 1
    kept = [x[i] * x[i] for i in range(counts[0])]
    return sum(kept) * counts[1]


@pytest.mark.parametrize("function", [part_of_a_table, emptied, counted_by_data])
def test_values_and_slopes(function, gpu):
    ours = tapeless.device_get(jit(function, backend="gpu")(X))
    np.testing.assert_allclose(ours, function(X), rtol=1e-13)
    slopes = tapeless.device_get(jit(grad(function), backend="gpu")(X))
    differences = np.empty(len(X))
    for k in range(len(X)):
        step = np.zeros(len(X))
        step[k] = 1e-6
        differences[k] = (function(X + step) - function(X - step)) / 2e-6
    np.testing.assert_allclose(slopes, differences, rtol=1e-6, atol=1e-6)
