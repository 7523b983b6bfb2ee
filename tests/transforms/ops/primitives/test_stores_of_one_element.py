"""Stores of vectors, and into parts, that happen to have one element in a call."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tests.corpus.differences import gradient


def into_one(x, y):
    x = x.copy()
    x[:1] = y[1:] * 2
    return x


def added_to_one(x, y):
    x = x * 2
    x[:1] += y[1:] ** 2
    return x


def stretched(x, y):
    x = x.copy()
    x[:] = y[1:] * 3
    return x


def columns(x, y):
    m = np.outer(x, x)
    m[:, :1] = y[1:, None]
    m[1:, 2:] = y[:-1] * x[0]
    return m


def in_a_loop(x, y):
    x = x * 1.0
    for k in range(2):
        x[k : k + 1] = y[1:] * k + x[2]
        x[1:] *= y[1:]
    return x


STORES = [into_one, added_to_one, stretched, columns, in_a_loop]
X = np.arange(1.0, 4.0)


@pytest.mark.parametrize("f", STORES)
def test_one_element(f):
    y = np.array([1.0, 2.0])
    np.testing.assert_allclose(jit(f)(X, y), f(X, y), rtol=1e-14)
    xs, ys = np.stack([X, X + 1]), np.stack([y, y * 2])
    each = [f(a, b) for a, b in zip(xs, ys, strict=True)]
    np.testing.assert_allclose(jit(vmap(f))(xs, ys), each, rtol=1e-14)

    def total(x, y):
        return np.sum(np.sin(np.arange(1.0, 4.0) * f(x, y)))

    slope = gradient(lambda v: total(v[:3], v[3:]), np.concatenate([X, y]))
    for g in (grad(total, (0, 1)), jit(grad(total, (0, 1)))):
        np.testing.assert_allclose(np.concatenate(g(X, y)), slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", STORES)
@pytest.mark.parametrize("n", [3, 4])
def test_other_lengths_are_as_in_numpy(f, n):
    y = np.arange(1.0, n + 1)
    compiled = jit(f)
    compiled(X, y[:2])
    try:
        expected = f(X, y)
    except ValueError:
        with pytest.raises(ValueError, match="broadcast"):
            compiled(X, y)
    else:
        np.testing.assert_allclose(compiled(X, y), expected, rtol=1e-14)
