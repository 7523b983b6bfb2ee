"""Arrays in kernels with lengths that only the loop knows: they get longer where it asks for it."""

import warnings

import numpy as np
import pytest

from tapeless import PerformanceWarning, grad, jit, vmap
from tests.transforms.lowering.lists.test_lists_of_numbers import agrees

COUNTS = [np.array([1, 3, 4, 7]), np.array([65, 2, 300, 64]), np.array([], dtype=int)]


def softmax_of_counts(x, counts):
    total = 0.0
    for i in range(len(counts)):
        m = counts[i]
        a = np.zeros(m)
        for k in range(m):
            a[k] = np.sin(x[k] * i)
        b = np.exp(a - np.max(a))
        total += np.sum(b / np.sum(b) * a)
    return total


def by_arithmetic(x, counts):
    total = 0.0
    for i in range(len(counts)):
        z = np.arange(counts[i]) * x[i]
        w = np.sin(z)
        v = w[::-1] * z
        total += np.sum(v * w) + np.max(v) + z[-1]
    return total


def on_one_side(x, counts):
    total = 0.0
    for i in range(len(counts)):
        if x[i] > 0.3:
            z = np.ones(counts[i]) * x[i]
            z[0] = 2.0
            total += np.sum(np.exp(-z)) * z[-1]
        else:
            total += x[i]
    return total


def nested(x, counts):
    total = 0.0
    for i in range(len(counts)):
        for j in range(1, counts[i] % 5 + 1):
            w = np.full(j * 20, x[i])
            u = np.cumsum(w)
            total += u[-1] * np.sum(w * u)
    return total


def tables(x, counts):
    total = 0.0
    for i in range(len(counts)):
        m = counts[i] % 7 + 1
        w = np.outer(np.arange(m), x[: m + 2]) + x[i]
        u = np.exp(-w) / (1 + np.sum(w, axis=0))
        total += np.sum(u * w) + np.max(np.sum(u, axis=1)) + u[-1, 0]
    return total


def whole(x, counts):
    total = 0.0
    for i in range(len(counts)):
        z = np.sin(np.arange(counts[i]) * x[i])
        total += np.sort(z)[0] + np.median(z)
    return total


PROGRAMS = [softmax_of_counts, by_arithmetic, on_one_side, nested, tables]


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("f", PROGRAMS)
def test_values(f, counts):
    x = np.random.default_rng(0).random(300)
    compiled = jit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerformanceWarning)
        value = compiled(x, counts)
    np.testing.assert_allclose(value, f(x, counts), rtol=1e-12)


@pytest.mark.parametrize("counts", COUNTS[:2])
@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f, counts):
    x = np.random.default_rng(1).random(300)
    agrees(f, x, counts, argnums=(0,))
    batch = np.random.default_rng(2).random((3, 300))
    rows = [grad(f)(row, counts) for row in batch]
    np.testing.assert_allclose(jit(vmap(grad(f), (0, None)))(batch, counts), rows, rtol=1e-9)


def test_one_compiled_program_serves_all_lengths():
    compiled = jit(by_arithmetic)
    x = np.random.default_rng(3).random(300)
    for counts in (np.array([2, 5]), np.array([100, 3, 80]), np.array([4000])):
        np.testing.assert_allclose(compiled(x, counts), by_arithmetic(x, counts), rtol=1e-12)


def test_a_negative_length_is_told():
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        jit(softmax_of_counts)(np.ones(3), np.array([1, -2]))


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
@pytest.mark.parametrize("counts", COUNTS[:2])
def test_functions_that_take_whole_arrays(counts):
    x = np.random.default_rng(4).random(300)
    np.testing.assert_allclose(jit(whole)(x, counts), whole(x, counts), rtol=1e-12)
    np.testing.assert_allclose(jit(grad(whole))(x, counts), grad(whole)(x, counts), rtol=1e-9)
