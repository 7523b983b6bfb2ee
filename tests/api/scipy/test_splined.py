"""Images at places between their pixels: values are SciPy's, and derivatives."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.prelude.ndimage import splines as ours

scipy = pytest.importorskip("scipy")
ndimage = pytest.importorskip("scipy.ndimage")

# SciPy starts its filters of images that go back at their edge exactly since 1.18.
EXACT = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 18)
TOLERANCE = 1e-10 if EXACT else 0.01
RNG = np.random.default_rng(3)
IMAGE, BLOCK = RNG.standard_normal((9, 7)), RNG.standard_normal((5, 6, 4))
FAR = RNG.uniform(-15, 22, (2, 100))
MATRIX = np.array([[0.83, 0.3], [-0.2, 1.1]])
WHOLE = np.vstack([np.column_stack([MATRIX, [1.0, 2.03]]), [0, 0, 1]])
EDGES = ["constant", "nearest", "mirror", "reflect", "wrap", "grid-wrap", "grid-constant"]


def agree(function, tolerance=TOLERANCE):
    made, expected = function(ours), function(ndimage)
    np.testing.assert_allclose(made, expected, atol=tolerance)
    assert made.dtype == expected.dtype


@pytest.mark.parametrize("order", range(6))
@pytest.mark.parametrize("mode", [*EDGES, "grid-mirror"])
def test_values(mode, order):
    how = {"order": order, "mode": mode, "cval": 0.7}
    agree(lambda m: m.map_coordinates(IMAGE, FAR, **how))
    agree(lambda m: m.map_coordinates(IMAGE, FAR, prefilter=False, **how))
    agree(lambda m: m.shift(IMAGE, (1.3, -2.6), **how))
    agree(lambda m: m.zoom(IMAGE, (1.7, 0.6), **how))
    agree(lambda m: m.rotate(IMAGE, 33.0, **how))
    agree(lambda m: m.rotate(BLOCK, -120.0, axes=(0, 2), reshape=False, **how))
    agree(lambda m: m.affine_transform(IMAGE, MATRIX, (1.0, -0.5), **how))
    agree(lambda m: m.affine_transform(IMAGE, WHOLE, **how))
    agree(lambda m: m.affine_transform(IMAGE, [0.7, 1.2], 0.4, output_shape=(5, 8), **how))
    if order > 1:
        agree(lambda m: m.spline_filter(IMAGE, order, mode=mode))
        agree(lambda m: m.spline_filter1d(IMAGE, order, 0, mode=mode))


def test_right_angles_single_rows_and_grids():
    for angle in (0, 90, 180, -90, 45.0):
        agree(lambda m, angle=angle: m.rotate(IMAGE, angle))
    agree(lambda m: m.zoom(IMAGE[:1], 2))
    agree(lambda m: m.zoom(IMAGE, 1))
    agree(lambda m: m.zoom(IMAGE, 1.5, mode="grid-wrap", grid_mode=True))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, np.complex128])
def test_the_dtype_is_that_of_the_image(dtype):
    image = np.abs(10 * IMAGE).astype(dtype)
    agree(lambda m: m.zoom(image, 2), 1e-5)
    agree(lambda m: m.shift(image, 0.3), 1e-5)


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (lambda x: ndimage.map_coordinates(x, [2 + np.sin(x[:2])], mode="nearest"), IMAGE[0]),
        (lambda x: ndimage.map_coordinates(x, [2 + np.sin(x[:2])], order=5), IMAGE[0]),
        (lambda x: ndimage.shift(x, x[0], order=4, mode="reflect"), IMAGE[0]),
        (lambda x: ndimage.zoom(x, 1.4, mode="mirror"), IMAGE[:, 0]),
        (lambda x: ndimage.rotate(x, 20 * x[0, 0], reshape=False, order=2), IMAGE[:4, :3]),
        (lambda x: ndimage.rotate(x, 30, order=1, cval=0.4), IMAGE[:4, :3]),
        (lambda x: ndimage.affine_transform(x, 1 + 0.1 * x[:1], x[1], mode="wrap"), IMAGE[0]),
        (lambda x: ndimage.spline_filter(x), IMAGE[:4, :3]),
    ],
)
def test_derivatives(function, x):
    expected = function(x)
    both = tapeless.vmap(function)(np.stack([x, 1.01 * x]))
    np.testing.assert_allclose(both, [expected, function(1.01 * x)], rtol=1e-9, atol=TOLERANCE)
    tapeless.check_grads(function, (x,), order=2)


def test_under_jit():
    for f in (lambda x: ndimage.zoom(x, 1.5), lambda x: ndimage.shift(x, x[0, :2], order=2)):
        np.testing.assert_allclose(tapeless.jit(f)(IMAGE), f(IMAGE), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda x: ndimage.zoom(x, 2, order=6), "spline order not supported"),
        (lambda x: ndimage.shift(x, 2, mode="no"), "boundary mode not supported"),
        (lambda x: ndimage.map_coordinates(x, [x[0]]), "invalid shape for coordinate array"),
        (lambda x: ndimage.affine_transform(x, np.eye(3)[:, :2]), "wrong number of rows"),
        (lambda x: ndimage.spline_filter(x, 1), "spline order not supported"),
        (lambda x: ndimage.spline_filter(x, output=np.float32), "output="),
    ],
)
def test_what_is_refused(function, match):
    with pytest.raises((RuntimeError, tapeless.TapelessError), match=match):
        tapeless.jit(function)(IMAGE)
