"""Weighted sums over an axis in loops take no copy in the shape of a matrix."""

import re

import numpy as np
import pytest

from tapeless import grad, jit


def over_the_first(x, v):
    for t in range(3):
        x[0] = np.tensordot(v, x, 1) / (t + 2.0)
    return x


def over_the_last(x, v):
    for t in range(3 if x.shape[-1] == len(v) else 0):
        x[..., 0] = np.tensordot(x, v, 1) / (t + 2.0)
    return x


def over_two(x, v):
    """Of a product of matrices, which stays one."""
    for t in range(3):
        x[0] = np.tensordot(np.stack([v, 2 * v]), x, 1)[t % 2] * 0.1
    return x


def outer(x, v):
    for t in range(3):
        x = x + np.multiply.outer(v, x[t % 2])
    return x


def outer_of_columns(x, v):
    """What is split is the first axis, and not the last."""
    for _ in range(2):
        x = x + (v[:, None] * v[:, None]).reshape(x.shape[0], 1, 1)
    return x


@pytest.mark.parametrize("shape", [(4, 3, 4), (5, 2, 3, 5), (3, 3, 3), (3, 3, 1), (3, 1, 3)])
@pytest.mark.parametrize("f", [over_the_first, over_the_last, over_two, outer, outer_of_columns])
def test_values_and_slopes(f, shape, rng):
    if f is outer_of_columns and len(shape) != 3:
        shape = shape[:3]
    x, v = rng.normal(size=shape), rng.normal(size=shape[0])
    np.testing.assert_allclose(jit(f)(x.copy(), v), f(x.copy(), v), rtol=1e-11)

    def loss(x, v):
        return np.sum(np.sin(f(x, v)))

    plain = grad(loss, argnums=(0, 1))
    for got, want in zip(jit(plain)(x.copy(), v), plain(x.copy(), v), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


def test_no_copy(rng):
    x, v = rng.normal(size=(4, 3, 5)), rng.normal(size=4)
    source = jit(over_the_first).source(x, v)
    assert re.search(r"plus\(\w+\[j, k\], v\[i\] \* x\[i, j, k\]\)", source), source
