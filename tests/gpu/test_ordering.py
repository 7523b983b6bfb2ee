"""Orders by several keys, and elements that are there once."""

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit

RNG = np.random.default_rng(0)
KEYS = [np.round(RNG.normal(size=40)), RNG.integers(0, 3, 40), RNG.normal(size=40) > 0]
WITH_NAN = np.where(np.arange(12) % 3 == 0, np.nan, np.arange(12) // 4 + 0.5)


def by_keys(a, b, c):
    return np.lexsort((a, b, c)), np.lexsort([c, a]), np.lexsort((b,)), a[np.lexsort((a, b))]


def once(x):
    values, first, places, count = np.unique(x, True, True, True)
    return values, first, places, count, np.unique(x * 2)


def squares(x):
    return np.sum(np.unique(x) ** 2)


def among(x, y):
    return np.isin(x, y), np.isin(x, y[:3], invert=True), np.isin(x.reshape(8, 5), y)


def sets(x, y):
    return np.intersect1d(x, y), np.setdiff1d(x, y), np.isin(x, x[x > 100]), np.isin(x, x[x < 0])


def partitioned(x):
    first = x[np.argpartition(x, (2, 5))[:6]]
    return np.partition(x, 3)[3], np.argpartition(x, 3)[3], np.sort(first)


def between(x, edges):
    return np.histogram(x, edges)[0], np.histogram(x, [-1, 0, 0, 2])[0]


DISTINCT = RNG.normal(size=40)
EDGES = np.array([-2.0, -0.5, 0.0, 0.1, 1.0, 2.0])


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (by_keys, KEYS),
        (by_keys, [KEYS[0].astype("f4"), WITH_NAN.repeat(4)[:40], KEYS[2]]),
        (among, [KEYS[0], KEYS[1]]),
        (among, [KEYS[0], WITH_NAN]),
        (among, [KEYS[1], KEYS[2]]),
        (sets, [KEYS[0], KEYS[1]]),
        (partitioned, [DISTINCT]),
        (grad(lambda x: np.sum(np.partition(x, 5)[:5] ** 2)), [DISTINCT]),
        (between, [KEYS[0], EDGES]),
        (between, [DISTINCT.astype("f4").reshape(8, 5), EDGES]),
        (between, [WITH_NAN, np.arange(4)]),
        (once, [KEYS[0]]),
        (once, [KEYS[1]]),
        (once, [WITH_NAN]),
        (lambda x: np.unique(x, equal_nan=False), [WITH_NAN]),
        (grad(squares), [KEYS[0] + 0.5]),
    ],
)
def test_as_numpy_orders(function, args, gpu):
    found = tapeless.device_get(jit(function, backend="gpu")(*args))
    expected = function(*args)
    for x, y in zip(tapeless.tree.leaves(found), tapeless.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(x, y)
        assert x.dtype == y.dtype


ROWS = RNG.integers(0, 3, (30, 2))
CUBE = RNG.integers(0, 2, (3, 2, 4))
FLOATS = np.where(RNG.normal(size=(30, 2)) > 1, np.nan, ROWS)
FLOATS[4], FLOATS[9] = (1, -0.0), (1, 0.0)
WEIGHTS = RNG.normal(size=300)
TENTHS = np.arange(300) / 10


def all_parts(x, axis):
    return np.unique(x, True, True, True, axis=axis)


@pytest.mark.parametrize(
    ("x", "axis"),
    [
        *[(ROWS, 0), (ROWS, 1), (ROWS, -1), (ROWS, None), (ROWS[:1], 0)],
        *[(CUBE, 0), (CUBE, 1), (CUBE, 2), (CUBE, None), (WITH_NAN, 0)],
        *[(FLOATS, 0), (FLOATS, 1), (ROWS.astype("f2"), 0), (FLOATS.astype("f4"), None)],
        *[(ROWS + 1j * ROWS[::-1], 0), (ROWS > 0, 0), ((ROWS + 254).astype("u1"), 0)],
        (np.zeros((0, 3)), 0),
    ],
)
def test_parts_that_are_there_once(x, axis, gpu):
    run = jit(all_parts, backend="gpu", static_argnums=1)
    pairs = zip(tapeless.device_get(run(x, axis)), all_parts(x, axis), strict=True)
    for a, b in pairs:
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


def test_slopes_of_rows_that_are_there_once(gpu):
    def loss(x):
        return np.sum(np.unique(x, axis=0) ** 3)

    x = ROWS.astype(float)
    np.testing.assert_array_equal(tapeless.device_get(grad(loss)(x)), grad(loss)(x))
    on_gpu = tapeless.device_get(jit(grad(loss), backend="gpu")(x))
    np.testing.assert_array_equal(on_gpu, grad(loss)(x))


@pytest.mark.parametrize(
    ("x", "options"),
    [
        (WEIGHTS.astype("f4"), {"bins": 10}),
        (WEIGHTS.astype("f4"), {"bins": 16, "range": (0.1, 0.7)}),
        (WEIGHTS.astype("f4"), {"bins": 7, "density": True}),
        (TENTHS.astype("f4"), {"bins": 30}),
        ((3 * TENTHS + 0.1).astype("f4"), {"bins": 299}),
        (np.full(7, 3, "f4"), {"bins": 5}),
        (np.zeros(0, "f4"), {"bins": 5}),
        (ROWS, {"bins": 4}),
        (ROWS, {"bins": 4, "range": (0, 2)}),
        (ROWS.astype("u1") + 250, {"bins": 3}),
    ],
)
def test_bins_of_one_width(x, options, gpu):
    run = jit(lambda x: np.histogram(x, **options), backend="gpu")
    (counts, edges), (expected, bounds) = tapeless.device_get(run(x)), np.histogram(x, **options)
    np.testing.assert_allclose(counts, expected, rtol=1e-6)
    np.testing.assert_allclose(edges, bounds, rtol=1e-6, atol=1e-7)
    assert (counts.dtype, edges.dtype) == (expected.dtype, bounds.dtype)


def test_bins_of_half_floats_are_refused(gpu):
    with pytest.raises(tapeless.errors.UnsupportedError, match=r"np.histogram has no form"):
        jit(lambda x: np.histogram(x, 5)[0], backend="gpu")(WEIGHTS.astype("f2"))


def test_edges_that_do_not_increase(gpu):
    with pytest.raises(ValueError, match="must increase monotonically"):
        jit(lambda x, e: np.histogram(x, e)[0], backend="gpu")(DISTINCT, EDGES[::-1].copy())
