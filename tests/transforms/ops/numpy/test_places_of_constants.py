"""Places of masks that are computed of constants only: how many there are is known."""

import numpy as np
import pytest

import tapeless

X = np.array([0.7, -1.2, 2.3, 0.4])


def named(x, name="loss"):
    names = np.array([["gain", "loss"], ["phase", "noise"]])
    table = np.outer(x[:2], x[2:])
    return np.squeeze(table[np.where(names == name)].T) * x


def unpacked(x):
    first, second = np.nonzero(np.array([0, 3, 0, 1]))[0]
    return x[first] * np.ones(2) - x[second]


def grouped(x):
    groups = np.array([1, 0, 1, 2])
    means = [np.mean(x[np.flatnonzero(groups == k)]) for k in range(3)]
    empty = x[np.flatnonzero(groups == 7)]
    return np.array([*means, float(len(empty))])


def two_axes(x):
    rows, columns = np.nonzero(np.eye(2) - np.eye(2, k=1))
    return np.outer(x, x)[rows, columns].reshape(3, 1) + x


@pytest.mark.parametrize("f", [named, unpacked, grouped, two_axes], ids=lambda f: f.__name__)
def test_values_and_slopes(f):
    with tapeless.strict(True):  # nothing is traced
        np.testing.assert_allclose(tapeless.jit(f)(X), f(X))
        np.testing.assert_allclose(tapeless.vmap(f)(np.stack([X, 2 * X]))[1], f(2 * X))
        slope = tapeless.grad(lambda x: np.sum(f(x) * np.cos(1.0 + f(X))))(X)
    d = np.array([0.3, -0.1, 0.5, 0.2])
    weights = np.cos(1.0 + f(X))
    step = np.sum(weights * (f(X + 1e-6 * d) - f(X - 1e-6 * d))) / 2e-6
    np.testing.assert_allclose(slope @ d, step, rtol=1e-6)
