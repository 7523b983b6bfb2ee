"""jit with threads: the same bits for any number of them, from any thread of Python."""

import threading

import numpy as np
import pytest

import tapeless
from tapeless import jit


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def broadcast(x, y):
    return np.sin(x) + np.cos(y)


def recurrence(x, y):
    for _ in range(10):
        x = 0.5 * x + 0.1 * np.sin(x + y)
    return x


def softmax(x, y):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True) * y


def sums(x, y):
    return np.sum(x * y), np.sum(x, axis=0), np.max(x), np.all(x < 9, axis=0), np.mean(x / y)


def standardised(x, y):
    return (x - np.mean(x, axis=0)) / np.std(x, axis=0) + y


def loss(x, y):
    return np.sum(np.tanh(x * y) ** 2)


FUNCTIONS = [broadcast, recurrence, softmax, sums, standardised, tapeless.grad(loss, (0, 1))]
SHAPE = (7200, 901)  # several parts, of which the last is smaller


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_same_bits_for_any_number_of_threads(monkeypatch, function):
    x, y = normal(*SHAPE), 1 + normal(SHAPE[1]) ** 2
    compiled = jit(function)
    assert "in_parallel" in compiled.source(x, y)
    found = []
    for n in ("1", "2", "3", "7"):
        monkeypatch.setenv("TAPELESS_NUM_THREADS", n)
        found.append(compiled(x, y))
    for other in found[1:]:
        np.testing.assert_equal(other, found[0])
    one = jit(function, parallel=False)(x, y)
    for made, want, alone in zip(parts(found[0]), parts(function(x, y)), parts(one), strict=True):
        np.testing.assert_allclose(made, want, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(made, alone, rtol=1e-11, atol=1e-11)


def parts(value):
    return value if isinstance(value, tuple) else (value,)


def test_from_several_threads_of_python(monkeypatch):
    monkeypatch.setenv("TAPELESS_NUM_THREADS", "3")
    x, y = normal(*SHAPE), np.ones(SHAPE[1])
    compiled, failed = jit(standardised), []
    want = [compiled(x + k, y * k) for k in range(4)]

    def call(k):
        failed.extend(k for _ in range(4) if not (compiled(x + k, y * k) == want[k]).all())

    callers = [threading.Thread(target=call, args=(k,)) for k in range(4)]
    for c in callers:
        c.start()
    for c in callers:
        c.join(timeout=60)
    assert not any(c.is_alive() for c in callers)
    assert failed == []


def test_errors_of_parts_are_those_of_python(monkeypatch):
    monkeypatch.setenv("TAPELESS_NUM_THREADS", "3")

    def picked(x, k):
        return np.exp(x[k])

    x, k = normal(100), np.zeros(1_000_000, int)
    k[700_000] = 100
    compiled = jit(picked)
    with pytest.raises(IndexError, match="out of bounds"):
        compiled(x, k)
    k[700_000] = -100
    np.testing.assert_allclose(compiled(x, k), np.exp(x[k]))


def test_arrays_of_the_caller_are_overwritten(monkeypatch):
    monkeypatch.setenv("TAPELESS_NUM_THREADS", "3")

    def scaled(x, y):
        x *= np.exp(y)

    x, y = normal(*SHAPE), normal(SHAPE[1])
    want = x * np.exp(y)
    jit(scaled)(x, y)
    np.testing.assert_allclose(x, want)


def number_of_rows(a, x, y):
    rows = a + a + np.sum(x * y, axis=1)
    last = rows[-1:].reshape(())
    for _ in range(3):
        if last > 3:
            last = last * 0.5
    return last, rows


def test_a_number_of_an_array_is_read_when_all_threads_have_stored_their_rows(monkeypatch):
    args = normal(SHAPE[0]), normal(*SHAPE), normal(SHAPE[1])
    for n in ("1", "2", "7"):
        monkeypatch.setenv("TAPELESS_NUM_THREADS", n)
        for made, want in zip(jit(number_of_rows)(*args), number_of_rows(*args), strict=True):
            np.testing.assert_allclose(made, want, rtol=1e-9, atol=1e-9)
