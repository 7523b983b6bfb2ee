"""A value may have more axes than the place that it is stored to, if they are of length one."""

import numpy as np
import pytest

import tapeless
from tapeless import check_grads, grad, jit

WEIGHTS = np.arange(6.0).reshape(3, 2) + 1


def row(v):
    z = np.zeros((3, 2))
    z[1] = v * v
    return np.sum(z * WEIGHTS)


def everything(v):
    z = np.zeros((3, 2))
    z[:] = v
    return np.sum(z**2 * WEIGHTS)


def rows(v):
    z = np.zeros((3, 2))
    z[np.array([0, 2])] = v
    return np.sum(z**2 * WEIGHTS)


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (row, (1, 2)),
        (row, (1, 1, 1)),
        (everything, (1, 1, 2)),
        (everything, (1, 1, 3, 2)),
        (rows, (1, 1, 2)),
    ],
)
def test_slopes(function, shape):
    v = np.linspace(1, 2, int(np.prod(shape))).reshape(shape)
    assert grad(function)(v).shape == shape
    check_grads(function, (v,), 2)
    np.testing.assert_allclose(jit(grad(function))(v), grad(function)(v), rtol=1e-14)
    several = np.stack([v, 2 * v])
    one_by_one = np.stack([grad(function)(x) for x in several])
    np.testing.assert_allclose(tapeless.vmap(grad(function))(several), one_by_one, rtol=1e-14)
