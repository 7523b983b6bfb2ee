"""Loops of the user whose passes threads may share, and those that depend on each other."""

import numpy as np
import pytest

from tapeless import jit, vmap
from tapeless.backends.cpu.runtime import threads

rng = np.random.default_rng(0)
X = rng.normal(size=200)
ROWS = rng.normal(size=(60, 3))


def shared(function, *args):
    text = jit(function).source(*args)
    return "in_parallel(" in text[text.rindex("\ndef ") :]


@pytest.fixture
def small_parts(monkeypatch):
    """Parts of few passes, so that there are many."""
    monkeypatch.setattr(threads, "PART", 200)
    monkeypatch.setattr(threads, "SHARE", 1)


def iterated(x, n):
    out, total = np.zeros(len(x)), 0.0
    for i in range(len(x)):
        v = x[i]
        for k in range(n):
            v = np.sin(v) + 0.1 * k
        out[i] = v
        out[i] += 1
        total = total + v * v - 0.5 * v
    return out, total


def medians(x):
    out = np.zeros(len(x))
    for i in range(3, len(x) - 3):
        out[i] = np.median(x[i - 3 : i + 4])
    return out


def escape(c):
    counts = np.zeros(c.shape, int)
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            z, n = 0j, 0
            while abs(z) < 2 and n < 50:
                z, n = z * z + c[i, j], n + 1
            counts[i, j] = n
    return counts


def solved_rows(a, b):
    out = np.zeros_like(b)
    for i in range(len(b)):
        if b[i, 0] > 0:
            out[i] = np.linalg.solve(a, b[i])
        else:
            out[i, 0] = 1.0
    return out


def added_in_places(x, n):
    total, other = 0.0, 0.0
    for i in range(len(x)):
        if x[i] > 0:
            total = total + np.sin(x[i])
        for k in range(n):
            other -= x[i] * k
            if k > x[i]:
                other += 1.0
    return total, other


def running_columns(x):
    out = np.zeros_like(x)
    for j in range(x.shape[1]):
        total = 0.0
        for i in range(x.shape[0]):
            total = np.sin(total) + x[i, j]
            out[i, j] = total
    return out


APART = {
    "columns": (running_columns, ROWS.T.copy()),
    "sums in branches and loops": (added_in_places, X, 3),
    "a number and an array": (iterated, X, 9),
    "parts of another array": (medians, X),
    "loops inside": (escape, np.linspace(-2, 1, 24)[:, None] + 1j * np.linspace(-1, 1, 9)),
    "rows and branches": (solved_rows, np.eye(3) + 0.3, ROWS),
}


@pytest.mark.parametrize("name", APART)
def test_the_same_bits_for_any_number_of_threads(monkeypatch, small_parts, name):
    function, *args = APART[name]
    assert shared(function, *args)
    compiled, found = jit(function), []
    for n in ("1", "2", "3", "7"):
        monkeypatch.setenv("TAPELESS_NUM_THREADS", n)
        found.append(compiled(*args))
    for other in found[1:]:
        np.testing.assert_equal(other, found[0])
    want = function(*args)
    for made, expected in zip(*map(as_tuple, (found[0], want)), strict=True):
        np.testing.assert_allclose(made, expected, rtol=1e-11)


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def reads_another_pass(x):
    out = np.zeros(len(x))
    for i in range(1, len(x)):
        out[i] = 0.5 * out[i - 1] + np.sin(x[i])
    return out


def stores_to_another_place(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i // 2] = np.sin(x[i]) if x[i] > 0 else x[i]
    return out


def counts_from_the_end(x):
    out = np.zeros(len(x))
    for i in range(-len(x), len(x)):
        out[i] = np.sin(out[i] + x[0])
    return out


def carries_a_number(x):
    total = 0.0
    for i in range(len(x)):
        total = 0.9 * total + np.sin(x[i])
    return total


def reads_the_sum(x):
    out, total = np.zeros(len(x)), 0.0
    for i in range(len(x)):
        total = total + np.sin(x[i])
        out[i] = total
    return out


def reads_the_sum_in_a_branch(x):
    total = 0.0
    for i in range(len(x)):
        if total < 3:
            total = total + np.sin(x[i]) ** 2
    return total


def sets_the_sum(x):
    total = 0.0
    for i in range(len(x)):
        total = total + np.sin(x[i]) if x[i] > 0 else np.cos(x[i])
    return total


def starts_elsewhere(x):
    total = x[0]
    for i in range(len(x)):
        total = total + np.sin(x[i]) * (2.0 if x[i] > 0 else 1.0)
    return total


def reads_the_whole(x):
    out = np.ones(len(x))
    for i in range(len(x)):
        out[i] = np.sum(out) + x[i]
    return out


def names_rows_and_columns(x):
    out = np.ones((14, 14))
    for j in range(14):
        for i in range(14):
            out[i, j] = 0.5 * out[i, j] + np.sin(x[i])
            out[j, i] = 0.5 * out[j, i] + np.cos(x[j])
    return out


def reads_the_column_before(x):
    out = np.ones((4, 50))
    for j in range(1, 50):
        for i in range(4):
            out[i, j] = np.sin(out[i, j - 1] + x[j])
    return out


def stops(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 2:
            break
        out[i] = np.sin(x[i])
    return out


DEPENDENT = [
    *(reads_another_pass, stores_to_another_place, counts_from_the_end, carries_a_number),
    *(reads_the_sum_in_a_branch, sets_the_sum, names_rows_and_columns, reads_the_column_before),
    *(reads_the_sum, starts_elsewhere, reads_the_whole, stops),
]


@pytest.mark.parametrize("function", DEPENDENT, ids=lambda f: f.__name__)
def test_passes_that_depend_on_each_other(small_parts, function):
    assert not shared(function, X)
    np.testing.assert_allclose(jit(function)(X), function(X), rtol=1e-11)


def test_the_first_pass_that_fails_is_the_one_that_raises(monkeypatch, small_parts):
    def picked(x, k):
        out = np.zeros(len(k))
        for i in range(len(k)):
            for _ in range(9):
                out[i] = np.sin(out[i] + x[k[i]])
        return out

    monkeypatch.setenv("TAPELESS_NUM_THREADS", "3")
    k = np.arange(200)
    assert shared(picked, X, k)
    np.testing.assert_allclose(jit(picked)(X, k), picked(X, k))
    with pytest.raises(IndexError):
        jit(picked)(X[:150], k)


def test_one_thread_by_request():
    text = jit(medians, parallel=False).source(X)
    assert "in_parallel" not in text


def test_elements_of_a_batch_may_call_small_routines(small_parts):
    def settled(b, a):
        while np.sum(b * b) > 1:
            b = np.sort(np.linalg.solve(a, b)) * 0.9
        return b

    a = 2 * np.eye(3) + 0.1
    compiled = jit(vmap(settled, (0, None)))
    np.testing.assert_allclose(compiled(ROWS, a), [settled(b, a) for b in ROWS], rtol=1e-9)
    assert "in_parallel(" in compiled.source(ROWS, a)
