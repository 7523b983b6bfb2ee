"""Loops over iterators of ranges of known numbers: rolled, and the iterators are used up."""

import numpy as np
import pytest

from tapeless import grad, jit

X = np.linspace(0.2, 1.0, 12)


def backwards(x):
    total = 0.0
    for k in reversed(range(12)):
        total = total * x[k] + k
    return total


def of_lists(x):
    rows = [x * k for k in range(12)]
    sums = []
    for k in reversed(range(12)):
        sums.append(np.sum(rows[k]) * x[k])  # noqa: PERF401  # the loop is what is tested
    return sum(sums[k] * x[11 - k] for k in range(12))


def in_a_loop(x):
    total = 0.0
    for i in range(3):
        for k in reversed(range(5, 12, 2)):
            total = total + x[k] * x[i] ** 2
    return total


def begun(x):
    numbers = iter(range(10))
    total = next(numbers) + 0.0
    for k in numbers:
        total = total + x[k] * k
    return total + len(list(numbers))


def of_pairs(x):
    numbers, total = iter(range(10)), 0.0
    for k in numbers:
        total = total + x[k] * x[next(numbers)]
    return total


def run_over_once(x):
    numbers, total = reversed(range(11)), 0.0
    for i in range(3):
        for k in numbers:
            total = total + x[k] * x[i]
    return total


@pytest.mark.parametrize(
    "f", [backwards, of_lists, in_a_loop, begun, of_pairs, run_over_once], ids=lambda f: f.__name__
)
def test_values_and_slopes(f):
    np.testing.assert_allclose(jit(f)(X), f(X), rtol=1e-13)
    step = 1e-6 * np.eye(12)[3]
    slope = (f(X + step) - f(X - step)) / 2e-6
    np.testing.assert_allclose(grad(f)(X)[3], slope, rtol=1e-6)


@pytest.mark.parametrize("f", [backwards, of_lists, in_a_loop], ids=lambda f: f.__name__)
def test_rolled(f):
    assert "unrolled" not in str(jit(f).stages(X)["notes"])


class Numbers:
    def __init__(self):
        self.left = reversed(range(10))


def test_an_iterator_that_is_advanced_in_its_loop_is_refused():
    def f(x):
        numbers, total = Numbers(), 0.0
        for k in numbers.left:
            total = total + x[k] * x[next(numbers.left)]
        return total

    with pytest.raises(NotImplementedError, match="iterator"):
        jit(f)(X)
