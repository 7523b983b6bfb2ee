"""Functions under functools.cache: a staged run calls them once for equal arguments."""

import functools

import numpy as np

import tapeless


@functools.cache
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def edits(a, b):
    """Levenshtein's distance; without the cache it takes 3 ** 9 calls."""

    @functools.cache
    def rest(i, j):
        if i >= len(a) or j >= len(b):
            return len(a) - i + len(b) - j
        differ = int(a[i] != b[j])
        return min(1 + rest(i + 1, j), 1 + rest(i, j + 1), differ + rest(i + 1, j + 1))

    return rest(0, 0)


@functools.lru_cache
def doubling(x):
    return x * 2


def test_recursion_that_branches():
    assert tapeless.jit(fibonacci)(60) == fibonacci(60)
    assert tapeless.jit(edits)("intention", "execution") == 5


def test_values_by_data():
    def total(x, y):
        made = doubling(x) + doubling(y) + doubling(x)
        if x > 0:
            made = made + doubling(3.0) + doubling(x)
        return made + doubling(3.0)

    assert tapeless.jit(total)(1.0, 2.0) == 22.0
    assert tapeless.jit(total)(-1.0, 2.0) == 6.0
    assert tapeless.grad(total)(1.0, 2.0) == 6.0


def test_in_passes_of_a_loop():
    def squares(x):
        made = 0.0
        for v in x:
            made = made + doubling(v) * doubling(v)
        return made

    x = np.array([1.0, 2.0, 3.0])
    assert tapeless.jit(squares)(x) == 56.0
    np.testing.assert_allclose(tapeless.grad(squares)(x), 8 * x)
