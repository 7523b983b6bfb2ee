"""Grey morphology, smoothed derivatives and measurements of scipy.ndimage."""

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient

ndimage = pytest.importorskip("scipy.ndimage", reason="SciPy is optional")

LINE = np.array([0.3, 1.2, 0.7, 2.1, 1.5, 0.4, 0.9])
IMAGE = np.random.default_rng(0).permutation(20).reshape(4, 5) / 7
SIZED = [
    *("grey_erosion", "grey_dilation", "grey_opening", "grey_closing", "white_tophat"),
    *("black_tophat", "morphological_gradient", "morphological_laplace"),
]
MEASURES = ["sum", "mean", "variance", "standard_deviation", "minimum", "maximum", "median"]


def agrees(program, x):
    expected = program(x)
    np.testing.assert_allclose(tapeless.jit(program)(x), expected, rtol=1e-12, atol=1e-13)
    weights = np.cos(np.arange(np.size(expected))).reshape(np.shape(expected))

    def total(line):
        return np.sum(weights * program(np.reshape(line, x.shape)))

    slope = tapeless.grad(total)(x.ravel())
    np.testing.assert_allclose(slope, gradient(total, x.ravel()), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("size", [2, (3, 2)])
@pytest.mark.parametrize("name", SIZED)
def test_morphology(name, size):
    agrees(lambda x: getattr(ndimage, name)(x, size, mode="nearest"), IMAGE)


@pytest.mark.parametrize("name", ["maximum_filter1d", "minimum_filter1d"])
@pytest.mark.parametrize("mode", ["reflect", "wrap"])
def test_along_one_axis(name, mode):
    agrees(lambda x: getattr(ndimage, name)(x, 3, mode=mode), LINE)
    agrees(lambda x: getattr(ndimage, name)(x, 4, axis=0, mode=mode, origin=1), IMAGE)


@pytest.mark.parametrize("name", ["gaussian_laplace", "gaussian_gradient_magnitude"])
def test_smoothed_derivatives(name):
    agrees(lambda x: getattr(ndimage, name)(x, 1.0), IMAGE)
    agrees(lambda x: getattr(ndimage, name)(x, (0.7, 1.2), mode="wrap", truncate=2.0), IMAGE)


@pytest.mark.parametrize("name", MEASURES)
def test_measurements(name):
    agrees(lambda x: getattr(ndimage, name)(x), IMAGE)


def test_center_of_mass():
    agrees(lambda x: np.stack(ndimage.center_of_mass(x)), IMAGE + 3)
    agrees(lambda x: np.stack(ndimage.center_of_mass(x)), LINE)


def test_what_is_refused():
    with pytest.raises(tapeless.TapelessError, match="by labels"):
        tapeless.jit(lambda x: ndimage.mean(x, x > 0, 1))(IMAGE)
    with pytest.raises(tapeless.TapelessError, match="footprint="):
        tapeless.jit(lambda x: ndimage.grey_erosion(x, footprint=np.ones((2, 2))))(IMAGE)
