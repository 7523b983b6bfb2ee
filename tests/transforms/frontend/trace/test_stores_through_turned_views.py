"""Stores through views of an array reach it after a store through a turned view of it."""

import numpy as np
import pytest

from tapeless import grad, jit, jvp


def turned_then_whole(v):
    w = v[::-1]
    w[::2] = 1.5 * v[0]
    u = v[:]
    u[0] = 2.0 * v[1]
    return v


def whole_and_turned_twice(v):
    w = v[:][::-1]
    w[::2] += v[1]
    w = v[:][::-1]
    w[::2] += 2.0 * v[1]
    return v


def in_a_loop(v):
    for i in reversed(range(4)):
        w = v[:][::-1]
        w[::2] += np.tanh(np.sum(np.sin(w)) + i)
    return v


def transposed(v):
    m = np.outer(v, v)
    w = m.T[::-1]
    w[:, ::2] *= v[:2]
    u = m.T[::-1]
    u[::2] += 1.0 + v
    t = m[:, ::-1]
    t[::-1, 1] = v
    return m


def added_in_place(v):
    w = v[::-1]
    w[::2] = 3.0 * v[0]
    u = v[:]
    u *= 2.0
    t = u[::-1]
    t[1:] += v[0]
    return v


def under_a_test(v):
    w = v[::-1]
    w[::2] = 1.5 * v[1]
    if v[0] > -9:
        u = v[:]
        u[0] = v[1]
    return v


@pytest.mark.parametrize(
    "f",
    [
        turned_then_whole,
        whole_and_turned_twice,
        in_a_loop,
        transposed,
        added_in_place,
        under_a_test,
    ],
)
def test_stores_reach_the_array(f):
    def g(v):
        return f(v * 1.0)

    def total(v):
        return np.sum(np.sin(f(v * 1.0)))

    v = np.array([0.5, -0.25, 0.75, 0.3, 0.1])[: 5 if f is not transposed else 3]
    expected = g(v)
    for h in (jit(g).plain, jit(g), lambda v: jvp(g, (v,), (v,))[0]):
        np.testing.assert_allclose(h(v), expected, rtol=1e-12)
    steps = 1e-6 * np.eye(len(v))
    slopes = [(total(v + h) - total(v - h)) / 2e-6 for h in steps]
    for slope in (grad(total), jit(grad(total))):
        np.testing.assert_allclose(slope(v), slopes, atol=1e-8)
