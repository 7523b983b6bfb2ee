"""Products with triangular matrices, and products of which a triangle is read: a part of the work,
and the same values."""

import re

import numpy as np
import pytest

from tapeless import grad, jit

N = 200  # more than two blocks, and no multiple of one
RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, N, N))
K = A @ A.T / N + np.eye(N)

PROGRAMS = {
    "lower_product": lambda a, b: np.tril(a) @ b,
    "upper_product": lambda a, b: np.triu(a) @ b,
    "upper_product ": lambda a, b: a @ np.tril(b),  # of the transposes
    "lower_product ": lambda a, b: a @ np.triu(b),
    "lower_product_below": lambda a, b: np.tril(a) @ np.tril(b, -1),
    "upper_product_above": lambda a, b: np.triu(a) @ np.triu(b),
    "product_below": lambda a, b: np.tril(a @ b),
    "product_above": lambda a, b: np.triu(np.exp(-0.01 * (a @ b)) - 1.0, 1),
    "upper_product_below": lambda a, b: np.tril(np.triu(a) @ b),
    "lower_product_above": lambda a, b: np.triu(np.tril(a) @ (b + a)),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name, dtype):
    f, args = PROGRAMS[name], (A.astype(dtype), B.astype(dtype))
    compiled = jit(f)
    assert f"def {name.strip()}(" in compiled.source(*args)
    result, expected = compiled(*args), f(*args)
    assert result.dtype == expected.dtype
    size = np.max(np.abs(expected))
    np.testing.assert_allclose(
        result, expected, atol=size * (1e-5 if dtype == np.float32 else 1e-13)
    )


@pytest.mark.parametrize("n", [0, 1, 63, 64, 129])
def test_other_sizes(n):
    compiled = jit(PROGRAMS["upper_product_below"])
    compiled(A, B)
    a, b = A[:n, :n], B[:n, :n]
    expected = PROGRAMS["upper_product_below"](a, b)
    np.testing.assert_allclose(compiled(a, b), expected, atol=1e-12)


def read_twice(a, b):
    y = a @ b
    return np.tril(y) + y.T


def with_a_diagonal_above(a, b):
    return np.tril(a, 1) @ b, np.tril(a @ b, 1)


@pytest.mark.parametrize("f", [read_twice, with_a_diagonal_above])
def test_what_is_read_is_made(f):
    compiled = jit(f)
    assert not re.search(r"product\w*\(a, b, out=None", compiled.source(A, B))
    for one, other in zip(compiled(A, B), f(A, B), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_small_matrices_are_one_product():
    def f(a, b):
        return np.tril(a) @ b * 3

    assert "lower_product" not in jit(f).source(A[:20, :20], B[:20, :20])


def test_gradient_of_a_factor():
    def f(k):
        return np.sum(np.sin(np.linalg.cholesky(k)))

    slope = jit(grad(f))
    assert "upper_product_below" in slope.source(K)
    along = A + A.T
    difference = (f(K + 1e-6 * along) - f(K - 1e-6 * along)) / 2e-6
    np.testing.assert_allclose(np.sum(slope(K) * along), difference, rtol=1e-6)
