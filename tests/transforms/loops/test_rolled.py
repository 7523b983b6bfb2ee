"""np.roll by a number that only the program knows is part of a kernel."""

import numpy as np
import pytest

from tapeless import grad, jit

RNG = np.random.default_rng(0)
SHIFTS = np.array([0, 1, -1, 3, 9, -8])


def one(x, k):
    return np.roll(x, k) * x + np.sin(x)


def many(x, shifts):
    for k in shifts:
        x = x + 0.1 * np.roll(np.roll(x, k, axis=0), -2 * k, axis=1)
    return x


@pytest.mark.parametrize("n", [5, 1, 0])
@pytest.mark.parametrize("k", [0, 1, -1, 7, -7, 5, -5, 12])
def test_values(n, k):
    x = RNG.normal(size=n)
    np.testing.assert_allclose(jit(one)(x, k), one(x, k), rtol=1e-15)


def test_loops_over_shifts():
    x = RNG.normal(size=(4, 6))
    np.testing.assert_allclose(jit(many)(x, SHIFTS), many(x, SHIFTS), rtol=1e-13)
    assert "np.roll" not in jit(many).source(x, SHIFTS)


def test_derivatives():
    x, v = RNG.normal(size=(2, 4, 6))

    def loss(x):
        return np.sum(many(x, SHIFTS) ** 2)

    found = np.sum(jit(grad(loss))(x) * v)
    wanted = (loss(x + 1e-6 * v) - loss(x - 1e-6 * v)) / 2e-6
    assert abs(found - wanted) < 1e-7 * abs(wanted)
