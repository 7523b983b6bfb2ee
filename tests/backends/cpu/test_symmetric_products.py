"""Of a product of a matrix and its transpose one triangle is multiplied; the other one is equal."""

import numpy as np
import pytest

from tapeless import jit
from tapeless.backends.cpu import shared_functions

RNG = np.random.default_rng(0)


def of_columns(x):
    return np.tanh(x.T @ x)


def of_rows(x):
    return np.tanh(x @ x.T)


def of_two(x, y):
    return np.tanh(x.T @ y)


@pytest.mark.parametrize("f", [of_columns, of_rows])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(300, 193), (193, 300), (250, 250), (3, 400), (1, 200)])
def test_values(f, dtype, shape):
    x = (RNG.normal(size=shape) * 0.1).astype(dtype)
    product = jit(f)(x)
    np.testing.assert_allclose(product, f(x), atol=1e-6 if dtype == "f4" else 1e-14)


def test_parts_and_strides():
    x = RNG.normal(size=(600, 450))[::2, 1::2] * 0.1
    np.testing.assert_allclose(jit(of_columns)(x), of_columns(x), atol=1e-14)
    np.testing.assert_allclose(jit(of_columns)(x.T), of_columns(x.T), atol=1e-14)


def test_other_matrices():
    x, y = RNG.normal(size=(2, 300, 250)) * 0.1
    np.testing.assert_allclose(jit(of_two)(x, y), of_two(x, y), atol=1e-14)


def small(x, y):
    return np.tanh(x @ y) @ y


def test_kernels_share_the_code_of_products(tmp_path, monkeypatch):
    monkeypatch.setenv("TAPELESS_CACHE_DIR", str(tmp_path))
    shared_functions._introduce.cache_clear()
    x, y = RNG.normal(size=(2, 6, 6)) * 0.1
    for f in (of_two, small):
        np.testing.assert_allclose(jit(f)(x, y), f(x, y), atol=1e-14)
    assert len([*tmp_path.rglob("tapeless_product_d*.object")]) == 1


@pytest.mark.parametrize("turned", ["neither", "first", "second", "both"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    "lengths", [(2, 5, 3), (1, 1, 1), (3, 1, 4), (1, 6, 7), (7, 16, 4), (3, 17, 5), (8, 8, 8)]
)
def test_small_products_of_known_lengths(turned, dtype, lengths):
    m, n, k = lengths

    def f(x):
        total = np.zeros((m, n), x.dtype)
        for i in range(len(x)):
            first = x[i, :k, :m].T if turned in ("first", "both") else x[i, :m, :k]
            second = x[i, :n, :k].T if turned in ("second", "both") else x[i, :k, :n]
            total = np.tanh(total + 0.1 * (first @ second))
        return total

    x = RNG.normal(size=(4, 17, 19)).astype(dtype)
    np.testing.assert_allclose(jit(f)(x), f(x), atol=1e-6 if dtype == "f4" else 1e-14)
    np.testing.assert_allclose(jit(f)(x[:0]), f(x[:0]))
