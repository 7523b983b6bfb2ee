"""Bessel functions in C, beside 40 digits."""

import mpmath
import numpy as np
import pytest
import scipy.special as sc

from tapeless import grad
from tests.transforms.c.compiled import checked, library, normal


def first_kind(x):
    return sc.j0(x), sc.j1(x)


def second_kind(x):
    return sc.y0(x), sc.y1(x)


def modified(x):
    return sc.i0(x), sc.i1(x), sc.i0e(x), sc.i1e(x)


def decreasing(x):
    return sc.k0(x), sc.k1(x)


EXACT = {
    first_kind: (lambda x: mpmath.besselj(0, x), lambda x: mpmath.besselj(1, x)),
    second_kind: (lambda x: mpmath.bessely(0, x), lambda x: mpmath.bessely(1, x)),
    modified: (
        lambda x: mpmath.besseli(0, x),
        lambda x: mpmath.besseli(1, x),
        lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)),
        lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)),
    ),
    decreasing: (lambda x: mpmath.besselk(0, x), lambda x: mpmath.besselk(1, x)),
}
POINTS = np.linspace(0.3, 12.0, 9)


@pytest.mark.parametrize("function", EXACT)
def test_values(function, tmp_path):
    x = np.concatenate([np.geomspace(1e-300, 600.0, 300), np.linspace(0.1, 20.0, 300)])
    if function in (first_kind, modified):
        x = np.concatenate([x, -x, [0.0]])
    values = library(function, (POINTS,), tmp_path)(x)
    with mpmath.workdps(40):
        for value, exact in zip(values, EXACT[function], strict=True):
            right = np.array([float(exact(mpmath.mpf(float(a)))) for a in x])
            # beside zeros the error is as small as that of what is around them
            size = np.maximum(np.abs(right), 0.5 / np.sqrt(np.maximum(np.abs(x), 1)))
            size = np.abs(right) if function in (modified, decreasing) else size
            assert np.all(np.abs(value - right) <= 1e-14 * size + 1e-320)


@pytest.mark.parametrize("function", EXACT)
def test_ends_are_those_of_scipy(function, tmp_path):
    x = np.array([0.0, -0.0, np.inf, np.nan, -1.5, 800.0])
    for value, right in zip(library(function, (POINTS,), tmp_path)(x), function(x), strict=True):
        np.testing.assert_allclose(value, right, rtol=1e-13)


@pytest.mark.parametrize("name", ["j0", "y0", "i0", "i0e", "k0"])
def test_gradients(name, tmp_path):
    function = getattr(sc, name)
    checked(grad(lambda x: np.sum(function(np.abs(x) + 0.1) ** 2)), (3 * normal(12),), tmp_path)


def test_the_function_of_numpy(tmp_path):
    checked(lambda x: np.i0(x), (3 * normal(12),), tmp_path)
