"""The functions of scipy.ndimage and scipy.signal in functions that are staged."""

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient

ndimage = pytest.importorskip("scipy.ndimage", reason="SciPy is optional")
signal = pytest.importorskip("scipy.signal", reason="SciPy is optional")

IMAGE = np.random.default_rng(3).standard_normal((4, 5))
ODD, EVEN, PATCH = np.array([0.2, 0.5, 0.4]), np.array([0.3, 0.1, 0.4, 0.2]), IMAGE[:3, :2]
MODES = ["reflect", "constant", "nearest", "mirror", "wrap"]


def smoothed(x):
    return ndimage.gaussian_filter(x, (1.0, 0.5), order=(0, 1), mode=["wrap", "reflect"])


FILTERS = [
    *(lambda x, m=m: ndimage.correlate(x, PATCH, mode=m, cval=0.3) for m in MODES),
    lambda x: ndimage.convolve(x, PATCH, origin=(1, -1)),
    lambda x: ndimage.convolve(x, x[:2, :2]),
    lambda x: ndimage.correlate1d(x, EVEN, axis=0, origin=1),
    lambda x: ndimage.convolve1d(x, ODD) + ndimage.convolve1d(x, EVEN, origin=-1),
    smoothed,
    lambda x: ndimage.gaussian_filter1d(x, 0.7, order=2) + ndimage.gaussian_filter(x, 0.6),
    lambda x: ndimage.uniform_filter(x, (2, 3)) + ndimage.uniform_filter1d(x, 4, axis=0),
    lambda x: ndimage.laplace(x) + ndimage.sobel(x, 0) + ndimage.prewitt(x, mode="wrap"),
    lambda x: signal.convolve(x, x[:2, :2], mode="same") + signal.fftconvolve(x, PATCH, "same"),
    lambda x: signal.correlate(x[0], ODD) + signal.convolve2d(x[:1], ODD[None])[0],
    lambda x: signal.detrend(x, axis=0),
]


@pytest.mark.parametrize("filtered", FILTERS)
def test_filters(filtered):
    expected, weights = filtered(IMAGE), np.cos(np.arange(filtered(IMAGE).size))

    def total(x):
        return np.sum(filtered(x).ravel() * weights)

    np.testing.assert_allclose(tapeless.jvp(filtered, (IMAGE,), (IMAGE,))[0], expected, atol=1e-12)
    slope = gradient(lambda x: total(x.reshape(IMAGE.shape)), IMAGE.ravel(), 1e-6)
    np.testing.assert_allclose(tapeless.grad(total)(IMAGE).ravel(), slope, rtol=1e-6, atol=1e-8)


def test_compiled_and_batched():
    both = np.stack([IMAGE, 2 * IMAGE])
    got = tapeless.jit(tapeless.vmap(smoothed))(both)
    np.testing.assert_allclose(got, [smoothed(x) for x in both], atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_the_dtype_is_that_of_the_image(dtype):
    x = np.arange(5).astype(dtype)
    expected = ndimage.convolve(x, ODD)
    got = tapeless.jit(lambda x: ndimage.convolve(x, ODD))(x)
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    assert got.dtype == expected.dtype


@pytest.mark.parametrize(
    ("function", "error", "match"),
    [
        (lambda x: ndimage.laplace(x, output=np.zeros(5)), tapeless.TapelessError, "output="),
        (lambda x: ndimage.gaussian_filter1d(x, 1.0, order=3), tapeless.TapelessError, "order 3"),
        (lambda x: ndimage.convolve1d(x, ODD, origin=2), ValueError, "invalid origin"),
        (lambda x: ndimage.convolve1d(x, ODD, mode="no"), RuntimeError, "boundary mode"),
        (lambda x: ndimage.correlate(x, PATCH), RuntimeError, "incorrect shape"),
        (lambda x: ndimage.geometric_transform(x, tuple), tapeless.TapelessError, "no rule"),
        (lambda x: signal.wiener(x), tapeless.TapelessError, "no rule"),
    ],
)
def test_what_is_refused(function, error, match):
    with pytest.raises(error, match=match):
        tapeless.jit(function)(IMAGE[0])
