"""Places that a mask picks are places of the array: nothing tests them, and their count is a
length."""

import numpy as np
import pytest

from tapeless import grad, jit


def logs(u):
    u = u.copy()
    mask = u > 1.0
    u[mask] = 1.0 + np.log(u[mask])
    return u


def rows(u):
    return u[np.sum(u, axis=1) > 1.0] * 2.0


def of_two_axes(u):
    return np.cumsum(u[u > 0.5])


def added(u):
    out = np.zeros(u.shape)
    out[u > 0.5] += np.sqrt(u[u > 0.5])
    return out


def in_a_loop(u):
    total = 0.0
    for k in range(3):
        part = u[u > 0.4 * k]
        total += np.sum(part * part) + len(part)
    return total


PROGRAMS = [(logs, 1), (logs, 2), (rows, 2), (of_two_axes, 2), (added, 1), (in_a_loop, 1)]
ARRAYS = [
    np.array([0.5, 2.0, -1.0, 3.0]),
    np.zeros(4),
    np.full(4, 1.5),
    np.zeros(0),
]


@pytest.mark.parametrize(("f", "ndim"), PROGRAMS)
@pytest.mark.parametrize("u", ARRAYS)
def test_values_are_those_of_numpy(f, ndim, u):
    u = u if ndim == 1 else np.stack([u, u[::-1]])
    np.testing.assert_allclose(jit(f)(u), f(u))


@pytest.mark.parametrize(("f", "ndim"), PROGRAMS)
def test_nothing_tests_the_places(f, ndim):
    u = np.ones((4,) * ndim)
    assert "IndexError" not in jit(f).source(u)
    assert "IndexError" not in jit(grad(lambda u: np.sum(f(u)))).source(u)


def test_masks_of_another_length_are_refused():
    f = jit(lambda u, mask: u[mask] + 1.0)
    with pytest.raises(IndexError):
        f(np.ones(3), np.array([True, False, True, True]))
