"""Derivatives of sorted rows store cotangents where the order says: one sort is enough."""

import numpy as np
import pytest

from tapeless import grad, hessian, jit, vmap

RNG = np.random.default_rng(0)
W = RNG.normal(size=(3, 4, 5))


def sorted_lines(x, axis):
    return np.sum(np.sort(x, axis=axis) ** 3 * W)


def middle(x, axis):
    return np.sum(np.median(x, axis=axis) ** 2)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("f", [sorted_lines, middle])
@pytest.mark.parametrize("wrap", [lambda g: g, jit])
def test_first_and_second_derivatives(f, axis, wrap):
    x, v = RNG.normal(size=(2, 3, 4, 5))
    slope = wrap(grad(f))
    by_differences = (f(x + 1e-6 * v, axis) - f(x - 1e-6 * v, axis)) / 2e-6
    np.testing.assert_allclose(np.sum(slope(x, axis) * v), by_differences, rtol=1e-6)
    curvature = np.tensordot(wrap(hessian(f))(x, axis), v, 3)
    by_slopes = (slope(x + 1e-5 * v, axis) - slope(x - 1e-5 * v, axis)) / 2e-5
    np.testing.assert_allclose(curvature, by_slopes, rtol=1e-5, atol=1e-8)
    each = wrap(vmap(grad(f), (0, None)))(np.stack([x, v]), axis)
    np.testing.assert_allclose(each, [slope(x, axis), slope(v, axis)], rtol=1e-12)


@pytest.mark.parametrize("f", [sorted_lines, middle])
def test_one_order_is_found(f):
    x = RNG.normal(size=(3, 4, 5))
    source = grad(f).source(x, 1)
    assert source.count("np.argsort(") == 1
