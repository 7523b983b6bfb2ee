"""The largest and the smallest number, and sizes of complex numbers, on vectors."""

import numpy as np
import pytest

from tapeless import grad, jit
from tests.backends.cpu.test_maths import load, module

SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.0])


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_pairs_of_odd_numbers(dtype):
    x, y = (a.ravel().astype(dtype) for a in np.meshgrid(SPECIAL, SPECIAL))

    def both(x, y):
        return np.maximum(x, y) + 1, np.minimum(x, y) - 1

    with np.errstate(invalid="ignore"):
        for got, want in zip(jit(both)(x, y), both(x, y), strict=True):
            np.testing.assert_array_equal(got, want)
            assert got.dtype == want.dtype


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("n", [1, 3, 8, 100, 1003])
def test_reductions(dtype, n, rng):
    def spread(x):
        return np.max(x) - np.min(x), np.max(x, axis=-1) * 2

    x = rng.normal(size=n).astype(dtype)
    for row in (x, np.where(np.arange(n) == n // 2, np.nan, x).astype(dtype), -np.inf * np.ones(n)):
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(jit(spread)(row), spread(row))


def test_rows(rng):
    def softmax(a):
        e = np.exp(a - a.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    a = rng.normal(size=(37, 41))
    np.testing.assert_allclose(jit(softmax)(a), softmax(a), rtol=1e-13)
    slope = grad(lambda a: np.sum(softmax(a) * np.cos(a)))
    np.testing.assert_allclose(jit(slope)(a), slope(a), rtol=1e-11, atol=1e-14)


def test_one_operation_says_it():
    body = """best = -np.inf
    for i in range(x.shape[0]):
        t = x[i]
        best = t if t > best or t != t else best
    return best"""
    f = load("f", module(f'@njit(nogil=True, error_model="numpy")\ndef f(x):\n    {body}\n'))
    x = np.arange(100.0)
    assert f(x) == 99.0
    x[50] = np.nan
    assert np.isnan(f(x))


@pytest.mark.parametrize("dtype", ["c16", "c8"])
def test_sizes_of_complex_numbers(dtype, rng):
    def size(z):
        return np.abs(z) * 2

    parts = np.concatenate([SPECIAL, [1e300, 1e-300, 3.0, 4.0]])
    with np.errstate(over="ignore"):
        odd = np.array([complex(a, b) for a in parts for b in parts]).astype(dtype)
    z = (rng.normal(size=50) + 1j * rng.normal(size=50)).astype(dtype)
    with np.errstate(all="ignore"):
        for values in (z, odd):
            got, want = jit(size)(values), size(values)
            np.testing.assert_allclose(got, want, rtol=1e-6 if dtype == "c8" else 1e-14)
            assert got.dtype == want.dtype


@pytest.mark.parametrize("at", [None, (0, 3), (4, 0), (8, 20)])
def test_columns(at, rng):
    """Each row is compared with the largest numbers so far, which are stored."""

    def spread(a):
        return np.max(a, axis=0) * 2, np.min(a, axis=0) - 1

    a = rng.normal(size=(9, 21))
    a[2] = 0.0
    a[5, ::2] = -np.inf
    if at is not None:
        a[at] = np.nan
    for got, want in zip(jit(spread)(a), spread(a), strict=True):
        np.testing.assert_array_equal(got, want)
