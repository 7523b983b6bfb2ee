"""A loop over a list that is not empty, as a test around it says, makes a pass: its first pass may
leave an array where a number was."""

import numpy as np
import pytest

from tapeless import grad, jit, strict

X = np.array([[0.3, -0.2], [0.8, 0.4], [-0.5, 0.9]])


def by_truth(s, x, least):
    near = [row for row in x if row[0] > least]
    center = np.zeros(2)
    if near:
        center = sum(s * row for row in near) / len(near)
    return np.sum(center**2) + s


def by_length(s, x, least):
    near = [row for row in x if row[0] > least]
    if len(near) > 0 and s > 0.0:
        total = 0.0
        for row in near:
            total = total + s * row
        return np.sum(total**2)
    return s


def by_the_other_side(s, x, least):
    near = [row for row in x if row[0] > least]
    if not near:
        return s
    return np.sum(sum(np.sin(s * row) for row in near))


def by_no_length(s, x, least):
    near = [row for row in x if row[0] > least]
    if len(near) == 0:
        return s * s
    return np.prod(sum(s * row for row in near))


PROGRAMS = [by_truth, by_length, by_the_other_side, by_no_length]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("least", [-1.0, 0.5, 2.0])
def test_values_and_slopes(f, least):
    s, e = 0.7, 1e-6
    differences = (f(s + e, X, least) - f(s - e, X, least)) / (2 * e)
    with strict(True):
        np.testing.assert_allclose(grad(f)(s, X, least), differences, rtol=1e-6)
    np.testing.assert_allclose(jit(f)(s, X, least), f(s, X, least), rtol=1e-12)


def too_weak_a_test(s, x, least):
    near = [row for row in x if row[0] > least]
    if len(near) > -1:
        return np.sum(sum(s * row for row in near))
    return s


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("least", [-1.0, 2.0])
def test_a_test_that_says_nothing(least):
    f = too_weak_a_test
    np.testing.assert_allclose(jit(f)(0.7, X, least), f(0.7, X, least), rtol=1e-12)
