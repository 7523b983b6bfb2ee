"""Integers that are zero in one call, and divide lengths in another."""

import numpy as np
import pytest

from tapeless import jit

X = np.arange(6.0)


def part(x, n):
    return x[: len(x) // n] if n else x


def rows(x, n):
    if n == 0:
        return x
    return x.reshape(n, -1)


def columns(x, n):
    if n == 0:
        return x
    return x.reshape(-1, n)


def made(x, n):
    return np.full(4 // n, x[0]) if n else x


def rest(x, n):
    return x[len(x) % n :] if n > 0 else x


@pytest.mark.parametrize("f", [part, rows, columns, made, rest])
@pytest.mark.parametrize("values", [(0, 1, 3, 2), (3, 0, 2)])
def test_zero_first_or_later(f, values):
    compiled = jit(f)
    for n in values:
        np.testing.assert_array_equal(compiled(X, n), f(X, n))


def test_a_length_that_is_zero_in_the_divisor():
    def f(x):
        return x[: len(x) // (len(x) - 2)] if len(x) != 2 else x

    for order in ((6, 2, 3), (2, 6)):
        compiled = jit(f)
        for n in order:
            np.testing.assert_array_equal(compiled(X[:n]), f(X[:n]))


def test_a_division_that_is_made():
    compiled = jit(lambda x, n: x[: len(x) // n])
    np.testing.assert_array_equal(compiled(X, 2), X[:3])
    with pytest.raises(ZeroDivisionError):
        compiled(X, 0)
    np.testing.assert_array_equal(compiled(X, 3), X[:2])
