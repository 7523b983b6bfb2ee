"""Searches of many values in a sorted array are made by kernels, and give NumPy's places."""

import numpy as np
import pytest

from tapeless import grad, jit

RNG = np.random.default_rng(0)
EVEN = np.linspace(-2.0, 2.0, 9)
NEARLY_EVEN = np.sort(EVEN + RNG.uniform(-0.1, 0.1, size=9))
UNEVEN = np.sort(RNG.normal(size=23) ** 3)
EQUAL = np.repeat([-1.0, 0.0, 0.5, 2.0], [1, 4, 2, 3])
WITH_NAN = np.array([-np.inf, -1.0, 0.0, 3.0, np.inf, np.nan, np.nan])
TABLES = [EVEN, NEARLY_EVEN, UNEVEN, EQUAL, WITH_NAN, EVEN[:1], EVEN[:2], EVEN[:3], EVEN[:0]]


def keys(table):
    special = [*table, *np.nextafter(table, np.inf), -np.inf, np.inf, np.nan, 0.0, -0.0, 1e300]
    return np.concatenate([RNG.normal(size=200) * 2, special])


def before(x, v):
    return np.searchsorted(x, v)


def after(x, v):
    return np.searchsorted(x, v, side="right")


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("f", [before, after])
def test_places_are_those_of_numpy(f, table):
    compiled = jit(f)
    for v in (keys(table), np.sort(keys(table)), np.sort(keys(table))[::-1], keys(table)[::3]):
        found = compiled(table, v)
        assert found.dtype == np.intp
        np.testing.assert_array_equal(found, f(table, v))
    assert f"search_{f.__name__}_in_place(" in compiled.source(table, v)
    assert "np.searchsorted" not in compiled.source(table, v)


@pytest.mark.parametrize("f", [before, after])
@pytest.mark.parametrize(
    ("of_table", "of_keys"),
    [("f4", "f4"), ("f4", "f8"), ("i8", "i8"), ("i4", "f8"), ("u1", "i2"), ("u8", "u8")],
)
def test_of_other_dtypes(f, of_table, of_keys):
    x = np.sort(np.array([3, 7, 7, 10, 40, 90, 200])).astype(of_table)
    for table in (x, np.arange(7).astype(of_table) * 20):
        v = RNG.integers(0, 120, 100).astype(of_keys)
        np.testing.assert_array_equal(jit(f)(table, v), f(table, v))


def test_large_integers_are_compared_as_such():
    x = 2**62 + np.array([0, 1, 2, 3, 5])
    v = 2**62 + RNG.integers(-2, 8, 50)
    for f in (before, after):
        np.testing.assert_array_equal(jit(f)(x, v), f(x, v))


def test_parts_of_arrays():
    def f(x, v):
        return np.searchsorted(x[1:], v[::2, 1]) + np.searchsorted(x[:-2], v[:, 0] * 2)[::2]

    x, v = np.sort(RNG.normal(size=9)), RNG.normal(size=(40, 2))
    np.testing.assert_array_equal(jit(f)(x, v), f(x, v))


def test_few_values_are_left_to_numpy():
    compiled = jit(before)
    x = np.sort(RNG.normal(size=1000))
    np.testing.assert_array_equal(compiled(x, x[:4]), before(x, x[:4]))
    assert "np.searchsorted(" in compiled.source(x, x[:4])
    v = RNG.normal(size=1500)
    np.testing.assert_array_equal(compiled(x, v), before(x, v))
    assert "search_before_in_place(" in compiled.source(x, v)


def interpolated(x, xp, fp):
    return np.interp(x, xp, fp) * 2


def bent(x, xp, fp):
    return np.sum(np.sin(np.interp(x, xp, fp)))


@pytest.mark.parametrize("table", [EVEN, UNEVEN, EQUAL])
def test_interpolation(table):
    fp = RNG.normal(size=len(table))
    compiled = jit(interpolated)
    for v in (keys(table), np.sort(keys(table))):
        np.testing.assert_allclose(
            compiled(v, table, fp), interpolated(v, table, fp), rtol=1e-13, atol=1e-13
        )
    assert "np.interp(" not in compiled.source(v, table, fp)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_derivatives_of_interpolation(k):
    args = [RNG.uniform(-3, 3, size=60), UNEVEN, RNG.normal(size=len(UNEVEN))]
    slope = jit(grad(bent, argnums=k))
    w = RNG.normal(size=args[k].shape) * 1e-3
    up, down = ([*args[:k], args[k] + e * w, *args[k + 1 :]] for e in (1e-4, -1e-4))
    by_differences = (bent(*up) - bent(*down)) / 2e-4
    np.testing.assert_allclose(np.sum(slope(*args) * w), by_differences, rtol=1e-5)
    assert "np.searchsorted(" not in slope.source(*args)


def weights_by_edges(x, w, edges):
    return np.histogram(x, bins=edges, weights=w)[0]


def plane(x, y):
    return np.histogram2d(x, y, bins=(4, 5), range=((-2.0, 2.0), (-1.0, 2.0)))[0]


def test_histograms():
    x, y, w = RNG.normal(size=(3, 500))
    compiled = jit(weights_by_edges)
    np.testing.assert_allclose(compiled(x, w, EVEN), weights_by_edges(x, w, EVEN), rtol=1e-12)
    assert "search_after_in_place(" in compiled.source()
    np.testing.assert_array_equal(jit(plane)(x, y), plane(x, y))


def bins_of(x, edges):
    return np.digitize(x, edges)


def bins_with_right_edges(x, edges):
    return np.digitize(x, edges, right=True)


@pytest.mark.parametrize("table", [EVEN, UNEVEN, EQUAL, WITH_NAN, EVEN[:1], np.ones(3)])
@pytest.mark.parametrize("f", [bins_of, bins_with_right_edges])
def test_bins(f, table):
    compiled = jit(f)
    for edges in (table, table[::-1]):
        x = keys(table)
        np.testing.assert_array_equal(compiled(x, edges), f(x, edges))
        square = x[: len(x) // 2 * 2].reshape(2, -1)
        np.testing.assert_array_equal(jit(f)(square, edges), f(square, edges))
        np.testing.assert_array_equal(jit(f)(square.T, edges), f(square.T, edges))
    assert "np.digitize(" not in compiled.source(x, table)
    with pytest.raises(ValueError, match="monotonically increasing or decreasing"):
        compiled(x, np.array([0.0, 2.0, 1.0]))
