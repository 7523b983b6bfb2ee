"""Functions under functools.cache: a staged run calls them once for equal arguments."""

import functools

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import UnsupportedError


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


def test_a_cache_is_cleared():
    def f(x):
        scale = [1.0]

        @functools.cache
        def scaled(i):
            return scale[0] * x[i]

        first = scaled(0)
        scale[0] = 2.0
        kept = scaled(0)
        scaled.cache_clear()
        return first + 10 * kept + 100 * scaled(0)

    x = np.array([1.5, 2.0])
    np.testing.assert_allclose(tapeless.jit(f)(x), f(x))
    np.testing.assert_allclose(tapeless.grad(f)(x), [211.0, 0.0])


@pytest.mark.parametrize("size", [0, 1, 2, None])
def test_a_full_cache_forgets_what_was_not_used_for_the_longest_time(size):
    def f(x):
        calls = []

        @functools.lru_cache(maxsize=size)
        def element(i):
            calls.append(i)
            return x[i]

        total = sum(element(i) * k for k, i in enumerate([0, 1, 0, 2, 0, 1, 1]))
        return total + len(calls)

    x = np.array([1.5, 2.0, 3.0])
    np.testing.assert_allclose(tapeless.jit(f)(x), f(x))


def test_counts_of_a_cache_are_refused():
    @functools.lru_cache
    def squared(x):
        return x * x

    def f(x):
        return squared(x) + squared(x) + squared.cache_info().hits

    with pytest.raises(UnsupportedError, match="are counted while staging"):
        tapeless.jit(f)(1.5)


class Model:
    def __init__(self, rate):
        self.rate = rate

    @functools.lru_cache(None)  # noqa: B019 - it lives as long as the test
    def factor(self):
        return np.exp(self.rate)


def kept_from_the_first_pass(x, s):
    model, total = Model(x), 0.0
    for v in s:
        total += model.factor() * v
        model.rate = model.rate + v
    return total + model.factor()


def of_a_variable_that_changes(x, s):
    state = {"a": x}

    @functools.lru_cache
    def scaled(k):
        return state["a"] * k

    total = 0.0
    for v in s:
        total += scaled(2) * v
        state["a"] = state["a"] + v
    return total + scaled(2) + scaled(3)


def calls_are_counted(x, s):
    calls = []

    @functools.cache
    def fib(n):
        calls.append(n)
        return x if n < 2 else fib(n - 1) + fib(n - 2) * x

    total = 0.0
    for v in s:
        total += fib(6) * v
    return total + len(calls)


def array_that_passes_change(x, s):
    @functools.cache
    def buffer(n):
        return np.zeros(n) + x

    for v in s:
        buffer(3)[0] += v
    return np.sum(buffer(3))


def list_that_passes_make_longer(x, s):
    @functools.cache
    def kept(name):
        return [x]

    for v in s:
        kept("a").append(v)
    return sum(kept("a"))


def another_function_in_each_pass(x, s):
    total = 0.0
    for v in s:

        @functools.cache
        def scaled(k, v=v):
            return v * k * x

        total += scaled(2) + scaled(2) + scaled(3)
    return total


IN_LOOPS = (
    kept_from_the_first_pass,
    of_a_variable_that_changes,
    calls_are_counted,
    array_that_passes_change,
    list_that_passes_make_longer,
    another_function_in_each_pass,
)


@pytest.mark.parametrize("f", IN_LOOPS, ids=lambda f: f.__name__)
def test_what_the_first_pass_keeps(f):
    s = np.array([1.0, 2.0, -1.0, 0.5])
    np.testing.assert_allclose(tapeless.jit(f)(0.3, s), f(0.3, s), rtol=1e-12)
    difference = (f(0.3 + 1e-6, s) - f(0.3 - 1e-6, s)) / 2e-6
    np.testing.assert_allclose(tapeless.grad(f)(0.3, s), difference, rtol=1e-6)
