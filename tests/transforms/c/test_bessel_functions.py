"""Bessel functions in C, beside 40 digits."""

import mpmath
import numpy as np
import pytest
import scipy.special as sc

from tapeless import grad
from tapeless.transformations.compilation.jit_to_c import JitToC
from tapeless.transforms.errors import UnsupportedError
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


ORDERS = [0, 1, 2, 3, -3, 7, 40]
OF_ORDERS = {
    sc.jv: mpmath.besselj,
    sc.yv: mpmath.bessely,
    sc.iv: mpmath.besseli,
    sc.kv: mpmath.besselk,
}


@pytest.mark.parametrize("function", OF_ORDERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("order", ORDERS)
def test_whole_orders(function, order, tmp_path):
    x = np.concatenate([np.geomspace(1e-5, 600.0, 40), np.linspace(0.1, 60.0, 40)])
    if function in (sc.jv, sc.iv):
        x = np.concatenate([x, -x])
    run = library(lambda x: function(order, x), (POINTS,), tmp_path)
    values = run(x)
    with mpmath.workdps(50):
        exact = [OF_ORDERS[function](order, mpmath.mpf(float(a))) for a in x]
        right = np.array([float(mpmath.re(value)) for value in exact])  # of -x it may be complex
    size = np.abs(right)
    if function in (sc.jv, sc.yv):  # beside zeros errors are those of what is around them
        beyond = np.abs(x) > max(abs(order), 1)
        size = np.where(beyond, np.maximum(size, 0.5 / np.sqrt(np.abs(x))), size)
    finite = np.isfinite(right)
    assert np.all(np.abs(values - right)[finite] <= 2e-13 * size[finite] + 1e-320)
    np.testing.assert_array_equal(values[~finite], right[~finite])
    ends = np.array([0.0, np.inf, -np.inf, np.nan, -1.5, 800.0])
    np.testing.assert_allclose(run(ends), function(order, ends), rtol=1e-12)


@pytest.mark.parametrize("name", ["j1", "y1", "i1", "k1"])
def test_second_derivatives(name, tmp_path):
    function = getattr(sc, name)
    first = grad(lambda x: np.sum(function(np.abs(x) + 0.1) ** 2))
    checked(first, (3 * normal(12),), tmp_path)
    checked(grad(lambda x: np.sum(first(x) * np.arange(12.0))), (3 * normal(12),), tmp_path)


@pytest.mark.parametrize("order", [0.5, 1e6])
def test_other_orders_are_refused(order):
    with pytest.raises(UnsupportedError, match=r"scipy\.special\.jv"):
        JitToC(lambda x: sc.jv(order, x)).module_for((POINTS,), {})
