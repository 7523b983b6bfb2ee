"""Histograms of float64 numbers in one loop: NumPy's counts, each of them, and its errors."""

import numpy as np
import pytest

from tapeless import jit

RANDOM = np.random.default_rng(0)
VALUES = {
    "normal": RANDOM.normal(size=500),
    "edges": np.linspace(0.0, 1.0, 41),
    "tenths": np.round(RANDOM.random(300), 1),
    "equal": np.full(7, 0.3),
    "one": np.array([2.5]),
    "matrix": RANDOM.normal(size=(20, 15)),
    "large": RANDOM.normal(size=99) * 1e300,
    "whole": RANDOM.integers(-5, 9, 60),
    "single": RANDOM.normal(size=80).astype(np.float32),
}


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("bins", [1, 10, 33])
def test_counts(values, bins):
    def counts(x):
        return np.histogram(x, bins)[0]

    got, x = jit(counts)(VALUES[values]), VALUES[values]
    np.testing.assert_array_equal(got, counts(x))
    assert got.dtype == counts(x).dtype


@pytest.mark.parametrize("values", ["normal", "tenths", "whole"])
def test_given_range(values):
    def counts(x, low, high):
        return np.histogram(x, 9, (low, high))[0]

    x = VALUES[values]
    for ends in [(-0.5, 0.5), (0.1, 0.7), (-3.0, 3.0), (0.3, 0.3), (9.0, 12.0)]:
        np.testing.assert_array_equal(jit(counts)(x, *ends), counts(x, *ends))


def test_elements_that_are_no_numbers_are_in_no_bin():
    def counts(x):
        return np.histogram(x, 4, (0.0, 1.0))[0]

    x = np.array([0.1, np.nan, 0.9, np.inf, -np.inf])
    np.testing.assert_array_equal(jit(counts)(x), counts(x))


def test_in_a_loop():
    def counts(x):
        total = np.zeros(6)
        for i in range(len(x)):
            total += np.histogram(x[i], 6)[0]
        return total

    x = VALUES["matrix"]
    np.testing.assert_array_equal(jit(counts)(x), counts(x))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_errors(bad):
    def counts(x):
        return np.histogram(x, 4)[0]

    for f in (counts, jit(counts)):
        with pytest.raises(ValueError, match="finite"):
            f(np.array([0.0, bad, 1.0]))


def test_range_in_the_wrong_order():
    def counts(x, low):
        return np.histogram(x, 4, (low, 0.0))[0]

    for f in (counts, jit(counts)):
        with pytest.raises(ValueError, match="max must be larger than min"):
            f(VALUES["normal"], 1.0)


def test_the_loop_is_a_kernel():
    def counts(x):
        return np.histogram(x, 8)[0] * 2

    assert "np.histogram" not in jit(counts).source(VALUES["normal"])


def weighted_with_edges(x, w):
    return np.histogram(x, bins=50, range=(-4.0, 4.0), weights=w)


def with_edges(x, w):
    return np.histogram(x, bins=50, range=(-4, 4))


def of_all_with_edges(x, w):
    return np.histogram(x, bins=50, weights=w)


@pytest.mark.parametrize("f", [weighted_with_edges, with_edges, of_all_with_edges])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i8", "u4"])
@pytest.mark.parametrize("of_weights", ["f4", "f8"])
def test_edges_have_the_dtype_of_the_elements(f, dtype, of_weights):
    """Elements at the edges of bins of single precision are in other ones of double precision."""
    edges = np.linspace(-4, 4, 51, dtype="f4")
    if dtype[0] == "f":
        edges = edges.astype(dtype)
        up, down = (np.nextafter(edges, edges.dtype.type(end)) for end in (9, -9))
        x = np.concatenate([edges, up, down])
    else:
        x = np.arange(0 if dtype[0] == "u" else -4, 5).astype(dtype)
    w = np.ones(len(x), of_weights)
    for compiled in (jit(f), jit(f).plain):
        for found, wanted in zip(compiled(x, w), f(x, w), strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)
