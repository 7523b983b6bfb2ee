"""Masks beside integers and slices in one key: values, derivatives, loops, and their text."""

import warnings

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transforms.core.builder import Builder, atom, building
from tapeless.transforms.core.checker import verify
from tapeless.transforms.core.language import Block, For, Type, Var
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.emit.whole_mask_keys import whole_mask_keys
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, gather, index

RNG = np.random.default_rng(0)
P, Q = RNG.normal(size=(6, 3)), RNG.normal(size=(6, 3, 4))
M = P[:, 0] > 0


def beside_columns(p):
    y = p * 1.0
    y[M, 0] = -y[M, 0]
    y[M, 1:] *= 0.5
    return np.sum(y**3)


def reflected(p):
    y = p * 1.0
    for _ in range(5):
        outside = y[:, 0] > 0.2
        y[outside, 0] = 2 * 0.2 - y[outside, 0]
        y[outside, 1] *= -0.9
        y[~outside, 2] += 0.1
    return np.sum(y**3)


def bounced_back(q):
    f = q * 1.0
    for i in range(6):
        f[i, Q[0] > 0] = q[(i + 3) % 6, Q[0] > 0]
    return np.sum(f**3)


def apart(q):
    y = q * 1.0
    y[M, :, 2] = q[M, :, 1] ** 2
    y[M, 1, 1:3] += y[M, 2, :2]
    return np.sum(y**2)


def parts(q):
    y, where = q * 1.0, q[0] > 0
    y[1:3, where] = q[3:5, where] * 2
    y[2, where] += 1
    return np.sum(y**2)


def ellipses(q):
    y = q * 1.0
    y[..., Q[0, 0] > 0] = 3.0
    y[M, ..., 0] = q[M, ..., 1]
    y[-1, Q[0] > 0] = 0.5
    return np.sum(y**2 * q)


@pytest.mark.parametrize("f", [beside_columns, reflected, bounced_back, apart, parts, ellipses])
def test_values_and_derivatives(f):
    x = P if f in (beside_columns, reflected) else Q
    direction, h = np.random.default_rng(1).normal(size=x.shape), 1e-6
    slope = (f(x + h * direction) - f(x - h * direction)) / (2 * h)
    slopes = grad(f)(x)
    np.testing.assert_allclose(np.sum(slopes * direction), slope, rtol=1e-5, atol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is left to Python
        np.testing.assert_allclose(jit(f)(x), f(x), rtol=1e-12)
        np.testing.assert_allclose(jit(grad(f))(x), slopes, rtol=1e-12)
    np.testing.assert_allclose(vmap(f)(np.stack([x, 2 * x])), [f(x), f(2 * x)], rtol=1e-12)


def test_one_key_is_shown():
    def f(f, g, mask):
        for i in range(3):
            f[i, mask] = g[2 - i, mask]
            f[i, ~mask] += 1.0
        return np.sum(f * f)

    text = grad(f).source(Q.copy(), Q, M[:3])
    assert "f[i, mask] = g[2 - i, mask]" in text
    assert "f[i, ~mask] += 1.0" in text
    assert ".copy()\n" not in text.partition("for i")[2].partition("f_bar")[0]


def test_a_mask_of_another_length_is_refused():
    def f(x, mask):
        return np.sum(x[0, mask])

    def stored(x, mask):
        y = x * 1.0
        y[1, mask] = 2 * x[0, mask]
        return np.sum(y)

    def in_a_loop(x, mask):
        total = 0.0
        for k in range(3):
            total += np.sum(x[k, mask] ** 2) * k
        return total

    for each in (f, stored, in_a_loop):
        for g in (each, grad(each), jit(each), jit(grad(each))):
            with pytest.raises(IndexError, match="boolean index did not match"):
                g(Q, M[:2])


def test_an_integer_out_of_bounds():
    def f(x):
        return np.sum(x[7, Q[0] > 0])

    for g in (f, jit(f), grad(f)):
        with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 6"):
            g(Q)


def test_a_part_that_a_loop_starts_with_is_kept():
    kind, numbers = Type(np.dtype(float), (2, 3)), Type(np.dtype(float), (3,))
    x, mask = Var(kind, "x"), Var(Type(np.dtype(bool), (3,)), "mask")
    total, k, out = Var(numbers, "total"), Var(INT, "k"), Var(numbers, "out")
    with building(Builder()) as b:
        p = index(x, key=(1,))
        chosen = gather(p, mask, key=(Slot(0),))
        body = Block((k, total), (), (total,))
        b.emit(For((out,), atom(0), atom(3), atom(1), (p,), body))
    block = Block((x, mask), tuple(b.blocks[0]), (chosen, out))
    verify(whole_mask_keys(block), "whole_mask_keys", ())
