"""Functions that call themselves as deep as Python allows for a program of some hundred steps."""

import functools
import sys

import numpy as np
import pytest

import tapeless

X = np.random.default_rng(0).random(120)


def kept_in_a_dict(x):
    cache = {}

    def best(i):
        if i < 0:
            return 0.0
        if i in cache:
            return cache[i]
        cache[i] = max(best(i - 1), x[i] + best(i - 2))
        return cache[i]

    return best(len(x) - 1)


def kept_by_functools(x):
    @functools.cache
    def best(i):
        if i >= len(x):
            return 0.0
        return max(best(i + 1), x[i] + best(i + 2))

    return best(0)


def chosen(x):
    return max(tuple(1.5 * x[i] for i in (0, 3, 1, 2) * 120))


@pytest.mark.parametrize("function", [kept_in_a_dict, kept_by_functools, chosen])
@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
def test_depth(function):
    before = sys.getrecursionlimit()
    np.testing.assert_allclose(tapeless.jit(function)(X), function(X), rtol=1e-12)
    direction, h = np.cos(np.arange(X.size)), 1e-7
    difference = (function(X + h * direction) - function(X - h * direction)) / (2 * h)
    np.testing.assert_allclose(tapeless.grad(function)(X) @ direction, difference, rtol=1e-5)
    assert sys.getrecursionlimit() == before
