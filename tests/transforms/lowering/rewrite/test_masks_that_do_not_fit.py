"""A mask longer or shorter than the axis it selects from raises NumPy's error in kernels."""

import numpy as np
import pytest

from tapeless import grad, jit

Q = np.random.default_rng(0).normal(size=(6, 3, 4))


def read(x, mask):
    total = 0.0
    for k in range(3):
        total += np.sum(x[k][mask])
    return total


def filled(x, mask):
    y = x * 1.0
    for k in range(3):
        y[k][mask] = 0.0
    return np.sum(y)


def copied(x, mask):
    y = x * 1.0
    for k in range(3):
        y[k][mask] = x[k + 1][mask] * 2
    return np.sum(y)


def added(x, mask):
    y = x * 1.0
    for k in range(3):
        y[k, :, 0][mask] += x[k + 1, :, 1][mask] * 2
    return np.sum(y)


def under_a_test(x, mask):
    y = x[0, :, 0] * 1.0
    for k in range(3):
        if np.sum(y) > -1e9:
            y[mask] = k
    return np.sum(y)


def of_all_axes(x, mask):
    return np.sum(x[0][np.stack([mask] * 4, axis=1)])


def a_mask_of_a_length_by_data(x, mask, k):
    total = 0.0
    for i in range(3):
        total += np.sum(x[i][mask[:k] > 0])
    return total


@pytest.mark.parametrize("k", [0, 1, 3, 5])
def test_lengths_by_data(k):
    for g in (a_mask_of_a_length_by_data, jit(a_mask_of_a_length_by_data)):
        if k in (0, 3):
            expected = np.sum(Q[:3]) * (k == 3)
            np.testing.assert_allclose(g(Q, np.ones(6), k), expected, rtol=1e-12)
        else:
            with pytest.raises(IndexError, match="boolean index did not match"):
                g(Q, np.ones(6), k)


@pytest.mark.parametrize("f", [read, filled, copied, added, under_a_test, of_all_axes])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 6])
def test_lengths(f, length):
    mask = np.ones(length, bool)
    pairs = [(f, f), (jit(f), f), (grad(f), grad(f)), (jit(grad(f)), grad(f))]
    for g, plain in pairs:
        if length in (0, 3):  # one of no elements fits any array
            np.testing.assert_allclose(np.sum(g(Q, mask)), np.sum(plain(Q, mask)), rtol=1e-12)
        else:
            with pytest.raises(IndexError, match="boolean index did not match"):
                g(Q, mask)
