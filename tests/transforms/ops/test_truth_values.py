"""Arrays of truth values where NumPy takes them for numbers, and of which type."""

import numpy as np
import pytest

from tapeless import grad, jit, vjp, vmap

TRUTH = np.array([True, False, True])

FUNCTIONS = [
    lambda a: a**2,
    lambda a: a**3,
    lambda a: a**2.0,
    lambda a: np.power(a, 2),
    lambda a: np.power(2, a),
    np.conjugate,
    np.angle,
    np.median,
    np.nanmedian,
    np.diff,
    np.unwrap,
    lambda a: np.linspace(a, a, 3),
    lambda a: np.linspace(a, True, 3, axis=1),
    lambda a: np.linspace(0, a[0], 3),
    lambda a: np.logspace(a, 2, 3),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_and_types_are_those_of_numpy(function):
    expected = function(TRUTH)
    found = [
        jit(function)(TRUTH),
        vjp(function, TRUTH)[0],
        vmap(function)(np.stack([TRUTH, TRUTH]))[1],
    ]
    for value in found:
        assert np.asarray(value).dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(value, expected)


def test_beside_a_number_they_have_no_derivative():
    x = np.array([1.5, 2.5, 0.5])
    found = grad(lambda x: np.sum(np.arctan2(TRUTH, x)))(x)
    np.testing.assert_allclose(found, -(TRUTH / (x**2 + TRUTH)))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_geometric_steps_between_arrays(axis):
    low, high = np.array([1.5, 2.5, 0.5]), np.array([1.0, 2.0, 3.0])

    def between(a, b):
        return np.geomspace(a, b, 5, axis=axis)

    np.testing.assert_allclose(jit(between)(low, high), between(low, high))
    found = grad(lambda a: np.sum(between(a, high)))(low)
    step = 1e-6
    moved = [
        np.sum(between(low + step * e, high) - between(low - step * e, high)) for e in np.eye(3)
    ]
    np.testing.assert_allclose(found, np.array(moved) / (2 * step), rtol=1e-7)
