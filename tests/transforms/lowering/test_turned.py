"""Loops that change an array by what it is when it is turned."""

import itertools

import numpy as np
import pytest

from tapeless import grad, jit

RNG = np.random.default_rng(1)


def overwritten(c, axes, n):
    for _ in range(n):
        c[:] -= np.sin(c.transpose(axes))
    return np.sum(c * c)


def carried(c, axes, n):
    for _ in range(n):
        t = np.sin(c)
        c = c * 0.5 + t.transpose(axes)
    return np.sum(c * c)


def read_before(c, axes, n):
    for _ in range(n):
        t = c * np.cos(c)
        c = (c + t * t).transpose(axes) * 0.5 - t
    return np.sum(c * c)


CASES = [axes for d in (2, 3) for axes in itertools.permutations(range(d))]


@pytest.mark.parametrize("f", [overwritten, carried, read_before])
@pytest.mark.parametrize("axes", CASES, ids=str)
def test_values_and_derivatives(f, axes):
    c, v = RNG.normal(size=(2, *[4] * len(axes)))
    np.testing.assert_allclose(jit(f)(c.copy(), axes, 3), f(c.copy(), axes, 3), rtol=1e-12)
    found = np.sum(jit(grad(f))(c.copy(), axes, 3) * v)
    ahead, behind = (f(c + h * v, axes, 3) for h in (1e-6, -1e-6))
    assert abs(found - (ahead - behind) / 2e-6) < 1e-6 * (1 + abs(found))


def epidemic(beta, gamma, s, i, n):
    for _ in range(n):
        new, gone = beta * s * i, gamma * i
        s, i = s - new, i + new - gone
    return s + 2 * i


def test_lengths_that_are_found_to_be_equal_share_memory_too():
    """What a loop carries on is made in place, whichever argument says how long it is."""
    args = [*RNG.random((4, 5)), 3]
    text = jit(epidemic).source(*args)
    assert text.count(" = scratch(") == 2
    np.testing.assert_allclose(jit(epidemic)(*args), epidemic(*args), rtol=1e-14)


def reversed_vector(c, n):
    total = 0.0
    for k in range(n):
        c = c[::-1]
        total += c[0] * k
    return c, total


def reversed_until(c, n):
    k, total = 0, 0.0
    while k < n:
        c = c[::-1] if total < 3 else c[::-1][::-1]
        total += c[1] * (k + 1)
        k += 1
    return c, total


def exchanged(c, n):
    d = 2 * c
    for _ in range(n):
        c, d = d[::-1], c
    return c, d


def in_other_order(c, n):
    square = np.outer(c, c + 1)
    for _ in range(n):
        square = square[::-1, ::-1]
    return square, c


@pytest.mark.parametrize("f", [reversed_vector, reversed_until, exchanged, in_other_order])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_carries_that_are_views_of_what_they_were(f, n):
    c = RNG.normal(size=5)
    for found, wanted in zip(jit(f)(c.copy(), n), f(c.copy(), n), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)

    def total(c):
        first, second = f(c, n)
        return np.sum(np.sin(first.ravel()) * np.arange(first.size)) + np.sum(second)

    v = RNG.normal(size=5)
    found = np.sum(jit(grad(total))(c.copy()) * v)
    assert abs(found - (total(c + 1e-6 * v) - total(c - 1e-6 * v)) / 2e-6) < 1e-6 * (1 + abs(found))
