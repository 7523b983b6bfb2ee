"""Sizes that are computed by rounding quotients in floating point."""

import math

import numpy as np
import pytest

import tapeless


def after_division(n, k, s):
    return int((n - k) / s) + 1, int((n - k) / s + 1), int(1 + (n - k) / float(s))


def floors(n, k, s):
    return int(np.floor((n - k) / s)), math.floor(-n / s), math.floor((n + 0.5) / 2)


def ceilings(n, k, s):
    return int(np.ceil(float(n) / s)), math.ceil((n - k) / s), -math.ceil(-n / 4.0) + 2


def whole_parts(n, k, s):
    return int((k - n) / s), math.trunc(2.5 + n / 2), int(n * 0.5), int(0.75 * n)


def inexact(n, k, s):
    return int(n / 3 * 3), int(np.float32(n) / 3), int(n / 7 + n / 3), int(n * 0.3), int(1 / 3)


FUNCTIONS = (after_division, floors, ceilings, whole_parts, inexact)


@pytest.mark.parametrize("lengths", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("s", [1, 2, 3, 7])
def test_the_number_is_that_of_python(lengths, s):
    f = tapeless.vmap(lambda x: x * np.array(lengths(len(x), 3, s))[:, None])
    for n in (2, 3, 5, 8, 47, 49):
        np.testing.assert_array_equal(
            f(np.ones((1, n)))[0], np.ones(n) * np.array(lengths(n, 3, s))[:, None]
        )


def windows(x, k, s):
    n = int((len(x) - k) / s) + 1
    out = np.zeros((n, k))
    for j in range(k):
        out[:, j] = x[j : j + s * n : s]
    return out.reshape(n * k, -1).reshape((len(x) - k) // s + 1, -1)


@pytest.mark.parametrize("s", [1, 2, 3])
def test_it_is_the_length_that_integers_give(s):
    f = tapeless.grad(lambda x: np.sum(windows(x, 3, s) ** 2))
    assert "trunc" not in f.source(np.ones(9))
    for n in (9, 12, 20):
        x = np.arange(1.0, n + 1)
        counts = np.zeros(n)
        for j in range((n - 3) // s + 1):
            counts[s * j : s * j + 3] += 1
        np.testing.assert_allclose(f(x), 2 * x * counts)
    assert len(f.compilations) == 1 if hasattr(f, "compilations") else True


def image_columns(x, k, s, pad):
    n, c, h, w = x.shape
    rows, columns = int(1 + (h + 2 * pad - k) / s), int(1 + (w + 2 * pad - k) / s)
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    col = np.zeros((n, c, k, k, (h + 2 * pad - k) // s + 1, (w + 2 * pad - k) // s + 1))
    for i in range(k):
        for j in range(k):
            col[:, :, i, j] = padded[:, :, i : i + s * rows : s, j : j + s * columns : s]
    return col.transpose(0, 4, 5, 1, 2, 3).reshape(n * rows * columns, -1), rows, columns


def network(x, w, v):
    h = x
    for weights, s, pad in ((w, 1, 1), (v, 2, 0)):
        col, rows, columns = image_columns(h, weights.shape[2], s, pad)
        h = (col @ weights.reshape(weights.shape[0], -1).T).reshape(len(x), rows, columns, -1)
        h = np.maximum(h.transpose(0, 3, 1, 2), 0)
    return np.sum(h**2)


def test_lengths_of_convolutions_stay_short():
    r = np.random.default_rng(0)
    args = r.normal(size=(2, 3, 8, 9)), r.normal(size=(4, 3, 3, 3)), r.normal(size=(2, 4, 3, 3))
    f = tapeless.jit(tapeless.value_and_grad(network, argnums=(1, 2)))
    value, slopes = f(*args)
    np.testing.assert_allclose(value, network(*args))
    for k, slope in enumerate(slopes, 1):
        d = r.normal(size=args[k].shape)
        high, low = (
            network(*(a + sign * 1e-6 * d if j == k else a for j, a in enumerate(args)))
            for sign in (1, -1)
        )
        np.testing.assert_allclose(np.sum(slope * d), (high - low) / 2e-6, rtol=1e-6)
    assert len(f.source(*args)) < 40_000
