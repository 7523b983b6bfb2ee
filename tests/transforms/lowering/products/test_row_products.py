"""Products of rows of several axes: loops make rows for them, and read them, one at a time."""

import numpy as np
import pytest

import tapeless
from tapeless import jit

RNG = np.random.default_rng(11)


def windows(x):
    made = np.zeros((x.shape[0], 60, 60, 5), x.dtype)
    for j in range(5):
        made[:, :, :, j] = x[:, j : j + 60, 2:62] * (j + 1)
    return made


def forwards(x, b):
    y = windows(x).reshape(x.shape[0] * 3600, 5) @ b.reshape(5, 3)
    return np.maximum(y.reshape(x.shape[0], 60, 60, 3), 0)


def total(x, b):
    return np.sum(forwards(x, b) ** 2)


def arguments(n, dtype=float):
    x = RNG.standard_normal((n, 64, 62)).astype(dtype)
    return x, RNG.standard_normal((5, 3)).astype(dtype)


@pytest.mark.parametrize("n", [0, 1, 2, 40])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_values_for_any_number_of_rows(n, dtype):
    f, (x, b) = jit(forwards), arguments(n, dtype)
    got = f(x, b)
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_allclose(got, forwards(x, b), atol=1e-4 if dtype == "f4" else 1e-12)
    np.testing.assert_allclose(f(x[:, ::-1], b), forwards(x[:, ::-1], b), atol=1e-4)
    np.testing.assert_allclose(f(x, b[::-1]), forwards(x, b[::-1]), atol=1e-4)


def test_the_product_is_a_call_for_each_row():
    x, b = arguments(3)
    text = jit(forwards).source(x, b)
    assert "product(matrix(" in text
    assert text.count("for i in range(first, last):") == 1


def test_what_is_read_elsewhere_is_made_as_a_whole():
    def both(x, b):
        made = windows(x)
        return (made.reshape(x.shape[0] * 3600, 5) @ b).reshape(x.shape[0], 60, 60, 3), made

    x, b = arguments(3)
    text = jit(both).source(x, b)
    assert "matrix(" not in text
    for got, wanted in zip(jit(both)(x, b), both(x, b), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-12)


def test_slopes():
    x, b = arguments(3)
    got = jit(tapeless.grad(total, (0, 1)))(x, b)
    for k, array in enumerate((x, b)):
        step = 1e-6 * RNG.standard_normal(array.shape)
        high, low = ([x, b] for _ in range(2))
        high[k], low[k] = array + step, array - step
        slope = (total(*high) - total(*low)) / 2
        np.testing.assert_allclose(np.sum(got[k] * step), slope, rtol=1e-4)
