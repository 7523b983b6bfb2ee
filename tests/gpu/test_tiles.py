"""Tiles of arrays of odd shapes and of all dtypes have NumPy's values."""

import numpy as np
import pytest

import tapeless
from tapeless import jit
from tests.transforms.cuda.test_tiles import (
    as_far_as_each_row_says,
    below_the_diagonal,
    shorter,
    some_of_them,
)

RNG = np.random.default_rng(0)
SHAPES = [(2, 2), (1, 70), (33, 1), (0, 5), (5, 0), (32, 64), (65, 31), (9, 200), (8, 8)]


def together(a, b):
    return a + b.T


def chosen(a, b):
    return np.where(a > b.T, a, b.T)


def sums(a, b):
    return np.sum(a + b.T, axis=1), np.sum(a * b.T)


def centred(a, b):
    z = a * b.T
    return z - np.mean(z, axis=1, keepdims=True)


def assert_near(function, *args):
    ours = tapeless.tree.leaves(tapeless.device_get(jit(function, backend="gpu")(*args)))
    for x, y in zip(ours, tapeless.tree.leaves(function(*args)), strict=True):
        rtol = 1e-4 if y.dtype.itemsize // (1 + (y.dtype.kind == "c")) <= 4 else 1e-11
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol * (np.abs(y).max(initial=0) + 1e-9))
        assert x.dtype == y.dtype


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("function", [together, chosen, sums, centred])
def test_shapes(function, shape, gpu):
    if function is centred and 0 in shape:
        pytest.skip("NumPy warns of the mean of nothing")
    assert_near(function, RNG.normal(size=shape), RNG.normal(size=shape[::-1]))


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "i4", "u8", "c8", "c16", "?"])
@pytest.mark.parametrize("function", [together, sums])
def test_dtypes(function, dtype, gpu):
    a, b = RNG.integers(-3, 4, (45, 70)), RNG.integers(-3, 4, (70, 45))
    if np.dtype(dtype).kind in "u?":
        a, b = abs(a), abs(b)
    assert_near(function, a.astype(dtype), b.astype(dtype))


@pytest.mark.parametrize("function", [below_the_diagonal, some_of_them])
def test_what_is_not_tiled(function, gpu):
    assert_near(function, RNG.normal(size=(45, 45)), RNG.normal(size=(45, 45)))


def test_rows_that_say_how_far_they_go(gpu):
    a, b, n = RNG.normal(size=(45, 70)), RNG.normal(size=(70, 45)), RNG.integers(0, 71, 45)
    assert_near(as_far_as_each_row_says, a, b, n)


def test_arrays_that_end_before(gpu):
    assert_near(shorter, RNG.normal(size=(45, 70)), RNG.normal(size=(33, 45)))
