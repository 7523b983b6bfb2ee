"""Truth values of Python under &, | and ^ are truth values; ~ of them is an integer."""

import warnings

import numpy as np
import pytest

from tapeless import grad, jit

A = np.array([0.5, -1.2, 2.0, 0.3, -0.4])


def picked(x, a, b):
    return x[(a > 0) & (b > 0) & (x > 0)]


def of_all_or_none(x, a, b):
    return np.sum(x[(a > 0) | (b > 0)])


def combined(x, a, b):
    return (a > 0) & (b > 0), (a > 0) | (b > 0), (a > 0) ^ (b > 0), type((a > 0) & (b > 0)) is bool


def with_integers(x, a, b):
    return (a > 0) & 3, (a > 0) + (b > 0), ~(a > 0), ~np.bool_(a > 0)


def in_loops(x, a, b):
    n = 0
    for v in x:
        if (v > 0) & (v < a):
            n += 1
        flag = (v > 0) | (v < b)
        if not flag:
            n += 10
    return n


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.7), (-0.5, 0.7), (-0.5, -0.7)])
@pytest.mark.parametrize("f", [picked, of_all_or_none, combined, with_integers, in_loops])
def test_values(f, a, b):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        want, got = f(A, a, b), jit(f)(A, a, b)
    assert repr(got) == repr(want)


def test_masks_of_truth_values():
    def f(x, k):
        x = x.copy()
        x[np.array([(i > 0) & (i < k) for i in range(5)])] = 0.0
        return np.sum(x)

    for slope in (grad(f), jit(grad(f))):
        np.testing.assert_array_equal(slope(A, 3), [1, 0, 0, 1, 1])


# -- what is picked takes what NumPy's operators in place take


def added(i, x):
    i[[0]] += x
    return i


def scaled(i, x):
    i[i > 1] *= x
    return i


def element(i, x):
    i[0] += x
    return i


@pytest.mark.parametrize("f", [added, scaled])
def test_casts_in_place_are_checked(f):
    for g in (f, jit(f)):
        with pytest.raises(TypeError, match="same_kind"):
            g(np.array([1, 2]), 0.9)
        np.testing.assert_array_equal(g(np.array([1, 2]), 3), f(np.array([1, 2]), 3))


def test_elements_are_numbers():
    np.testing.assert_array_equal(jit(element)(np.array([1, 2]), 0.9), [1, 2])
