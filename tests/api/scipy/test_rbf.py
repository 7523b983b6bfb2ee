"""Interpolation of scattered points, against SciPy; and its derivatives."""

import numpy as np
import pytest

import tapeless
from tapeless.scipy.rbf import KERNELS

interpolate = pytest.importorskip("scipy.interpolate", reason="SciPy is optional")

RNG = np.random.default_rng(4)
POINTS, VALUES = RNG.standard_normal((8, 2)), RNG.standard_normal((8, 3))
PLACES = RNG.standard_normal((3, 2))


@pytest.mark.parametrize("kernel", KERNELS)
def test_values_and_derivatives(kernel):
    def found(y, d, x, epsilon):
        made = interpolate.RBFInterpolator(y, d, kernel=kernel, epsilon=epsilon, smoothing=0.1)
        return np.sin(made(x))

    args = POINTS, VALUES, PLACES, 1.3
    expected = found(*args)
    np.testing.assert_allclose(tapeless.jit(found)(*args), expected, atol=1e-9)
    both = tapeless.vmap(found, (None, 0, None, None))(
        POINTS, np.stack([VALUES, -VALUES]), *args[2:]
    )
    np.testing.assert_allclose(both, [expected, -expected], atol=1e-9)
    tapeless.check_grads(found, args, order=1)


def test_it_goes_through_the_points_also_with_slopes():
    def error(y):
        made = interpolate.RBFInterpolator(y, VALUES[:, 0])
        return made(y) - VALUES[:, 0]

    np.testing.assert_allclose(tapeless.jit(error)(POINTS), 0, atol=1e-9)
    np.testing.assert_allclose(tapeless.jacrev(error)(POINTS), 0, atol=1e-8)


def test_objects_of_scipy_are_called():
    for d in (VALUES, VALUES[:, 0] + 1j * VALUES[:, 1]):
        made = interpolate.RBFInterpolator(POINTS, d, kernel="cubic", degree=2)
        compiled = tapeless.jit(lambda x, made=made: made(x))
        np.testing.assert_allclose(compiled(PLACES), made(PLACES), atol=1e-9)
    made = interpolate.RBFInterpolator(POINTS, VALUES[:, 0])
    tapeless.check_grads(lambda x: made(x), (PLACES,), order=2)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"kernel": "other"}, "kernel must be one of"),
        ({"kernel": "gaussian"}, "needs epsilon"),
        ({"neighbors": 3}, "neighbors is not supported"),
        ({"degree": 3}, "a polynomial of 10 terms for 8 points"),
    ],
)
def test_what_is_refused(options, match):
    def found(y):
        return interpolate.RBFInterpolator(y, VALUES, **options)(PLACES)

    with pytest.raises(ValueError, match=match):
        tapeless.jit(found)(POINTS)
    near = interpolate.RBFInterpolator(POINTS, VALUES, neighbors=4)
    with pytest.raises(ValueError, match="neighbors is not supported"):
        tapeless.jit(lambda x: near(x))(PLACES)
