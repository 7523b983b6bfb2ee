"""Functions of SciPy, in functions that are staged, for which plain code of ours stands."""

import numpy as np
import pytest

import tapeless
from tapeless.scipy import integrate as volumes
from tapeless.scipy import interpolate as ours
from tests.corpus.differences import gradient

ndimage = pytest.importorskip("scipy.ndimage", reason="SciPy is optional")
integrate = pytest.importorskip("scipy.integrate")
interpolate = pytest.importorskip("scipy.interpolate")
signal = pytest.importorskip("scipy.signal")
distance = pytest.importorskip("scipy.spatial.distance")

RNG = np.random.default_rng(5)
A, B, IMAGE = (RNG.standard_normal(shape) for shape in [(4, 3), (2, 3), (4, 5)])
KNOTS, HEIGHTS = np.array([0.0, 0.5, 1.7, 2.2, 3.1, 4.0]), RNG.standard_normal(6)
PLACES, TABLE = np.array([0.1, 0.55, 1.0, 2.5, 3.9]), RNG.standard_normal((6, 2))
NUMBERS = np.array([1.1, 0.3, 2.0])
TOP, BOTTOM, SECTIONS = (*signal.butter(3, 0.3), signal.butter(4, 0.3, output="sos"))
CURVE, GRID = (
    interpolate.Akima1DInterpolator(KNOTS, HEIGHTS),
    interpolate.RegularGridInterpolator((KNOTS, np.arange(2.0)), TABLE),
)
METRICS = ["euclidean", "sqeuclidean", "cityblock", "chebyshev", "correlation", "cosine"]
METRICS += ["canberra", "braycurtis", "seuclidean", "mahalanobis"]


def between(x):
    d = distance
    u, v = x[0], x[1]
    made = [d.euclidean(u, v), d.cosine(u, v), d.mahalanobis(u, v, np.eye(3)), d.cityblock(u, v)]
    return np.array(
        [*made, d.minkowski(u, x[2], 1), d.canberra(u, v), d.chebyshev(u, v, [1, 0, 1])]
    )


def spline(y, **options):
    return interpolate.CubicSpline(KNOTS, y, **options)(PLACES)


def line(y, **options):
    return interpolate.interp1d(KNOTS, y, **options)


def filtered_from(x):
    return np.concatenate(signal.lfilter(TOP, BOTTOM, x, zi=x[:, :3]), axis=1)


def derivatives(x):
    curve = interpolate.CubicSpline(KNOTS, HEIGHTS)
    return curve(x, 1) + curve.derivative(2)(x) + curve(x + 3) + curve.integrate(x[0], x[1])


