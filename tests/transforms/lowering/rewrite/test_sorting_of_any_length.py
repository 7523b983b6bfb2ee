"""Sorting and medians in kernels, of arrays whose length only the program knows."""

import numpy as np
import pytest

from tapeless import jit, value_and_grad

X = np.random.default_rng(0).random((30, 9))


def window(x):
    last, medians = [], []
    for value in x[:, 0]:
        last.append(value)
        if len(last) > 7:
            last.pop(0)
        medians.append(np.median(last) + np.mean(last))
    return np.std(np.array(medians))


def leading(x):
    total = 0.0
    for i in range(1, len(x)):
        ordered = np.sort(x[:i, 0])
        total += np.median(x[:i, 1]) + ordered[-1] * ordered[0] + x[np.argsort(x[:i, 2])[0], 3]
    return total


def picked(x):
    total = 0.0
    for row in x:
        total += np.median(row[row > 0.2]) + np.percentile(row[row < 0.9], 30)
    return total


@pytest.mark.parametrize("f", [window, leading, picked])
def test_values_and_slopes(f):
    compiled = jit(f)
    for x in (X, X[::-1], X[:11]):
        assert compiled(x) == pytest.approx(f(x), rel=1e-12)
    assert f is window or compiled.explain(X).loops == ()  # whose list is one of Python's
    value, gradient = jit(value_and_grad(f))(X)
    step = 1e-7 * np.cos(np.arange(X.size)).reshape(X.shape)
    assert np.sum(gradient * step) * 2 == pytest.approx(f(X + step) - f(X - step), rel=1e-5)
    assert value == pytest.approx(f(X), rel=1e-12)


def test_long_arrays():
    def sorted_part(x, n):
        total = 0.0
        for i in range(2):
            ordered = np.sort(x[: n[i]])
            total += np.sum(ordered * np.arange(n[i])) + np.argsort(x[: n[i]])[5]
        return total

    x = np.random.default_rng(1).normal(size=50_000)
    x[::1000] = np.nan
    n = np.array([999, 50_000])
    value = jit(sorted_part)(np.where(np.isnan(x), 3.0, x), n)
    assert value == pytest.approx(sorted_part(np.where(np.isnan(x), 3.0, x), n), rel=1e-12)

    def last_of_sorted(x, n):
        total = 0.0
        for k in n:
            total += np.isnan(np.sort(x[:k])[-1]) + np.sort(x[:k])[k // 2]
        return total

    assert jit(last_of_sorted)(x, n) == last_of_sorted(x, n)
