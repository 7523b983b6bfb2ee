"""Convolutions inside of loops are loops of kernels."""

import re

import numpy as np
import pytest

import tapeless

R = np.random.default_rng(0)


def smoothed(x, k, mode):
    total = 0.0
    for t in range(3):
        y = np.convolve(x, k, mode)
        total += np.sum(np.sin(y) * np.arange(1, len(y) + 1)) * (t + 1)
        x = 0.9 * x
    return total


def repeated(x, k):
    for _ in range(4):
        x = np.convolve(x, k, mode="same") / np.sum(k)
    return x


@pytest.mark.filterwarnings("error::tapeless.PerformanceWarning")
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize(("n", "m", "fastmath"), [(12, 3, True), (3, 12, False), (6, 1, True)])
def test_value_and_slopes(mode, n, m, fastmath):
    x, k = R.random(n), R.random(m)

    def function(x, k):
        return smoothed(x, k, mode)

    compiled = tapeless.jit(function, fastmath=fastmath)
    np.testing.assert_allclose(compiled(x, k), function(x, k), rtol=1e-12)
    assert "np.convolve" not in compiled.source(x, k)
    x_bar, k_bar = tapeless.jit(tapeless.grad(function, argnums=(0, 1)), fastmath=fastmath)(x, k)
    x_dot, k_dot, h = np.cos(np.arange(n)), np.sin(np.arange(m) + 1.0), 1e-6
    ends = (function(x + s * h * x_dot, k + s * h * k_dot) for s in (1, -1))
    difference = -np.subtract(*[*ends][::-1]) / (2 * h)
    np.testing.assert_allclose(x_bar @ x_dot + k_bar @ k_dot, difference, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("dtype", [int, np.float32])
def test_dtypes(dtype):
    x, k = (10 * R.random(9)).astype(dtype), (10 * R.random(4)).astype(dtype)
    got, want = tapeless.jit(repeated)(x, k), repeated(x, k)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_of_nothing():
    for arrays in ((np.zeros(0), np.ones(3)), (np.ones(3), np.zeros(0))):
        with pytest.raises(ValueError, match="cannot be empty"):
            tapeless.jit(smoothed)(*arrays, "full")


def filtered(image, k, mode, correlated):
    total = 0.0
    for j in range(image.shape[1]):
        column = image[:, j]
        y = np.correlate(column, k, mode) if correlated else np.convolve(column, k, mode)
        total += (j + 1) * np.sum(np.sin(y))
    return total


@pytest.mark.filterwarnings("error::tapeless.PerformanceWarning")
@pytest.mark.parametrize("correlated", [False, True])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("m", [3, 4])
def test_columns(mode, m, correlated):
    image, k = R.random((7, 5)), R.random(m)

    def function(image, k):
        return filtered(image, k, mode, correlated)

    compiled = tapeless.jit(function)
    np.testing.assert_allclose(compiled(image, k), function(image, k), rtol=1e-12)
    assert re.search(
        r"\[(t(_\d+)? \+ )?i\] = image\[i, j\]( +# line \d+)?$", compiled.source(image, k), re.M
    )
    grad = tapeless.grad(function, argnums=(0, 1))
    for got, want in zip(tapeless.jit(grad)(image, k), grad(image, k), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def blurred(image, k):
    for j in range(image.shape[1]):
        image[:, j] = np.convolve(image[:, j], k, "same")
    return np.sum(image**2)


def test_what_is_saved_of_columns_that_are_overwritten():
    """A column a pass, and not the image."""
    gradient = tapeless.jit(tapeless.grad(blurred, argnums=1))
    source = gradient.source(R.random((9, 6)), R.random(3))
    saved = re.search(r"saved = (empty|scratch)\(\(image.shape\[1\], image.shape\[0\]\)", source)
    assert saved, source