SMOOTH = [
    *((lambda x, m=m: distance.cdist(x, B, m), A) for m in METRICS),
    (lambda x: distance.cdist(x, B, "minkowski", p=3.5), A),
    (lambda x: distance.squareform(distance.pdist(x)), A),
    (between, A),
    (lambda y: integrate.simpson(y), IMAGE),
    (lambda y: integrate.simpson(y, dx=0.3, axis=0), IMAGE),
    (lambda y: integrate.simpson(y[:2], x=[0.0, 0.4], axis=0), IMAGE),
    (lambda x: integrate.simpson(HEIGHTS, x=x), KNOTS),
    (lambda x: integrate.simpson(HEIGHTS[:5], x=x), PLACES),
    (lambda y: integrate.romb(y, dx=0.3), IMAGE),
    (lambda y: integrate.romb(y[:3], axis=0), IMAGE),
    (lambda p: integrate.fixed_quad(lambda x: np.sin(p[0] * x), p[1], p[2], n=7)[0], NUMBERS),
    (lambda p: integrate.quad(lambda x: np.exp(-p[0] * x) * np.sin(3 * x), p[1], p[2])[0], NUMBERS),
    *(
        (lambda y, e=e: spline(y, bc_type=e), HEIGHTS)
        for e in ("not-a-knot", "natural", "clamped", ((1, 0.3), (2, -0.2)))
    ),
    (lambda x: interpolate.CubicSpline(x, HEIGHTS)(PLACES), KNOTS),
    (lambda y: interpolate.CubicSpline(KNOTS, y.T, axis=1)(PLACES.reshape(5, 1)), TABLE),
    (derivatives, PLACES),
    (lambda y: interpolate.PchipInterpolator(KNOTS, y)(PLACES), HEIGHTS),
    (lambda x: interpolate.PchipInterpolator(x, HEIGHTS)(PLACES), KNOTS),
    (lambda x: CURVE(x) + CURVE(x, 1), PLACES),
    (lambda x: GRID(np.stack([x, x / 5], -1)), PLACES),
    (lambda v: interpolate.RegularGridInterpolator((KNOTS, [0, 1]), v)((PLACES, 0.3)), TABLE),
    *((lambda y, k=k: line(y, kind=k)(PLACES), HEIGHTS) for k in ("linear", "nearest", "cubic")),
    *((lambda y, k=k: line(y.T, kind=k)(PLACES), TABLE) for k in ("previous", "next")),
    (lambda x: line(TABLE, axis=0, bounds_error=False, fill_value=0.5)(x + 0.65), PLACES),
    (lambda y: line(y[::-1], fill_value="extrapolate")(2 * PLACES - 1), HEIGHTS),
    (lambda y: line(y, bounds_error=False, fill_value=(1.0, 2.0))(2 * PLACES - 1), HEIGHTS),
    (lambda x: signal.lfilter(TOP, BOTTOM, x) + signal.lfilter([3.0], [2.0], x, axis=0), IMAGE),
    (lambda a: signal.lfilter(TOP, a, IMAGE[0]), BOTTOM),
    (filtered_from, IMAGE),
    (lambda x: signal.sosfilt(SECTIONS, x), IMAGE),
    (lambda x: signal.welch(x, nperseg=4)[1], IMAGE),
    (lambda x: ndimage.median_filter(x, 3), IMAGE),
    (lambda x: ndimage.median_filter(x, (2, 3), mode="constant", cval=0.4), IMAGE),
    (lambda x: ndimage.maximum_filter(x, (2, 3), origin=(0, 1), mode="nearest"), IMAGE),
    (lambda x: ndimage.minimum_filter(x, 3, mode=["mirror", "wrap"]), IMAGE),
    (lambda x: ndimage.rank_filter(x, -2, 3) + ndimage.percentile_filter(x, 30, size=3), IMAGE),
]


@pytest.mark.parametrize(("function", "x"), SMOOTH)
def test_values_and_derivatives(function, x):
    expected = np.asarray(function(x))
    weights = np.cos(np.arange(expected.size)).reshape(expected.shape)
    step = np.sin(np.arange(x.size)).reshape(x.shape)

    def total(x):
        return np.sum(function(x) * weights)

    np.testing.assert_allclose(tapeless.jvp(function, (x,), (x,))[0], expected, atol=1e-12)
    slope = tapeless.grad(total)
    differences = gradient(lambda v: total(v.reshape(x.shape)), x.ravel(), 1e-6)
    np.testing.assert_allclose(slope(x).ravel(), differences, rtol=1e-5, atol=1e-7)
    bend = (slope(x + 1e-5 * step) - slope(x - 1e-5 * step)) / 2e-5
    made = tapeless.jvp(slope, (x,), (step,))[1]
    np.testing.assert_allclose(made, bend, rtol=1e-4, atol=1e-4 * (1 + np.max(np.abs(bend))))
    both = tapeless.vmap(function)(np.stack([x, 1.01 * x]))
    np.testing.assert_allclose(both, [expected, function(1.01 * x)], atol=1e-12)


@pytest.mark.parametrize("k", [0, 12, 16, 19, 25, 30, -9, -7, -1])
def test_compiled(k):
    function, x = SMOOTH[k]
    np.testing.assert_allclose(tapeless.jit(function)(x), function(x), atol=1e-12)


def area(p):
    def inside(x):
        return integrate.quad(lambda y: np.exp(-p[0] * x * y), p[1], x)[0]

    return integrate.quad(inside, 0.0, p[2])[0]


def weighed(p):
    low, high = lambda x: p[1] * x, lambda x: 1 + x
    return integrate.dblquad(lambda y, x, c: np.sin(c * x * y), 0, p[2], low, high, args=(p[0],))[0]


def bell(p):
    exponent = lambda x, y: -p[0] * (x * x + x * y + y * y)  # noqa: E731 (as in the books)
    ends = [lambda y: (-np.inf, np.inf), (p[1], np.inf)]
    return integrate.nquad(lambda x, y: np.exp(exponent(x, y)), ends, opts={"limit": 60})[0]


