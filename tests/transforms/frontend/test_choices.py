"""Variables that stand for one of several arrays, as tests on data say."""

import numpy as np
import pytest

from tapeless import jit
from tapeless.transforms.errors import AliasError

X = np.array([0.5, 2.2, 1.1, 2.9, 0.1, 0.2])


def a_view_of_an_array_that_moves(x, p):
    a = x
    v = a
    for _ in range(4):
        for _ in range(p):
            v = a[1:]
        a = x + 0.1
        if a[-1] > 0.5:
            break
    v[0] = 0.5
    return a, x


@pytest.mark.parametrize("p", [0, 1, 3])
@pytest.mark.parametrize("x", [X, X + 1])
def test_views_of_different_lengths(x, p):
    mine, other = x.copy(), x.copy()
    made = jit(a_view_of_an_array_that_moves)(mine, p)
    wanted = a_view_of_an_array_that_moves(other, p)
    for a, b in zip(made, wanted, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(mine, other)


def exchanged_until_one_is_large(x):
    a, b = x.copy(), x * 0.5
    for i in range(3):
        for _ in range(len(a)):
            if b[-1] > 0.69:
                return a, b
            a, b = b, np.maximum(a, x)
        b += x * x[i]
    return a, b


def best_and_present(x):
    best, present = x.copy(), x.copy()
    for i in range(5):
        new = present * 0.9 + i * 0.1
        if new.sum() < present.sum():
            present = new
        elif new[0] > best[0]:
            best, present = present, best
        if present[0] < best[0]:
            best = present
        if best[1] < 0.1:
            break
    best[0] = 7
    return best, present


@pytest.mark.parametrize("function", [exchanged_until_one_is_large, best_and_present])
def test_very_many_are_refused(function):
    with pytest.raises(AliasError, match="may share memory"):
        jit(function)(X)
