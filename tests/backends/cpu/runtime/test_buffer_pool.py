"""The pool: memory is used again when nobody can see it any more, never before."""

import threading

import numpy as np
import pytest

from tapeless import jit
from tapeless.backends.cpu.runtime import buffer_pool
from tapeless.backends.cpu.runtime.buffer_pool import BufferPool, copy_of, empty, full, zeros

LARGE = 1 << 20
SHAPE = (LARGE // 8, 2)


def place(x):
    return x.__array_interface__["data"][0]


@pytest.fixture(autouse=True)
def pool(monkeypatch):
    made = BufferPool(20 * LARGE)
    monkeypatch.setattr(buffer_pool, "_pool", made)
    monkeypatch.setattr(buffer_pool, "LARGE", LARGE)
    return made


def test_shapes_and_dtypes():
    for shape, dtype in (((3,), "f4"), ((), "f8"), ((0, 5), "c16"), (SHAPE, "f8"), (SHAPE, "?")):
        x = empty(shape, dtype)
        assert type(x) is np.ndarray
        assert (x.shape, x.dtype) == (shape, np.dtype(dtype))
        assert x.flags.c_contiguous
        assert x.flags.writeable
        assert x.flags.aligned
        x[...] = 1
        assert (x == 1).all()


def test_small_arrays_own_their_memory(pool):
    assert empty((LARGE // 8 - 1,), "f8").flags.owndata
    assert pool.buffers == []


def test_memory_is_used_again():
    x = empty(SHAPE, "f8")
    at = place(x)
    del x
    y = empty((SHAPE[0], 1, 2), "f8")
    assert place(y) == at
    assert place(empty(SHAPE, "f8")) != at


HOLDERS = {
    "the array": lambda x: x,
    "a view": lambda x: x[3:5],
    "a view of a view": lambda x: x[3:][::2].T,
    "a reshaped view": lambda x: x.reshape(-1)[1:2],
    "another dtype": lambda x: x.view("u1"),
    "memoryview": lambda x: memoryview(x),
    "frombuffer": lambda x: np.frombuffer(x, "f8", 1),
    "a subclass": lambda x: x.view(np.matrix),
    "dlpack": lambda x: np.from_dlpack(x),
    "strides": lambda x: np.lib.stride_tricks.as_strided(x, (1,), (8,)),
    "an iterator": lambda x: x.flat,
    "its base": lambda x: x.base,
    "a cycle": lambda x: [x],
}


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("how", HOLDERS)
def test_memory_that_can_be_seen_is_not_used_again(how):
    x = empty(SHAPE, "f8")
    at = place(x)
    held = HOLDERS[how](x)
    del x
    assert place(empty(SHAPE, "f8")) != at
    del held
    both = empty(SHAPE, "f8"), empty(SHAPE, "f8")
    assert at in map(place, both)


def test_a_free_buffer_serves_what_nearly_fills_it():
    at = place(empty((10 * LARGE,), "u1"))
    assert place(empty((9 * LARGE,), "u1")) == at
    assert place(empty((4 * LARGE,), "u1")) != at
    x = empty((9 * LARGE,), "u1")
    assert x.shape == (9 * LARGE,)
    assert place(x) == at


def test_the_pool_is_bounded(pool):
    for k in range(1, 30):
        del_me = empty((k * LARGE,), "u1")
        del del_me
        assert sum(b.nbytes for b in pool.buffers) <= pool.limit
    held = [empty((3 * LARGE,), "u1") for _ in range(20)]
    for k, x in enumerate(held):
        x[:] = k
    assert all((x == k).all() for k, x in enumerate(held))
    assert sum(b.nbytes for b in pool.buffers) <= pool.limit
    assert len({place(x) for x in held}) == 20


def test_clear(pool):
    x = empty(SHAPE, "f8")
    x[...] = 4
    pool.clear()
    assert (x == 4).all()
    assert pool.buffers == []


def test_a_busy_pool_is_not_waited_for(pool):
    with pool.lock:
        assert empty(SHAPE, "f8").shape == SHAPE
    assert pool.buffers == []


def test_many_threads(pool):
    failed = []

    def work(k):
        for j in range(300):
            x = empty((LARGE + 8 * (j % 5),), "u1")
            x[:1000] = k
            x[-1000:] = k
            if not ((x[:1000] == k).all() and (x[-1000:] == k).all()):
                failed.append(k)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for w in workers:
        w.start()
    for w in workers:
        w.join(timeout=60)
    assert failed == []
    assert sum(b.nbytes for b in pool.buffers) <= pool.limit


@pytest.mark.parametrize(("given", "wanted"), [("5", 5e6), ("0", 0), ("x", None), ("", None)])
def test_limits(given, wanted, monkeypatch):
    monkeypatch.setenv("TAPELESS_POOL_SIZE", given)
    found = buffer_pool._limit()
    assert found == wanted if wanted is not None else 1e6 < found <= 1e9


def test_builds_without_a_global_lock_get_fresh_memory(pool, monkeypatch):
    monkeypatch.setattr(buffer_pool, "COUNTED", False)
    assert empty(SHAPE, "f8").flags.owndata
    assert pool.buffers == []


def test_few_buffers_are_remembered(pool, monkeypatch):
    monkeypatch.setattr(buffer_pool, "MANY", 3)
    held = [empty(SHAPE, "f8") for _ in range(5)]
    assert len(pool.buffers) == 3
    places = {place(x) for x in held}
    assert len(places) == 5
    del held
    assert place(empty(SHAPE, "f8")) in places


def test_a_product_takes_memory_that_was_used_before():
    f = jit(lambda x, w: np.tanh(np.tanh(x) @ w) @ w.T)
    x, w = np.full((600, 500), 0.01), np.full((500, 700), 0.02)
    places = {place(f(x, w)) for _ in range(6)}
    assert len(places) <= 2  # what an earlier call held
    np.testing.assert_allclose(f(x, w), np.tanh(np.tanh(x) @ w) @ w.T, rtol=1e-13)


def test_results_that_are_kept_are_not_written_over():
    f = jit(lambda x, w: np.tanh(x) @ w)
    x, w = np.full((600, 500), 0.01), np.full((500, 700), 0.02)
    kept = [f(k * x, w) for k in range(4)]
    for k, made in enumerate(kept):
        np.testing.assert_allclose(made, np.tanh(k * x) @ w, rtol=1e-13)


@pytest.mark.parametrize("shapes", [((300, 0), (0, 300)), ((0, 300), (300, 300)), ((3, 2), (2, 3))])
def test_products_of_few_numbers(shapes):
    f = jit(lambda x, w: np.exp(np.exp(x) @ w) @ w.T)
    x, w = np.full(shapes[0], 0.01), np.full(shapes[1], 0.02)
    np.testing.assert_allclose(f(x, w), np.exp(np.exp(x) @ w) @ w.T, rtol=1e-13)


def test_zeros_are_zeros_in_memory_that_was_used(pool):
    x = empty(SHAPE, "f8")
    x.fill(3)
    at = place(x)
    del x
    y = zeros(SHAPE, "f8")
    assert place(y) == at
    assert not y.any()
    assert not zeros(SHAPE, "f8").any()


def test_other_new_arrays():
    for shape in (SHAPE, SHAPE[0] * 2, (3,), 0, (0, 5)):
        for made, expected in (
            (zeros(shape, np.int64), np.zeros(shape, np.int64)),
            (full(shape, -0.0, np.float32), np.full(shape, -0.0, np.float32)),
        ):
            assert (made.shape, made.dtype) == (expected.shape, expected.dtype)
            assert made.tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match="negative dimensions"):
        zeros(-1, "f8")


def test_copies_are_contiguous_and_apart():
    x = np.arange(LARGE // 4.0).reshape(SHAPE[0], 2)
    for view in (x, x.T, x[::-1], x[:, ::-1], x[:3]):
        y = copy_of(view)
        assert y.flags.c_contiguous
        np.testing.assert_array_equal(y, view)
        assert not np.shares_memory(y, x)
