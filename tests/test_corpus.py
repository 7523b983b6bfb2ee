"""The corpus against finite differences: both modes, second order, the caller's arrays."""

from itertools import repeat

import numpy as np
import pytest

import tapeless
from tests.corpus import programs
from tests.corpus.differences import (
    curvature,
    gradient,
    inner,
    leaves,
    ravel,
    rebuild,
    signed,
    slope,
    unravel,
)


@pytest.fixture(params=programs(), ids=lambda each: each.name)
def program(request):
    return request.param


@pytest.fixture
def tolerance(program):
    return (
        1e-4
        if any(np.asarray(leaf).dtype == np.float32 for leaf in leaves(program.active()))
        else 1e-6
    )


def assert_alike(actual, expected):
    """The same structure with leaves of the same shapes and dtypes."""
    assert rebuild(actual, repeat("leaf")) == rebuild(expected, repeat("leaf"))
    for ours, theirs in zip(leaves(actual), leaves(expected), strict=True):
        assert np.shape(ours) == np.shape(theirs)
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype


def assert_untouched(args, originals):
    assert_alike(args, originals)
    for ours, before in zip(leaves(args), leaves(originals), strict=True):
        np.testing.assert_array_equal(ours, before)


def assert_second_derivative(actual, program, tolerance):
    objective, point = program.objective(), ravel(program.active())
    expected = curvature(objective, point, *directions(point))
    scale = 1 + abs(objective(point))
    np.testing.assert_allclose(actual, expected, rtol=100 * tolerance, atol=10 * tolerance * scale)


def directions(point):
    return signed(point.size, seed=2), signed(point.size, seed=3)


def test_reverse_mode(program, tolerance):
    args = program.arguments()
    slopes = tapeless.grad(program.projected(), argnums=program.wrt)(*args)
    expected = gradient(program.objective(), ravel(program.active()))
    assert_alike(slopes, program.active())
    atol = tolerance * np.linalg.norm(expected)
    np.testing.assert_allclose(ravel(slopes), expected, rtol=tolerance, atol=atol)
    assert_untouched(args, program.arguments())


def test_forward_mode(program, tolerance, capsys):
    plain = program.function(*program.arguments())
    printed = capsys.readouterr().out

    active = program.active()
    direction, _ = directions(ravel(active))
    tangents = unravel(active, direction, keep_dtypes=True)
    value, tangent = tapeless.jvp(program.of_active(program.function), active, tangents)
    assert capsys.readouterr().out == printed

    assert_alike(value, plain)
    assert_alike(tangent, plain)
    np.testing.assert_allclose(ravel(value), ravel(plain), rtol=1e-6 * tolerance, atol=1e-300)
    expected = slope(program.objective(), ravel(active), direction)
    size = np.linalg.norm(gradient(program.objective(), ravel(active)))
    projected = inner(tangent, program.weights())
    np.testing.assert_allclose(projected, expected, rtol=tolerance, atol=tolerance * size)
    assert_untouched(active, program.active())


def test_forward_over_reverse(program, tolerance):
    if not program.second:
        return
    active = program.active()
    first, second = directions(ravel(active))
    slopes = tapeless.grad(
        program.of_active(program.projected()), argnums=tuple(range(len(active)))
    )
    _, bends = tapeless.jvp(slopes, active, unravel(active, first, keep_dtypes=True))
    assert_second_derivative(ravel(bends) @ second, program, tolerance)


def test_reverse_over_reverse(program, tolerance):
    if not program.second:
        return
    active = program.active()
    first, second = directions(ravel(active))
    everything = tuple(range(len(active)))
    slopes = tapeless.grad(program.of_active(program.projected()), argnums=everything)
    weights = leaves(unravel(active, first, keep_dtypes=True))

    def slope_along_first(*active):
        return inner(slopes(*active), weights)

    bends = tapeless.grad(slope_along_first, argnums=everything)(*active)
    assert_second_derivative(ravel(bends) @ second, program, tolerance)