@pytest.mark.parametrize("function", [area, weighed, bell])
def test_integrals_of_integrals(function):
    value, slope = tapeless.value_and_grad(function)(NUMBERS)
    assert value == pytest.approx(function(NUMBERS), rel=1e-8)
    np.testing.assert_allclose(slope, gradient(function, NUMBERS, 1e-4), rtol=1e-5, atol=1e-7)


def test_integrals_of_integrals_compiled_and_batched():
    expected = [area(NUMBERS), area(1.1 * NUMBERS)]
    assert tapeless.jit(area)(NUMBERS) == pytest.approx(expected[0], rel=1e-12)
    both = tapeless.vmap(area)(np.stack([NUMBERS, 1.1 * NUMBERS]))
    np.testing.assert_allclose(both, expected, rtol=1e-10)


def test_a_volume():
    ends = 0.0, 1.0, 0.0, lambda x: 1.3 - x, 0.0, lambda x, y: 1 + x * y
    found, error = volumes.tplquad(lambda z, y, x, a: a * x * y * z**2, *ends, args=(0.7,))
    expected = integrate.tplquad(lambda z, y, x: 0.7 * x * y * z**2, *ends)[0]
    assert found == pytest.approx(expected, rel=1e-12)
    assert error < 1e-8


@pytest.mark.parametrize("ends", [(1.0, -np.inf), (np.inf, 1.0), (np.inf, -np.inf), (-np.inf, 0.3)])
def test_integrals_to_an_infinite_end_from_either_side(ends):
    def whole(p, a, b):
        return integrate.quad(lambda x: (x + 1) * np.exp(-p * x**2), a, b)[0]

    value, slope = tapeless.value_and_grad(whole)(1.1, *ends)
    assert value == pytest.approx(whole(1.1, *ends), rel=1e-9)
    assert slope == pytest.approx((whole(1.101, *ends) - whole(1.099, *ends)) / 2e-3, rel=1e-5)


def test_integrals_without_end():
    def whole(p):
        bell = integrate.quad(lambda x: np.exp(-p * x**2), -np.inf, np.inf)[0]
        return bell + integrate.quad(lambda x, p: np.exp(-p * x), 0.3, np.inf, args=(p,))[0]

    value, slope = tapeless.value_and_grad(whole)(1.1)
    assert value == pytest.approx(whole(1.1), rel=1e-9)
    tail = np.exp(-0.33)
    assert slope == pytest.approx(-0.5 * np.pi**0.5 * 1.1**-1.5 - tail * (0.3 / 1.1 + 1 / 1.21))


@pytest.mark.parametrize(
    ("function", "error", "match"),
    [
        (lambda x: distance.cdist(A + x, B, "dice"), ValueError, "metric must be one of"),
        (lambda x: distance.squareform(np.ones(4) * x), ValueError, "4 distances"),
        (lambda x: integrate.quad(lambda t: t * x, 0, 1, full_output=1), ValueError, "full_output"),
        (lambda x: integrate.romb(A[:, 0] * x), ValueError, "2\\*\\*k"),
        (lambda x: integrate.quad_vec(lambda t: t * x, 0, 1), tapeless.TapelessError, "no rule"),
        (lambda x: spline(HEIGHTS * x, bc_type="periodic"), ValueError, "bc_type must be"),
        (lambda x: line(HEIGHTS * x)(9.0), ValueError, "outside of the interpolation range"),
        (lambda x: line(HEIGHTS * x, kind="zero-g"), ValueError, "kind must be one of"),
        (lambda x: GRID(np.array([[x, 9.0]])), ValueError, "out of bounds in dimension 1"),
        (lambda x: interpolate.CubicSpline(KNOTS[::-1] * x, HEIGHTS), ValueError, "increasing"),
        (lambda x: signal.lfilter(B, [1.0], A * x), ValueError, "must be vectors"),
        (lambda x: ndimage.median_filter(A * x), RuntimeError, "no footprint"),
        (lambda x: ndimage.median_filter(A * x, footprint=B), tapeless.TapelessError, "footprint="),
    ],
)
def test_what_is_refused(function, error, match):
    with pytest.raises(error, match=match):
        tapeless.jit(function)(1.5)


def test_libraries_and_scipy_have_the_same_errors():
    with pytest.raises(ValueError, match="outside of the interpolation range"):
        ours.interp1d(KNOTS, HEIGHTS)(9.0)
