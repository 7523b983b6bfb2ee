"""jax.image: values by hand and by JAX, derivatives, staging."""

import numpy as np
import pytest

from tapeless import check_grads, grad, image, jit, vmap
from tapeless.image import ResizeMethod, resize, scale_and_translate
from tapeless.transforms.errors import ArgumentError

METHODS = ["nearest", "linear", "cubic", "cubic-pytorch", "lanczos3", "lanczos5", "area"]


def test_a_constant_stays_one():
    for method in METHODS:
        for shape in ((3, 9), (8, 2), (5, 4)):
            made = resize(np.full((5, 4), 7.0), shape, method)
            np.testing.assert_allclose(made, np.full(shape, 7.0), rtol=1e-13)


@pytest.mark.parametrize("method", ["linear", "cubic"])
def test_straight_lines_stay_straight(method):
    """Inside, where no sample is missing: both kernels reproduce polynomials of degree 1."""
    x = np.linspace(0.0, 9.0, 10)
    made = resize(x, (20,), method)
    wanted = (np.arange(20) + 0.5) / 2 - 0.5
    np.testing.assert_allclose(made[4:-4], wanted[4:-4], rtol=1e-12)


def test_averages_by_hand():
    made = resize(np.array([1.0, 3.0, 5.0, 11.0]), (2,), "linear")
    weights = np.array([1.5, 1.5, 0.5]) / 3.5  # a triangle of twice the width, cut off at the edge
    np.testing.assert_allclose(made[0], weights @ [1.0, 3.0, 5.0], rtol=1e-14)
    made = resize(np.array([1.0, 3.0, 5.0, 11.0]), (2,), "linear", antialias=False)
    np.testing.assert_allclose(made, [2.0, 8.0])


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_the_same_as_jax(method, antialias, rng):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    x = rng.standard_normal((5, 6, 2)).astype(np.float32)
    for shape in ((10, 3, 2), (2, 13, 3)):
        ours = resize(x, shape, method, antialias)
        theirs = np.asarray(jax.image.resize(x, shape, method, antialias))
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, atol=2e-5)
    if method != "nearest":
        given = (5, 9, 2), (0, 1), np.array([1.3, 0.6]), np.array([0.4, -1.2]), method, antialias
        theirs = np.asarray(jax.image.scale_and_translate(x, *given))
        np.testing.assert_allclose(scale_and_translate(x, *given), theirs, atol=2e-5)


@pytest.mark.parametrize("method", METHODS[1:-1])
def test_derivatives(method, rng):
    x = rng.standard_normal((4, 5))
    check_grads(lambda x: resize(x, (7, 3), method), (x,), order=1)


def test_areas_by_hand():
    made = resize(np.array([1.0, 2.0, 6.0]), (2,), "area")
    np.testing.assert_allclose(made, [(1 + 0.5 * 2) / 1.5, (0.5 * 2 + 6) / 1.5], rtol=1e-14)


def test_derivatives_by_the_place(rng):
    x = rng.standard_normal(9)

    def shifted(scale, shift):
        return scale_and_translate(x, (9,), (0,), scale, shift, "cubic")[2:6]

    check_grads(shifted, (np.array([1.1]), np.array([0.3])), order=1)


def test_inside_transformations(rng):
    x = rng.standard_normal((3, 4, 5))
    half = lambda x: resize(x, (x.shape[0] // 2, 5), "linear")  # noqa: E731
    np.testing.assert_allclose(jit(half)(x[0]), half(x[0]), rtol=1e-13)
    np.testing.assert_allclose(vmap(half)(x)[1], half(x[1]), rtol=1e-13)
    slope = grad(lambda x: np.sum(resize(x, (2, 2), "nearest")))(x[0])
    assert slope.sum() == 4


def test_numbers_that_are_not_floats():
    assert resize(np.array([1, 2]), (4,), "nearest").dtype == int
    assert resize(np.array([1, 2]), (4,), "linear").dtype == float


def test_names_of_methods():
    assert ResizeMethod.from_string("bicubic") is ResizeMethod.CUBIC
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(resize(x, (3,), ResizeMethod.LINEAR), resize(x, (3,), "triangle"))
    assert set(image.__all__) == {"ResizeMethod", "resize", "scale_and_translate"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: resize(x, (3,), "linear"), "the image has 2 axes, and the shape 1"),
        (lambda x: resize(x, (3, 3), "soft"), "there is no method 'soft'"),
        (
            lambda x: scale_and_translate(x, (3, 3), (0,), [1.0], [0.0], "linear"),
            "axis 1 is not in spatial_dims",
        ),
        (
            lambda x: scale_and_translate(x, (2, 2), (0,), [1.0], [0.0], "nearest"),
            "cannot be nearest",
        ),
    ],
)
def test_what_is_refused(call, message):
    for way in (lambda f: f, jit):
        with pytest.raises(ArgumentError, match=message):
            way(call)(np.ones((2, 2)))
