"""Sums of products of matrices are products of sums, where nothing else reads the product."""

import numpy as np
import pytest

from tapeless import grad, jit

RNG = np.random.default_rng(0)
A, B, C = RNG.normal(size=(50, 7)), RNG.normal(size=(7, 6)), RNG.normal(size=(50, 6))


def by_rows(a, b, c):
    return np.sum(a @ b, axis=0)


def by_columns(a, b, c):
    return np.sum(a @ b, axis=1)


def of_both(a, b, c):
    return np.sum(a @ b)


def with_others(a, b, c):
    return np.sum(c - (a @ b + 2 * c), axis=0)


def of_two(a, b, c):
    return np.sum(a @ b - c @ (b.T @ b), axis=0)


def in_a_loop(a, b, c):
    total = np.zeros(6, a.dtype)
    for k in range(3):
        total = total + np.sum((a + k) @ b, axis=0)
    return total


def read_twice(a, b, c):
    p = a @ b
    return np.sum(p, axis=0) + p[0]


def kept_axes(a, b, c):
    return np.sum(a @ b, axis=0, keepdims=True)


def spread(a, b, c):
    return np.sum(a @ b + c[0], axis=0)


@pytest.mark.parametrize(
    ("f", "products"),
    [
        (by_rows, 0),
        (by_columns, 0),
        (of_both, 0),
        (with_others, 0),
        (of_two, 1),
        (in_a_loop, 0),
        (read_twice, 1),
        (kept_axes, 1),
        (spread, 1),
    ],
)
def test_values_and_products(f, products):
    compiled = jit(f)
    np.testing.assert_allclose(compiled(A, B, C), f(A, B, C), rtol=1e-11, atol=1e-12)
    source = compiled.source()
    matrices = source.count("product(") - source.count("def product(") - source.count("_product(")
    matrices += source.count("matrix(") - source.count("def matrix(")
    assert matrices + source.count(".T @") == products
    single = [x.astype(np.float32) for x in (A, B, C)]
    assert jit(f)(*single).dtype == np.float32
    np.testing.assert_allclose(jit(f)(*single), f(A, B, C), rtol=1e-3, atol=1e-3)


def test_the_slope_of_a_centre():
    def loss(centre, x, w):
        return np.sum(np.tanh((x - centre) @ w) ** 2)

    centre = RNG.normal(size=7)
    slope = jit(grad(loss))
    assert slope.lower(centre, A, B).source().count("    product(") == 1  # forward only
    steps = 1e-6 * np.eye(7)
    wanted = [(loss(centre + h, A, B) - loss(centre - h, A, B)) / 2e-6 for h in steps]
    np.testing.assert_allclose(slope(centre, A, B), wanted, rtol=1e-6)


def test_they_can_be_left_in_order():
    f = jit(by_rows, fastmath=False)
    np.testing.assert_allclose(f(A, B, C), by_rows(A, B, C), rtol=1e-11, atol=1e-12)
    assert "@" in f.source() or "product(" in f.source()


def test_integers_are_multiplied_as_they_are_written():
    n = [np.arange(6).reshape(2, 3), np.arange(6).reshape(3, 2), np.ones((2, 2), int)]
    np.testing.assert_array_equal(jit(by_rows)(*n), by_rows(*n))


@pytest.mark.parametrize("f", [with_others, by_rows])
def test_lengths_that_do_not_fit(f):
    args = (A, B, C[:-1]) if f is with_others else (A, B[:-1], C)
    with pytest.raises(ValueError, match=r"broadcast|do not fit|mismatch|lengths"):
        jit(f)(*args)
    compiled = jit(f)
    compiled(A, B, C)
    with pytest.raises(ValueError, match=r"broadcast|do not fit|mismatch|lengths"):
        compiled(*args)
