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
    np.testing.assert_allclose(jit(one)(x, k), one(x, k), rtol=1e-14, atol=1e-15)


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


def laplacian(u):
    around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
    return around - 4 * u


def reaction(u, v, steps):
    for _ in range(steps):
        product = u * v * v
        u = u + 0.16 * laplacian(u) - product + 0.03 * (1 - u)
        v = v + 0.08 * laplacian(v) + product - 0.09 * v
    return u, v


def in_place(u, v, steps):
    u = u.copy()
    for _ in range(steps):
        u += 0.1 * np.roll(u, 2, axis=0) - v * np.roll(u, -2, axis=0)
        u[1:] = np.roll(u, 1, axis=0)[1:]
        u[:] = np.roll(u, -1, axis=0)
    return u


def by_columns(u, v, steps):
    for _ in range(steps):
        u = np.roll(u.T, 1, axis=0).T + v
        v = np.roll(u[::-1], 1, axis=0) * 0.5
    return u, v


def of_results(u, v, steps):
    total = 0.0
    for k in range(steps):
        w = np.roll(np.roll(u * v, 1, axis=0), -1, axis=1)
        total += np.sum(np.roll(w + u, -1, axis=0)[k % 3])
        u = np.where(np.roll(v > 0, 1, axis=0), w, np.roll(u, 1, axis=(0, 1)))
    return u, total


PROGRAMS = [reaction, in_place, by_columns, of_results]


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (7, 7), (12, 2), (6, 1), (9, 0)])
def test_rows_and_columns(f, shape):
    u, v = RNG.random((2, *shape)).round(2)
    for given in ((u, v), (np.asfortranarray(u), v[:, ::-1]), (u.astype(np.float32),) * 2):
        found, wanted = jit(f)(*given, 4), f(*given, 4)
        if not isinstance(wanted, tuple):
            found, wanted = (found,), (wanted,)
        for a, b in zip(found, wanted, strict=True):
            tolerance = 1e-13 if given[0].dtype == float else 1e-4
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
            assert np.asarray(a).dtype == np.asarray(b).dtype


@pytest.mark.parametrize("axis", [0, 1, 2, -2, (0, 2)])
@pytest.mark.parametrize("shift", [1, -1, 2, -3, 4, 5])
def test_any_axis(axis, shift):
    def f(x):
        for _ in range(2):
            x = x + np.roll(x, shift, axis)
        return x

    for shape in ((4, 5, 4), (5, 4, 6), (1, 4, 2)):
        x = RNG.integers(0, 9, size=shape)
        np.testing.assert_array_equal(jit(f)(x), f(x))


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives_along_rows_and_columns(f):
    u, v, w = RNG.random((3, 5, 4)).round(2)

    def loss(u):
        found = f(u, v, 3)
        return sum(np.sum(np.sin(x)) for x in (found if isinstance(found, tuple) else (found,)))

    wanted = (loss(u + 1e-6 * w) - loss(u - 1e-6 * w)) / 2e-6
    for slope in (grad(loss), jit(grad(loss))):
        assert abs(np.sum(slope(u) * w) - wanted) < 1e-6 * (1 + abs(wanted))


def test_no_array_is_rolled():
    u, v = RNG.random((2, 6, 7))
    text = jit(reaction).source(u, v, 3)
    assert "[i - 1 if i > 0 else u_2.shape[0] - 1, j]" in text
    assert "[i + 1 if i < u_2.shape[0] - 1 else 0, j]" in text
    assert text.count("scratch((u_2.shape[0], u_2.shape[1])") == 4  # of u and v, now and then
    assert "IndexError" not in text
