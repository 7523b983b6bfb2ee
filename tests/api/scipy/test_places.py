"""Integrals, images, grids and nearest codes against SciPy, and derivatives."""

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.integrate
import scipy.interpolate
import scipy.ndimage

from tapeless import check_grads, vmap
from tapeless.scipy import cluster, integrate, interpolate, ndimage
from tapeless.transforms.errors import ArgumentError
from tests.api.jax_peer import jax_or_skip

RNG = np.random.default_rng(0)
IMAGE = RNG.standard_normal((5, 6))
PLACES = RNG.uniform(-3, 9, (2, 40))
GRID = (np.array([0.0, 1.0, 2.5]), np.array([-1.0, 0.0, 0.5, 4.0]))
VALUES = RNG.standard_normal((3, 4))
BETWEEN = RNG.uniform([0, -1], [2.5, 4], (7, 2))
MODES = {"constant": "grid-constant", "nearest": "nearest", "wrap": "grid-wrap"}
MODES |= {"mirror": "mirror", "reflect": "reflect"}


def test_trapezoids():
    x = np.sort(RNG.random(6))
    for options in ({}, {"dx": 0.3}, {"x": x}, {"axis": 0}):
        want = scipy.integrate.trapezoid(IMAGE, **options)
        np.testing.assert_allclose(integrate.trapezoid(IMAGE, **options), want)
    check_grads(integrate.trapezoid, (IMAGE, x), order=1)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [0, 1])
def test_images(mode, order):
    made = ndimage.map_coordinates(IMAGE, PLACES, order, mode, cval=0.7)
    options = {"order": order, "mode": MODES[mode], "cval": 0.7}
    want = scipy.ndimage.map_coordinates(IMAGE, PLACES, **options)
    np.testing.assert_allclose(made, want, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_jaxs_images(mode):
    peer = jax_or_skip().scipy.ndimage.map_coordinates
    inside = PLACES.clip(-0.9, 5) if mode == "constant" else PLACES
    made = ndimage.map_coordinates(IMAGE, inside, 1, mode)
    np.testing.assert_allclose(made, peer(IMAGE, list(inside), 1, mode), atol=1e-12)


def test_derivatives_of_images():
    inside = RNG.uniform(0.1, 3.9, (2, 8))
    check_grads(lambda a, c: ndimage.map_coordinates(a, c, 1, "reflect"), (IMAGE, inside), order=1)
    made = vmap(ndimage.map_coordinates, (None, 1, None))(IMAGE, inside, 1)
    np.testing.assert_allclose(made, ndimage.map_coordinates(IMAGE, inside, 1))
    ints = ndimage.map_coordinates(np.array([0, 10]), [np.array([0.26])], 1)
    assert (ints.dtype, ints.tolist()) == (np.dtype(int), [3])


@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_grids(method):
    made = interpolate.RegularGridInterpolator(GRID, VALUES, method)(BETWEEN)
    want = scipy.interpolate.RegularGridInterpolator(GRID, VALUES, method)(BETWEEN)
    np.testing.assert_allclose(made, want, rtol=1e-12)
    more = np.stack([VALUES, 2 * VALUES], axis=-1)
    both = interpolate.RegularGridInterpolator(GRID, more)(BETWEEN, method)
    np.testing.assert_allclose(both[:, 1], 2 * want, rtol=1e-12)
    parts = interpolate.RegularGridInterpolator(GRID, VALUES, method)((BETWEEN[:, 0], 0.25))
    assert parts.shape == (7,)


def test_outside_of_grids():
    outside = np.array([[-1.0, 0.0], [1.0, 5.0], [1.0, 0.0]])
    filled = interpolate.RegularGridInterpolator(GRID, VALUES, fill_value=7.0)(outside)
    assert filled.tolist() == [7.0, 7.0, VALUES[1, 1]]
    assert np.isnan(interpolate.RegularGridInterpolator(GRID, VALUES)(outside)[:2]).all()
    options = {"bounds_error": False, "fill_value": None}
    want = scipy.interpolate.RegularGridInterpolator(GRID, VALUES, **options)(outside)
    made = interpolate.RegularGridInterpolator(GRID, VALUES, **options)(outside)
    np.testing.assert_allclose(made, want)


def test_derivatives_of_grids():
    def between(values, x):
        return interpolate.RegularGridInterpolator(GRID, values)(x)

    check_grads(between, (VALUES, BETWEEN), order=1)
    made = vmap(between, (None, 0))(VALUES, BETWEEN)
    np.testing.assert_allclose(made, between(VALUES, BETWEEN))


def test_nearest_codes():
    obs, codes = RNG.standard_normal((9, 3)), RNG.standard_normal((4, 3))
    made, want = cluster.vq.vq(obs, codes), scipy.cluster.vq.vq(obs, codes)
    np.testing.assert_array_equal(made[0], want[0])
    np.testing.assert_allclose(made[1], want[1])
    np.testing.assert_allclose(cluster.vq.vq(obs[:, 0], codes[:, 0])[1].shape, (9,))
    check_grads(lambda o, c: cluster.vq.vq(o, c)[1], (obs, codes), order=1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ndimage.map_coordinates(IMAGE, PLACES, 2), "order must be 0 or 1"),
        (lambda: ndimage.map_coordinates(IMAGE, PLACES, 1, "grid"), "mode must be one of"),
        (lambda: ndimage.map_coordinates(IMAGE, PLACES[:1], 1), "an array for each axis"),
        (lambda: interpolate.RegularGridInterpolator(GRID, VALUES, "cubic"), "'linear' or"),
        (lambda: interpolate.RegularGridInterpolator(GRID, VALUES[0]), "2 vectors of points"),
        (
            lambda: interpolate.RegularGridInterpolator(GRID, VALUES, bounds_error=True),
            "use fill_value",
        ),
        (lambda: interpolate.RegularGridInterpolator(GRID, VALUES)(VALUES), "last axis has one"),
        (lambda: cluster.vq.vq(VALUES, VALUES[0]), "rows of matrices"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ArgumentError) as caught:
        call()
    assert words in str(caught.value)
