"""Splines as sums of bumps, and polynomials through points: values are SciPy's, and derivatives."""

import numpy as np
import pytest

import tapeless
from tapeless.scipy import interpolate as ours

interpolate = pytest.importorskip("scipy.interpolate")

RNG = np.random.default_rng(6)
X, Y = np.sort(RNG.uniform(0, 5, 9)), RNG.standard_normal(9)
TABLE, PLACES = RNG.standard_normal((2, 9, 3)), RNG.uniform(-0.5, 5.5, (2, 4))
KNOTS = np.array([0, 0, 0, 0, 1, 2, 2, 3, 5, 5, 5, 5.0])
HEIGHTS = RNG.standard_normal((8, 2))
SPLINE = interpolate.BSpline(KNOTS, HEIGHTS, 3)


def agree(function):
    made, expected = function(ours), function(interpolate)
    np.testing.assert_allclose(made, expected, rtol=1e-7, atol=1e-7 * np.nanmax(np.abs(expected)))


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_splines_through_points(k):
    for nu in range(k + 2):
        agree(lambda m, nu=nu: m.make_interp_spline(X, Y, k)(PLACES, nu))
        agree(lambda m, nu=nu: m.make_interp_spline(X, TABLE, k, axis=1)(PLACES, nu))
    agree(lambda m: m.make_interp_spline(X, Y, k).derivative(k)(PLACES))
    agree(lambda m: m.make_interp_spline(X, Y, k)(PLACES, extrapolate=False))
    agree(lambda m: m.splev(PLACES, m.splrep(X, Y, k=k), 1))


def test_ends():
    for ends in ("natural", "clamped"):
        agree(lambda m, e=ends: m.make_interp_spline(X, TABLE, bc_type=e, axis=1)(PLACES))
    for ext in (0, 1, 3):
        agree(lambda m, ext=ext: m.splev(PLACES, m.splrep(X, Y), ext=ext))


def test_given_knots():
    for nu in range(4):
        agree(lambda m, nu=nu: m.BSpline(KNOTS, HEIGHTS, 3)(PLACES, nu))
        agree(lambda m, nu=nu: m.BSpline(KNOTS, HEIGHTS.T, 3, axis=1)(2.0, nu))


def test_polynomials():
    agree(lambda m: m.BarycentricInterpolator(X, TABLE, axis=1)(PLACES))
    agree(lambda m: m.KroghInterpolator(X, Y)(X))


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (lambda x: SPLINE(x) + SPLINE(x, 1), np.array([0.3, 1.7, 4.1])),
        (lambda c: interpolate.BSpline(KNOTS, c, 3)(X), Y[:8]),
        (lambda t: interpolate.BSpline(t, HEIGHTS, 3)(X), np.sort(RNG.uniform(0, 5, 12))),
        (lambda y: interpolate.make_interp_spline(X, y)(PLACES), Y),
        (lambda x: interpolate.make_interp_spline(x, Y, bc_type="natural")(PLACES[0]), X),
        (lambda y: interpolate.splev(X[1:5] + 0.1, interpolate.splrep(X, y)), Y),
        (lambda x: interpolate.BarycentricInterpolator(X[:4], Y[:4])(x), X[1:3]),
        (lambda x: interpolate.KroghInterpolator(x, Y[:4])(np.array([0.3, 2.0])), X[:4]),
    ],
)
def test_derivatives(function, x):
    expected = function(x)
    made = tapeless.jit(function)(x)
    np.testing.assert_allclose(made, expected, rtol=1e-9, atol=1e-9)
    both = tapeless.vmap(function)(np.stack([x, 1.01 * x]))
    np.testing.assert_allclose(both, [expected, function(1.01 * x)], rtol=1e-9, atol=1e-9)
    tapeless.check_grads(function, (x,), order=2)


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda y: interpolate.make_interp_spline(X, y, bc_type="periodic"), "bc_type must be"),
        (lambda y: interpolate.make_interp_spline(X[:3], y[:3]), "at least 4 points"),
        (lambda y: interpolate.splrep(X, y, s=1.0), "only k and s=0"),
        (lambda y: interpolate.splev(9.0, interpolate.splrep(X, y), ext=2), "ext must be"),
        (lambda y: interpolate.BSpline(KNOTS, y, 3, "periodic"), "is not supported"),
        (lambda y: interpolate.BarycentricInterpolator(y), "needs yi"),
        (lambda y: interpolate.make_smoothing_spline(X, y)(1.0), "no rule"),
    ],
)
def test_what_is_refused(function, match):
    with pytest.raises((ValueError, tapeless.TapelessError), match=match):
        tapeless.jit(function)(Y)


@pytest.mark.parametrize("ext", [0, 1, 3])
def test_splines_of_fitpack_that_are_made_outside(ext):
    fitpack = pytest.importorskip("scipy.interpolate")
    knots = np.linspace(0.0, 2.0, 12)
    heights = np.sin(3 * knots)
    x = np.array([-0.3, 0.1, 1.2, 1.9, 2.4])
    for made in (
        fitpack.UnivariateSpline(knots, heights, s=0.01, ext=ext),
        fitpack.InterpolatedUnivariateSpline(knots, heights, k=2, ext=ext),
    ):
        for nu, here in ((0, None), (1, None), (0, "const")):
            compiled = tapeless.jit(lambda x, m=made, nu=nu, here=here: m(x, nu, here))
            np.testing.assert_allclose(compiled(x), made(x, nu, here), atol=1e-12)
        slope = tapeless.grad(lambda x, m=made: np.sum(m(x)))(x)
        np.testing.assert_allclose(slope[1:4], made(x, 1)[1:4], atol=1e-10)
        with pytest.raises(ValueError, match="ext must be 0, 1 or 3"):
            tapeless.jit(lambda x, m=made: m(x, ext=2))(x)
