"""Parts of arrays and threads: the same bits whatever their number, and no deadlocks."""

import threading

import numpy as np
import pytest

from tapeless.backends.numba import load, threads
from tapeless.backends.numba.threads import PART, accumulated, cut, in_parallel, partials, share
from tests.backends.numba.text import apart, module

BIG = 5 * PART + 17


@pytest.fixture(params=["1", "2", "5"])
def number(request, monkeypatch):
    monkeypatch.setenv("TAPELESS_NUM_THREADS", request.param)
    return int(request.param)


def test_how_many(monkeypatch):
    monkeypatch.setenv("TAPELESS_NUM_THREADS", "3")
    assert threads.threads() == 3
    for bad in ("", "0", "-1", "many"):
        monkeypatch.setenv("TAPELESS_NUM_THREADS", bad)
        assert threads.threads() >= 1


def test_each_row_is_done_once(number):
    seen = np.zeros((997, 1000))

    def kernel(part, k, whole):
        assert part.shape[0] <= 997
        assert (k, whole) == (5, "all")
        part += 1

    in_parallel(kernel, seen, 5, whole=("all",))
    assert (seen == 1).all()


def test_small_arrays_are_not_cut():
    assert cut(len, (np.zeros(PART),), 1) == (PART, 1)
    assert cut(len, (np.zeros(PART + 1),), 1)[1] == 2
    assert cut(len, (np.zeros((1, 9 * PART)),), 1)[1] == 1
    assert cut(len, (np.zeros(100),), 1e6) == (1, 100)
    assert cut(len, (np.zeros((0, 5)),), 1)[1] == 1
    assert cut(len, (3.0,), 1)[1] == 1


def test_parts_do_not_depend_on_the_number_of_threads(number):
    rows, count = cut(len, (np.zeros(BIG), np.zeros((BIG, 1))), 1)
    assert rows % 64 == 0
    assert (rows, count) == (PART, 6)


def test_the_same_bits_for_any_number_of_threads(monkeypatch, rng):
    f = load("f", apart("exp(v) * sin(v) + log(v * v + 1.0)"))
    x = rng.normal(size=BIG)
    found = []
    for n in ("1", "2", "4"):
        monkeypatch.setenv("TAPELESS_NUM_THREADS", n)
        found.append(f(x))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)
    np.testing.assert_allclose(found[0], np.exp(x) * np.sin(x) + np.log(x * x + 1), atol=1e-14)


SUM = module(
    """
    @njit(nogil=True)
    def f_kernel(x):
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i]
        return s


    def f(x):
        s = 0.0
        for part in partials(f_kernel, x):
            s += part
        return s


    @njit(nogil=True)
    def columns_kernel(x, out):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                out[j] += x[i, j]


    def columns(x):
        out = np.zeros(x.shape[1])
        accumulated(columns_kernel, out, x)
        return out
    """
)


def test_ordered_reductions(monkeypatch, rng):
    f, columns = load("f", SUM), load("columns", SUM)
    x = rng.normal(size=BIG)
    table = x[: BIG // 8 * 8].reshape(-1, 8)
    sums, rows = [], []
    for n in ("1", "2", "3"):
        monkeypatch.setenv("TAPELESS_NUM_THREADS", n)
        sums.append(f(x))
        rows.append(columns(table))
    assert len(set(sums)) == 1
    np.testing.assert_allclose(sums[0], np.sum(x), rtol=1e-12, atol=1e-9)
    assert all((r == rows[0]).all() for r in rows)
    np.testing.assert_allclose(rows[0], table.sum(axis=0), atol=1e-9)


def test_sums_of_parts_begin_at_what_is_there():
    out = np.array([1.0, 2.0])
    accumulated(lambda x, o: o.__iadd__(x.sum(axis=0)), out, np.ones((PART, 2)))
    np.testing.assert_array_equal(out, [PART + 1, PART + 2])
    accumulated(lambda x, o: o.__iadd__(x.sum(axis=0)), out, np.ones((3, 2)))
    np.testing.assert_array_equal(out, [PART + 4, PART + 5])


def test_views_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match=r"lengths \[\d+, \d+\]"):
        in_parallel(lambda x, y: None, np.zeros(BIG), np.zeros(BIG - 1))


def test_partial_results_are_in_order(number):
    x = np.arange(BIG)
    assert partials(lambda part: part[0], x) == list(range(0, BIG, PART))
    assert partials(lambda part: part[0], x[:5]) == [0]


def test_the_first_error_is_raised(number):
    def kernel(x):
        if x[0]:
            raise ValueError(int(x[0]))

    with pytest.raises(ValueError, match=f"^{PART}$"):
        in_parallel(kernel, np.arange(BIG))
    in_parallel(kernel, np.zeros(BIG))


def test_results_of_tasks(number):
    assert share(lambda k: k * k, 100) == [k * k for k in range(100)]


def test_nesting_does_not_block(number):
    def outer(k):
        return sum(share(lambda j: sum(share(lambda i: i + j, 3)), 4))

    assert share(outer, 6) == [30] * 6


def test_many_callers_at_once(monkeypatch):
    monkeypatch.setenv("TAPELESS_NUM_THREADS", "3")
    f = load("f", apart("v * 2 + 1"))
    x = np.arange(BIG, dtype=float)
    f(x)
    failed, barrier = [], threading.Barrier(6)

    def call(k):
        barrier.wait(timeout=10)
        failed.extend(k for _ in range(5) if not (f(x + k) == (x + k) * 2 + 1).all())

    callers = [threading.Thread(target=call, args=(k,)) for k in range(6)]
    for c in callers:
        c.start()
    for c in callers:
        c.join(timeout=60)
    assert not any(c.is_alive() for c in callers)
    assert failed == []
