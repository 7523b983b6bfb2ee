"""Shards on threads: they meet, they end together, and they do not fight for cores."""

import threading
import time

import numpy as np
import pytest
import threadpoolctl
from numpy.testing import assert_array_equal

from tapeless.backends.spmd import threads
from tapeless.backends.spmd.rendezvous import Meeting
from tapeless.backends.spmd.threads import run_together


def run(count, work):
    meeting = Meeting(count)
    return run_together(lambda k: work(k, meeting.place(k)), count, meeting.abort)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_values_meet_in_the_order_of_the_shards(count):
    def work(k, shards):
        time.sleep(0.01 * (count - k))  # the first comes last
        x = np.arange(3.0) + k
        return (
            shards.psum(x),
            shards.pmax(x),
            shards.pmin(np.float64(k)),
            shards.all_gather(np.full((k + 1, 2), k)),
        )

    every = np.arange(3.0) + np.arange(count)[:, np.newaxis]
    rows = np.repeat(np.arange(count), np.arange(count) + 1)
    for total, largest, smallest, gathered in run(count, work):
        assert_array_equal(total, every.sum(axis=0))
        assert_array_equal(largest, every.max(axis=0))
        assert smallest == 0.0
        assert_array_equal(gathered, np.stack([rows, rows], axis=1))


@pytest.mark.parametrize("size", [10, 20_001])
def test_what_a_shard_got_is_its_own(size):
    def work(k, shards):
        x = np.ones(size)
        for _ in range(50):
            got = shards.psum(x)
            assert_array_equal(got, 4.0)
            got += k  # would be seen by the others, were it theirs
            every = shards.all_gather(x)
            x += k  # so would this, had they not read it
            x -= k
            assert_array_equal(every, 1.0)
        return got

    for k, got in enumerate(run(4, work)):
        assert_array_equal(got, 4.0 + k)


@pytest.mark.parametrize("shape", [(7,), (9, 1000)])
def test_large_values_of_any_order(shape, rng):
    """The parts that shards do for each other are put together again."""
    x = rng.standard_normal((3, *shape))
    for turned in (x, np.asfortranarray(x), x[..., ::-1]):
        for got in run(3, lambda k, shards, x=turned: (shards.psum(x[k]), shards.pmax(x[k]))):
            np.testing.assert_allclose(got[0], turned.sum(axis=0))
            assert_array_equal(got[1], turned.max(axis=0))


@pytest.mark.parametrize("size", [1000, 20_001])
def test_sums_have_the_same_bits_on_all_shards(size, rng):
    x = rng.standard_normal((5, size)) * 10.0 ** rng.integers(-8, 8, (5, 1))
    first, *others = run(5, lambda k, shards: shards.psum(x[k]))
    for other in others:
        assert_array_equal(first, other)


def test_an_error_ends_those_that_wait():
    def work(k, shards):
        if k == 2:
            time.sleep(0.05)
            raise ZeroDivisionError("shard 2")
        return shards.psum(np.ones(3))

    before = threading.active_count()
    with pytest.raises(ZeroDivisionError, match="shard 2"):
        run(4, work)
    assert run(4, lambda k, shards: shards.psum(1.0 * np.ones(1)))[0][0] == 4.0
    assert threading.active_count() <= before + 3  # the threads are used again


def test_an_error_in_the_first_shard():
    def work(k, shards):
        if k == 0:
            raise KeyError("mine")
        return shards.psum(np.ones(3))

    with pytest.raises(KeyError, match="mine"):
        run(3, work)


def test_an_interrupt_while_others_work(monkeypatch):
    def interrupted(futures):
        raise KeyboardInterrupt

    monkeypatch.setattr(threads, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(2, lambda k, shards: shards.psum(np.ones(3)) if k else None)
    monkeypatch.undo()
    assert run(2, lambda k, shards: shards.psum(np.float64(k))) == [1.0, 1.0]


def test_calls_at_the_same_time_do_not_meet_each_other():
    found = {}

    def call(n):
        found[n] = run(3, lambda k, shards: [shards.psum(np.float64(n)) for _ in range(20)])

    callers = [threading.Thread(target=call, args=(n,)) for n in range(6)]
    for t in callers:
        t.start()
    for t in callers:
        t.join(30)
    assert found == {n: [[3.0 * n] * 20] * 3 for n in range(6)}


def test_products_use_one_thread_while_shards_run():
    def used():
        pools = threadpoolctl.threadpool_info()
        return [p["num_threads"] for p in pools if p["user_api"] == "blas"]

    before = used()
    assert before
    inside = run(3, lambda k, shards: used())
    assert all(n == 1 for found in inside for n in found)
    assert used() == before


def test_settings_of_numpy_hold_on_all_shards():
    def work(k, shards):
        with np.errstate(over="ignore"):
            return np.log(np.zeros(1))

    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        run(2, lambda k, shards: work(k, shards) if k == 1 else None)
