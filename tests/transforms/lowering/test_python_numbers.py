"""Loops over Python's numbers raise as Python does, however they are compiled."""

import math

import numpy as np
import pytest

import tapeless


def elements(x):
    y = np.empty_like(x)
    for i in range(len(x)):
        y[i] = 1 / float(x[i])
    return y


def rows(x):
    y = np.zeros((3, len(x)))
    for k in range(3):
        for i in range(len(x)):
            y[k, i] = 2 / math.sqrt(x[i]) + k
    return y


def running(x):
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] = y[i - 1] + 1 / float(x[i])
    return y


def recurrence(x):
    y = np.zeros((len(x), 20))
    for i in range(len(x)):
        v = 1.0
        for k in range(20):
            v = v * 0.5 + 1 / float(x[i])
            y[i, k] = v
    return y


def comprehension(x):
    return np.array([1 / float(v) for v in x])


def generator(x):
    return sum(1 / float(v) for v in x)


def branch(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] < 5:
            y[i] = 3.0 % math.sqrt(x[i])
    return y


def until_large(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        v = float(x[i])
        while v < 10:
            v = v * 2 + 1 / float(x[i])
        y[i] = v
    return y


def appended(x):
    y = []
    for v in x:
        y.append(1 / float(v))  # noqa: PERF401 (what is tested)
    return np.array(y)


def of_a_list(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = sum([1 / float(x[i]), 2.0])
    return y


def squares(x):
    y = np.zeros(len(x), int)
    for i in range(len(x)):
        k = int(x[i] * 4e9)
        y[i] = (k * k) % 7
    return y


def cubes(x):
    y = 0
    for v in x:
        k = int(v * 4e9)
        y = y + (k * k * k) % 11
    return y


def squares_by_row(x):
    y = np.zeros((2, len(x)), int)
    for j in range(2):
        for i in range(len(x)):
            k = int(x[i] * 4e9)
            y[j, i] = (k * k * (j + 3)) % 7
    return y


DIVIDE = [elements, rows, running, recurrence, comprehension, generator]
DIVIDE += [branch, until_large, appended, of_a_list]


@pytest.mark.parametrize("function", DIVIDE)
def test_division_by_zero(function):
    x = np.array([1.0, 0.5, 2.0])
    np.testing.assert_allclose(tapeless.jit(function)(x), function(x), rtol=1e-15)
    x[1] = 0.0
    for f in (function, tapeless.jit(function), lambda x: tapeless.vjp(function, x)):
        with pytest.raises(ZeroDivisionError):
            f(x)


@pytest.mark.parametrize("function", [squares, cubes, squares_by_row])
def test_integers_beyond_64_bits(function):
    x = np.array([1e-9, 2e-9])
    np.testing.assert_array_equal(tapeless.jit(function)(x), function(x))
    with pytest.raises(OverflowError):
        tapeless.jit(function)(np.array([1.0, 2.0]))
