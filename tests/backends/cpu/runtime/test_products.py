"""Products of matrices by one thread of the BLAS, and by threads of our own."""

import signal
import threading
import time

import numpy as np
import pytest

from tapeless import jit
from tapeless.backends.cpu.runtime import blas, products

SHAPES = [
    ((1000, 300), (300, 200)),
    ((100, 2000), (2000, 900)),  # by columns
    ((5000, 4000), (4000,)),
    ((4000,), (4000, 5000)),
    ((20, 300, 300), (20, 300, 300)),  # by matrices
    ((3, 300, 300), (300, 300)),
    ((2, 3), (3, 4)),
    ((300,), (300, 4)),
    ((64, 9000), (9000, 64)),
]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("shapes", SHAPES)
def test_values(shapes, dtype, rng):
    a, b = (rng.normal(size=shape).astype(dtype) for shape in shapes)
    scale = 2e-3 if dtype == "f4" else 1e-11
    np.testing.assert_allclose(products.matmul(a, b), a @ b, rtol=0, atol=scale)


@pytest.mark.parametrize("shape", [(500, 600), (190, 900), (601, 300)])
def test_symmetric(shape, rng):
    a = rng.normal(size=shape)
    for x in (a, a.T):
        product = products.matmul(x, x.T)
        np.testing.assert_allclose(product, x @ x.T, rtol=0, atol=1e-11)
        assert np.array_equal(product, product.T)


def test_lengths_that_do_not_fit():
    with pytest.raises(ValueError, match="mismatch"):
        products.matmul(np.ones((300, 200)), np.ones((300, 200)))


def test_the_same_bits_for_any_number_of_threads(monkeypatch, rng):
    a, b = rng.normal(size=(2, 500, 500))
    f = jit(lambda a, b: np.tanh(a @ b) @ b)
    by_number = []
    for number in ("1", "2", "5"):
        monkeypatch.setenv("TAPELESS_NUM_THREADS", number)
        by_number.append((products.matmul(a, b), f(a, b)))
    for other in by_number[1:]:
        assert all(map(np.array_equal, by_number[0], other))


@pytest.fixture
def threads():
    """Gets and sets the number of threads of the BLAS, which is two, and then what it was."""
    if blas.threads() is None:
        pytest.skip("NumPy's BLAS here does not tell how many threads it takes")
    get, put = blas.threads()
    before = get()
    put(2)
    yield get, put
    put(before)


def chain(a, b):
    return np.abs(a @ b) + np.tanh((a + 1) @ (b + 1))  # in a kernel


def test_the_number_of_threads_is_what_it_was(threads, rng):
    get, put = threads
    f = jit(chain)
    for n in (5, 100, 400):
        a, b = rng.normal(size=(2, n, n))
        for number in (1, 2):
            put(number)
            np.testing.assert_allclose(f(a, b), chain(a, b), rtol=0, atol=1e-10)
            products.matmul(a, b)
            assert get() == number
    with pytest.raises(ValueError, match="mismatch"), blas.OneThread():
        np.ones((2, 3)) @ np.ones((2, 3))
    assert get() == 2


def test_one_thread_while_it_lasts(threads):
    get, _ = threads
    with blas.OneThread():
        assert get() == 1
        with blas.OneThread():
            assert get() == 1
        assert get() == 1
    assert get() == 2


def test_many_threads_leave_it_as_it_was(threads, rng):
    get, _ = threads
    a, b = rng.normal(size=(2, 150, 150))
    f = jit(chain)
    want = chain(a, b)
    right = []

    def repeat():
        right.extend(np.allclose(f(a, b), want, rtol=0, atol=1e-10) for _ in range(50))

    workers = [threading.Thread(target=repeat) for _ in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert len(right) == 200
    assert all(right)
    assert get() == 2


def fail_with(error):
    def multiply(*args):
        raise error

    return multiply


def test_no_memory_for_a_product_of_a_kernel_that_threads_share(monkeypatch, threads, rng):
    """The kernel multiplies."""
    a, b = rng.normal(size=(2, 300, 300))
    monkeypatch.setattr(products, "multiply", fail_with(MemoryError))
    np.testing.assert_allclose(jit(chain)(a, b), chain(a, b), rtol=0, atol=1e-10)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_while_threads_share_the_product_of_a_kernel(monkeypatch, threads, rng):
    """The kernel multiplies, and the interrupt is raised after that."""
    f = jit(chain)
    a, b = rng.normal(size=(2, 300, 300))
    f(a, b)
    monkeypatch.setattr(products, "multiply", fail_with(KeyboardInterrupt))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            f(a, b), time.sleep(10)
    finally:
        signal.signal(signal.SIGINT, before)
