"""Loops that store to one column, or one block of columns, in each pass."""

import numpy as np
import pytest

import tapeless

X = np.random.default_rng(1).normal(size=(2, 10))


def columns(x):
    y = np.empty((x.shape[0], 3))
    for i in range(3):
        y[:, i] = 2 * x[:, i]
    return y


def blocks(x):
    y = np.empty((x.shape[0], 8, 3))
    for i in range(3):
        y[:, :, i] = x[:, i : i + 8]
    return y


@pytest.mark.parametrize("f", [columns, blocks])
def test_each_row_by_itself(f):
    compiled = tapeless.jit(f)
    np.testing.assert_array_equal(compiled(X), f(X))
