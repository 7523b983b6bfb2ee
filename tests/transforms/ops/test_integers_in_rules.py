"""Rules take integers of NumPy as floats, or as signed ones, which do not wrap around."""

import math
import statistics

import numpy as np
import pytest
import scipy.special as sp

from tapeless import grad, jit

HALF = np.array([2**31 - 1] * 2, np.int32)
SHARES = np.array([50000, 60000], np.int32)


def slope(f, x, *rest):
    return (f(x + 1e-6, *rest) - f(x - 1e-6, *rest)) / 2e-6


DERIVATIVES = [
    (lambda x, p: np.polyval(p, x), 2.0, np.array([True, True, False])),
    (lambda x, p: np.polyval(p, x), 2.0, np.array([100] * 3, np.int8)),
    (lambda x, p: np.polyval(p, x), 2.0, np.array([2**30, 2**30, 1], np.int32)),
    (lambda x, i: np.interp(x, [0.0, 1.0, 2.0], i), 0.5, np.array([100, -100, 50], np.int8)),
    (lambda x, i: np.interp(x, [0.0, 1.0, 2.0], i), 0.5, np.array([100, 0, 50], np.uint8)),
    (lambda x, i: np.interp(x, i, [0.0, 1.0, 2.0]), 0.5, np.array([-100, 100, 127], np.int8)),
    (lambda x, i: np.interp(x, [0.0, 1.0, 2.0], i), 0.5, np.array([True, False, True])),
    (lambda x, i: np.interp(x, i, [3.0]), 0.5, np.array([1.0])),
    (lambda x, n: sp.jv(n, x), 0.7, np.uint32(0)),
    (lambda x, n: sp.iv(n, x), 0.7, np.uint32(0)),
    (lambda x, n: sp.kv(n, x), 0.7, np.uint32(0)),
    (lambda x, n: sp.yv(n, x), 0.7, np.uint32(0)),
    (lambda x, n: sp.eval_legendre(n, x), 0.7, np.uint32(0)),
    (lambda x, n: sp.eval_hermite(n, x), 0.7, np.uint32(0)),
    (lambda x, p: x**p, 1.01, np.int8(-128)),
]


@pytest.mark.parametrize(("f", "x", "rest"), DERIVATIVES)
def test_derivatives(f, x, rest):
    want = slope(f, x, rest)
    for g in (grad(f), jit(grad(f))):
        np.testing.assert_allclose(g(x, rest), want, rtol=1e-5, atol=1e-8)


VALUES = [
    (lambda a: np.average(a, weights=a), SHARES),
    (lambda a: np.linspace(a[0], a[1], 3), np.array([5, 3], np.uint32)),
    (lambda a: np.histogram(a, 2), np.array([-100, 3, 100], np.int8)),
    (lambda a: np.histogram2d(a, a, 2)[0], np.array([100, 3, -100, 127], np.int8)),
    (lambda a: np.gradient(np.arange(3.0), a), np.array([-100, 0, 100], np.int8)),
    (lambda a: sum(a, 0.0), HALF),
    (lambda a: math.fsum(a), HALF),
    (lambda a: statistics.fmean(a), HALF),
    (lambda a: math.dist(a[:2], a[2:]), np.array([3, 200, 100, 5], np.uint8)),
    (lambda a: np.poly(a), np.array([100, 20], np.int8)),
    (lambda a: np.add.reduceat(a, [0, 2]), np.array([200, 3, 100, 255], np.uint8)),
    (lambda a: [math.sqrt(a[0]), math.sin(a[0])], np.array([200, 3], np.uint8)),
    (lambda a: math.hypot(a[0], a[1]), np.array([200, 3], np.uint8)),
    (lambda a: [math.exp(a[0]), math.degrees(a[1])], np.array([True, False])),
    (lambda a: np.hypot.reduce(a), np.array([-3.0])),
    (lambda a: np.gcd.reduce(a), np.array([-3])),
    (lambda a: np.histogram(a, 2), np.array([2.0, 2.0])),
    (lambda a: np.modf(a), np.array([3, -4])),
    (lambda a: np.quantile(a, 0.5), np.array([1.0, np.inf, -np.inf])),
    (lambda a: [sp.comb(a[0], 2), sp.comb(a[1], 2), sp.perm(a[1], 2)], np.array([0.5, -3.0])),
    (lambda a: sp.zeta(a), np.array([-1.0, 0.5])),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("f", "a"), VALUES)
def test_values(f, a):
    want, got = f(a), jit(f)(a)
    pairs = zip(got, want, strict=True) if isinstance(want, (tuple, list)) else [(got, want)]
    for x, y in pairs:
        np.testing.assert_allclose(x, y, rtol=1e-12)
        assert np.asarray(x).dtype == np.asarray(y).dtype


REFUSED = [
    (lambda a: np.average(a, weights=a - a), ZeroDivisionError),
    (lambda a: np.maximum.accumulate(a[0]), TypeError),
    (lambda a: np.cov(np.ones((2, 2, 2)) * a[0]), ValueError),
]


@pytest.mark.parametrize(("f", "error"), REFUSED)
def test_refused(f, error):
    for g in (f, jit(f)):
        with pytest.raises(error):
            g(np.array([1.0, 2.0]))
