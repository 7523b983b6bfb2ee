"""Functions of SciPy that C has not, and sums of np.bincount."""

import mpmath
import numpy as np
import pytest
import scipy.special as sc

from tapeless import grad, hessian
from tests.transforms.c.compiled import checked, library

POINTS = np.linspace(0.3, 5.0, 12)


def slopes(x):
    return sc.psi(x), sc.polygamma(1, x), sc.zeta(3.5, x)


def likelihood(x, a):
    """Of a gamma distribution: its slopes are digamma functions."""
    return np.sum((a - 1) * np.log(x) - sc.gammaln(a) + np.sum(sc.gammaln(a * x)))


def test_digamma_and_zeta_functions(tmp_path):
    run = library(slopes, (POINTS,), tmp_path)
    x = np.concatenate([np.geomspace(1e-6, 1e9, 60), np.linspace(-9.3, 9.9, 97)])
    for found, function in zip(
        run(x),
        (
            lambda v: mpmath.psi(0, v),
            lambda v: mpmath.psi(1, v),
            lambda v: mpmath.zeta(3.5, v) if v > 0 else mpmath.nan,
        ),
        strict=True,
    ):
        expected = np.array([float(function(mpmath.mpf(v))) for v in x])
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)


def test_at_poles_and_infinity(tmp_path):
    run = library(slopes, (POINTS,), tmp_path)
    x = np.array([0.0, -0.0, -1.0, -2.0, np.inf, np.nan, -np.inf])
    for found, expected in zip(run(x), slopes(x), strict=True):
        np.testing.assert_array_equal(found[:-1], expected[:-1])
    assert np.isnan(run(x)[0][-1])


@pytest.mark.parametrize("transform", [grad, hessian])
def test_a_likelihood(transform, tmp_path):
    function = transform(likelihood, argnums=1)
    checked(function, (POINTS, 1.7), tmp_path, function(POINTS, 1.7))


def counts(k, w):
    return (
        np.bincount(k, weights=w),
        np.bincount(k),
        np.bincount(k, minlength=20),
        np.bincount(k[::2], w[1::2], 3),
    )


def squares(w, k):
    return np.sum(np.bincount(k, weights=w, minlength=7) ** 2)


NUMBERS, WEIGHTS = np.arange(30) ** 2 % 11, np.linspace(-1, 2, 30)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, bool])
def test_counts(dtype, tmp_path):
    args = NUMBERS.astype(dtype), WEIGHTS
    checked(counts, args, tmp_path, counts(*args))


def test_the_slope_of_counts(tmp_path):
    expected = 2 * np.bincount(NUMBERS, weights=WEIGHTS, minlength=7)[NUMBERS]
    checked(grad(squares), (WEIGHTS, NUMBERS), tmp_path, expected)


def test_counts_that_are_refused_or_need_room(tmp_path):
    run = library(counts, (NUMBERS, WEIGHTS), tmp_path)
    k = NUMBERS.copy()
    k[3] = 5000
    assert [len(v) for v in run(k, WEIGHTS)] == [len(v) for v in counts(k, WEIGHTS)]
    k[3] = -1
    with pytest.raises(ValueError, match="must have no negative elements"):
        run(k, WEIGHTS)
