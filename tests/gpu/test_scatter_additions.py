"""Loops that add to elements that data names are shared by threads, whose additions are atomic."""

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit
from tests.gpu.emulator import ORDERS, emulating
from tests.gpu.test_programs import code_of

rng = np.random.default_rng(0)
x, rows, labels = rng.random(300), rng.random((300, 5)), rng.integers(-8, 8, 300)


def counts(x, labels):
    h = np.zeros(16, np.int64)
    for v in x:
        h[int(v * 16)] += 1
    return h


def sums(x, labels):
    h = np.zeros(8)
    for i in range(len(x)):
        h[labels[i]] += np.sin(x[i])
    return np.cumsum(h)


def sums_of_rows(rows, labels):
    h, n = np.zeros((8, rows.shape[1])), np.zeros(8)
    for i in range(len(rows)):
        h[labels[i]] = rows[i] * 2 + h[labels[i]]
        n[labels[i]] += 1
    return h / n[:, None]


def complex_sums(x, labels):
    h = np.zeros(8, complex)
    for i in range(len(x)):
        h[labels[i]] += np.exp(1j * x[i])
    return h


def pairs(x, labels):
    h = np.zeros((8, 8))
    for i in range(100):
        for j in range(i):
            h[labels[i], labels[j]] += x[i] * x[j]
    return h


def added_to_the_argument(x, labels):
    for i in range(len(labels) - 1):
        x[labels[i]] += labels[i + 1]
    return x


SHARED = [counts, sums, complex_sums, pairs, added_to_the_argument]


def is_atomic(function, *args):
    code = code_of(jit(function, backend="gpu").lower(*args).source())
    return any(word in code for word in ("atomicAdd(&", "add_to(&", "add_to_complex(&"))


@pytest.mark.parametrize("function", [*SHARED, sums_of_rows])
def test_additions_of_a_loop(function, gpu):
    first = rows if function is sums_of_rows else x
    run, expected = jit(function, backend="gpu"), function(first.copy(), labels)
    assert is_atomic(function, first, labels)
    for order in ORDERS:
        with emulating(order=order):
            found = tapeless.device_get(run(first.copy(), labels))
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("function", [sums, pairs])
def test_derivatives(function, gpu):
    slope = grad(lambda x: np.sum(function(x, labels) ** 2))
    found = tapeless.device_get(jit(slope, backend="gpu")(x))
    np.testing.assert_allclose(found, slope(x), rtol=1e-10)


def test_an_index_that_is_not_there_is_an_error(gpu):
    with pytest.raises(IndexError):
        tapeless.device_get(jit(sums, backend="gpu")(x, labels + 1))


def walk(x, labels):
    h, seen = np.zeros(8), np.zeros(len(labels))
    for i in range(len(labels)):
        h[labels[i]] += x[i]
        seen[i] = h[labels[i]]
    return seen


def read_at_another_place(x, labels):
    h = np.ones(8)
    for i in range(len(labels)):
        h[labels[i]] += 0.1 * h[3]
    return h


def also_overwritten(x, labels):
    h = np.zeros(8)
    for i in range(len(labels)):
        h[labels[i]] += x[i]
        h[3] = 0.0
    return h


def also_its_own(x, labels):
    for i in range(len(labels)):
        x[labels[i]] += 1.0
        x[i] += 2 * x[i]
    return x


@pytest.mark.parametrize("function", [walk, read_at_another_place, also_overwritten, also_its_own])
def test_loops_that_read_what_they_add_up_are_not_shared(function, gpu):
    assert not is_atomic(function, x, labels)
    found = tapeless.device_get(jit(function, backend="gpu")(x.copy(), labels))
    np.testing.assert_allclose(found, function(x.copy(), labels), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "uint64", "float32"])
def test_dtypes_with_atomic_additions(dtype, gpu):
    def added(weights, labels):
        h = np.zeros(8, weights.dtype)
        np.add.at(h, labels, weights)
        return h

    weights = (100 * x).astype(dtype)
    assert is_atomic(added, weights, labels)
    found = tapeless.device_get(jit(added, backend="gpu")(weights, labels))
    np.testing.assert_allclose(found, added(weights, labels), rtol=1e-5)
    assert found.dtype == dtype


@pytest.mark.parametrize("dtype", ["int16", "uint16", "bool"])
def test_dtypes_without_atomic_additions_are_not_shared(dtype, gpu):
    def added(weights, labels):
        h = np.zeros(8, weights.dtype)
        for i in range(len(labels)):
            h[labels[i]] = h[labels[i]] + weights[i]
        return h

    weights = (100 * x).astype(dtype)
    assert not is_atomic(added, weights, labels)
    found = tapeless.device_get(jit(added, backend="gpu")(weights, labels))
    np.testing.assert_array_equal(found, added(weights, labels))


def test_sums_as_written_are_in_order(gpu):
    run = jit(sums, backend="gpu", fastmath=False)
    assert "atomicAdd(&" not in code_of(run.lower(x, labels).source())
    np.testing.assert_array_equal(tapeless.device_get(run(x, labels)), sums(x, labels))
    run = jit(counts, backend="gpu", fastmath=False)
    assert "add_to(&" in code_of(run.lower(x, labels).source())
