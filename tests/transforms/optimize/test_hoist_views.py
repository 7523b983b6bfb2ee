"""Views taken before loops: the way back adds to one cotangent, and the numbers stay."""

import re

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient


def rows_but_the_first(x):
    y = x[0]
    for row in x[1:]:
        y = np.sin(y * row)
    return y.sum()


def neighbours(x):
    total = 0.0
    for a, b in zip(x[1:], x[:-1], strict=True):
        total += a @ b**2
    return total


def columns(x):
    y = np.ones(len(x))
    for column in x.T:
        y = y * np.cos(column)
    return y.sum()


def views_in_branches(x):
    total = 0.0
    for i in range(len(x) - 1):
        for j in range(2):
            if x[i, j] > 0:
                total += x[1:][i, j] ** 2 * x.T[j, i]
    return total


def overwritten_meanwhile(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += np.sum(x[1:][i] ** 2)
        x[i + 1] = x[i] * x[1:][i]
    return total


FUNCTIONS = [rows_but_the_first, neighbours, columns, views_in_branches, overwritten_meanwhile]
X = np.random.default_rng(0).normal(size=(4, 3)).round(2)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_derivative_is_right(function):
    expected = gradient(lambda v: function(v.reshape(X.shape).copy()), X.ravel())
    slope = tapeless.grad(function)(X)
    np.testing.assert_allclose(slope.ravel(), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("function", FUNCTIONS[:4], ids=lambda f: f.__name__)
def test_a_pass_backwards_makes_no_array_of_full_size(function):
    source = tapeless.grad(function).source(X)
    backwards = source[source.index("in reversed(") :]
    inside = re.findall(r"^ {8,}.*np\.zeros\(.*shape", backwards, re.MULTILINE)
    assert not inside
