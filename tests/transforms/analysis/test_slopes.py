"""Which products of derivatives test for an exact zero: those that need it, and no others."""

import numpy as np
import pytest

from tapeless import grad, jit


def likelihood(t, x, y):
    """Of a Gaussian process, with the logarithms of its scales."""
    d = x[:, None] - x[None, :]
    cov = np.exp(t[0]) * np.exp(-0.5 * d**2 / np.exp(2 * t[1])) + np.exp(t[2]) * np.eye(len(x))
    low = np.linalg.cholesky(cov)
    white = np.linalg.solve(low, y)
    return 0.5 * white @ white + np.sum(np.log(np.diag(low)))


def test_triangles_of_factorisations_are_no_choice():
    t, x, y = np.array([0.1, 0.2, -1.0]), np.linspace(0.0, 3.0, 6), np.arange(6.0)
    slope = grad(likelihood)
    assert "!= 0" not in slope.source(t, x, y)
    steps = 1e-4 * np.eye(3)
    expected = [(likelihood(t + e, x, y) - likelihood(t - e, x, y)) / 2e-4 for e in steps]
    np.testing.assert_allclose(slope(t, x, y), expected, rtol=1e-6)


def stacked_rows(x):
    rows = np.stack([x / x[0], x / x[1]])
    return np.sum(rows[1])


def stored_rows(x):
    rows = np.zeros((3, 3))
    for i in range(3):
        rows[i] = x / x[i]
    return np.sum(rows[1])


def chosen_rows(x):
    return np.sum(np.where(x[0] > 0, x / x[0], x / x[1]))


@pytest.mark.parametrize("f", [stacked_rows, stored_rows, chosen_rows])
@pytest.mark.parametrize("wrap", [lambda f: f, jit])
def test_numbers_that_divide_rows_which_nobody_reads(f, wrap):
    with np.errstate(all="ignore"):
        found = wrap(grad(f))(np.array([0.0, 1.0, 2.0]))
    np.testing.assert_allclose(found, [1.0, -2.0, 1.0])  # of (x_0 + x_1 + x_2) / x_1


def upper_reciprocals(a):
    return np.sum(np.triu(1 / a))


@pytest.mark.parametrize("wrap", [lambda f: f, jit])
def test_poles_in_the_other_triangle(wrap):
    with np.errstate(all="ignore"):
        found = wrap(grad(upper_reciprocals))(np.array([[1.0, 2.0], [0.0, 4.0]]))
    np.testing.assert_allclose(found, [[-1.0, -0.25], [0.0, -1 / 16]])
