"""np.roll by numbers, tuples and arrays of shifts, over one axis or several."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap

F = np.arange(12.0).reshape(3, 4)
SHIFTS = np.array([1, 2])

CASES = [
    lambda f, s: np.roll(f, s, axis=(0, 1)),
    lambda f, s: np.roll(f, (1, 2), axis=1),
    lambda f, s: np.roll(f, s, axis=0),
    lambda f, s: np.roll(f, s),
    lambda f, s: np.roll(f, 1, axis=(0, 1)),
    lambda f, s: np.roll(f, s[0], axis=1),
    lambda f, s: np.roll(f, [2], axis=(0, 1)),
    lambda f, s: np.roll(f, np.array([1, 0]), axis=(0, 1)),
]


@pytest.mark.parametrize("roll", CASES)
def test_rolled(roll):
    want = roll(F, SHIFTS)
    np.testing.assert_array_equal(jit(roll)(F, SHIFTS), want)
    batch = vmap(lambda f: roll(f, SHIFTS))(np.stack([F, 2 * F]))
    np.testing.assert_array_equal(batch, [want, 2 * want])
    weights = np.cos(F)
    slope = grad(lambda f: np.sum(roll(f, SHIFTS) * weights))(F)
    each = [np.sum(roll(e.reshape(F.shape), SHIFTS) * weights) for e in np.eye(F.size)]
    np.testing.assert_allclose(slope.ravel(), each, rtol=1e-14)


def test_too_many_shifts():
    with pytest.raises(ValueError, match=r"shift|zip"):
        jit(lambda f: np.roll(f, (1, 2, 3), axis=(0, 1)))(F)
