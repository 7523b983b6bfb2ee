"""Rows that threads share: the same bits whatever their number, and no deadlocks."""

import threading

import numpy as np
import pytest

from tapeless.backends.cpu import load
from tapeless.backends.cpu.runtime import threads
from tapeless.backends.cpu.runtime.threads import FEWEST, MOST, PART, cut, in_parallel, share
from tests.backends.cpu.text import apart, module

WORK = 64  # of a row, in these tests
BIG = (FEWEST + 3) * PART // WORK + 17


@pytest.fixture(params=["1", "2", "3", "7"])
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
    seen = np.zeros(BIG)

    def kernel(first, last, x, k):
        assert 0 <= first < last <= BIG
        assert k == 5
        x[first:last] += 1

    in_parallel(kernel, BIG, WORK, seen, 5)
    assert (seen == 1).all()


def test_one_thread_cuts_nothing_that_is_not_put_together(monkeypatch):
    monkeypatch.setenv("TAPELESS_NUM_THREADS", "1")
    calls = []

    def kernel(first, last):
        calls.append((first, last))
        return 1

    in_parallel(kernel, BIG, WORK)
    assert calls == [(0, BIG)]
    assert in_parallel(kernel, BIG, WORK, join="sum") == len(calls) - 1 > 1


def test_little_work_is_not_cut():
    assert cut(FEWEST * PART - 1, 1) == FEWEST * PART - 1
    assert cut(FEWEST * PART, 1) == PART
    assert cut(1, 3 * FEWEST * PART) == 1
    assert cut(100, PART) == 1
    assert cut(0, 5) == 0
    assert cut(5, 0) == 5


def test_the_number_of_parts_is_bounded():
    for rows, work in ((100_000, PART), (10**9, 10), (MOST * 63, PART)):
        assert MOST / 2 <= -(-rows // cut(rows, work)) <= MOST * 64 / 63 + 1


def test_parts_are_large_for_large_results():
    assert cut(BIG, WORK, (np.zeros(PART // 4),)) * WORK >= 4 * PART - 64 * WORK
    assert cut(BIG, WORK, (np.zeros(2 * PART),)) >= BIG


def test_parts_do_not_depend_on_the_number_of_threads(number):
    size = cut(BIG, WORK)
    assert size % 64 == 0
    assert size == PART // WORK


def test_the_same_bits_for_any_number_of_threads(monkeypatch, rng):
    f = load("f", apart("exp(v) * sin(v) + log(v * v + 1.0)"))
    x = rng.normal(size=(FEWEST + 1) * PART // 24 + 5)
    found = []
    for n in ("1", "2", "3", "7"):
        monkeypatch.setenv("TAPELESS_NUM_THREADS", n)
        found.append(f(x))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)
    np.testing.assert_allclose(found[0], np.exp(x) * np.sin(x) + np.log(x * x + 1), atol=1e-14)


SUM = module(
    """
    @njit(nogil=True)
    def f_kernel(first, last, x, row, out):
        for j in range(x.shape[1]):
            out[j] = 0.0
        total = 0.0
        largest = -np.inf
        for i in range(first, last):
            for j in range(x.shape[1]):
                row[j] = x[i, j] * 2.0
            for j in range(x.shape[1]):
                total += row[j]
                out[j] += row[j]
                largest = max(largest, row[j])
        return total, x.shape[1], largest


    def f(x):
        out = np.empty(x.shape[1])
        row = np.empty(x.shape[1])
        found = in_parallel(
            f_kernel, len(x), 512, x, own=(row,), sums=(out,), join="sum sum first max"
        )
        return *found, out
    """
)


def test_ordered_reductions(monkeypatch, rng):
    f = load("f", SUM)
    x = rng.normal(size=((FEWEST + 4) * PART // 512 + 3, 8))
    found = []
    for n in ("1", "2", "3", "7"):
        monkeypatch.setenv("TAPELESS_NUM_THREADS", n)
        found.append(f(x))
    total, columns, largest, out = found[0]
    assert (type(total), columns, largest) == (float, 8, 2 * x.max())
    np.testing.assert_allclose(total, np.sum(2 * x), rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(out, 2 * x.sum(axis=0), atol=1e-9)
    for other in found[1:]:
        assert other[:3] == found[0][:3]
        np.testing.assert_array_equal(other[3], out)


@pytest.mark.parametrize(
    ("join", "values", "wanted"),
    [
        ("sum", [2**62, 2**62, 1], -(2**63) + 1),  # as sums of int64 in NumPy
        ("sum", [np.float32(1e8), np.float32(1), np.float32(2)], np.float32(1e8 + 3)),
        ("prod", [2.0, 3.0, -1.0], -6.0),
        ("max", [1.0, np.nan, 2.0], np.nan),
        ("min", [3, 1, 2], 1),
        ("any", [False, True, False], True),
        ("all", [True, True, False], False),
        ("first", [7, 7, 7], 7),
    ],
)
def test_how_results_are_put_together(join, values, wanted):
    found = in_parallel(lambda first, last: values[first], 3, 10 * PART, join=join)
    assert type(found) is type(wanted)
    np.testing.assert_equal(found, wanted)


def test_the_first_error_is_raised(number):
    def kernel(first, last):
        wrong = max(first, PART // WORK)
        if wrong < last:
            raise ValueError(wrong)

    with pytest.raises(ValueError, match=f"^{PART // WORK}$"):
        in_parallel(kernel, BIG, WORK)


def test_results_of_tasks(number):
    assert share(lambda k: k * k, 100) == [k * k for k in range(100)]


def test_nesting_does_not_block(number):
    def outer(k):
        return sum(share(lambda j: sum(share(lambda i: i + j, 3)), 4))

    assert share(outer, 6) == [30] * 6


def test_many_callers_at_once(monkeypatch):
    monkeypatch.setenv("TAPELESS_NUM_THREADS", "3")
    f = load("f", apart("v * 2 + 1"))
    x = np.arange((FEWEST + 1.0) * PART // 24)
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
