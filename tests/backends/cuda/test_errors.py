"""What kernels note is raised once, at the next call or where somebody waits, and never lost."""

import ctypes

import numpy as np
import pytest

from tapeless.backends.cuda import errors, load, on_host, synchronize
from tests.backends.cuda import text
from tests.backends.cuda.fake_driver import asarray


def failing(row, code):
    """A kernel that notes an error, as `atomicMin` does."""

    def run(grid, block, args, shared):
        word = ctypes.c_uint64.from_address(args[-1])
        word.value = min(word.value, row * 256 + code)

    return run


@pytest.fixture
def f(driver):
    driver.late = True
    return load("f", text.CHECKED)


X = np.ones(3)


def test_nothing_is_raised_before_it_is_known(f, driver):
    driver.kernels["f_kernel"] = failing(1, 0)
    f(X)
    f(X)
    assert driver.waits == 0
    with pytest.raises(IndexError, match="too far") as e:
        synchronize()
    assert e.value.__notes__ == ["noted by f_kernel on the GPU, for row 1"]
    synchronize()


def test_the_next_call_raises(f, driver):
    driver.late = False
    driver.kernels["f_kernel"] = failing(7, 1)
    f(X)
    driver.kernels["f_kernel"] = lambda *_: None
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        f(X)
    f(X)
    synchronize()


def test_reading_raises(f, driver):
    driver.kernels["f_kernel"] = failing(0, 0)
    y = f(X)
    with pytest.raises(IndexError):
        on_host(y)
    driver.kernels["f_kernel"] = lambda *_: None
    assert on_host(f(X)).shape == (3,)


def test_the_first_row_stays(f, driver):
    driver.kernels["f_kernel"] = lambda *args: [failing(5, 0)(*args), failing(2, 1)(*args)]
    f(X)
    with pytest.raises(np.linalg.LinAlgError):
        synchronize()


def test_the_kernel_that_was_launched_first(f, driver):
    other = load("f", text.CHECKED.replace("too far", "later"))
    driver.kernels["f_kernel"] = failing(3, 0)
    other(X)
    synchronize_quietly()
    f(X)
    other(X)
    with pytest.raises(IndexError, match="too far"):
        synchronize()
    synchronize()  # what came after it is forgotten


def synchronize_quietly():
    with pytest.raises(IndexError):
        synchronize()


def test_many_kernels_have_words_of_their_own(driver):
    words = [
        errors.ErrorWord(f"k{n}", (("ValueError", (str(n),)),)) for n in range(errors.CHUNK + 3)
    ]
    assert len({word.address for word in words}) == len(words)
    words[errors.CHUNK + 1].place[0] = 0
    with pytest.raises(ValueError, match=str(errors.CHUNK + 1)):
        synchronize()


def test_errors_of_another_stream_are_not_lost(f, driver):
    """The word is looked at though nothing is pending any more."""
    driver.kernels["f_kernel"] = failing(0, 0)
    f(X)
    late, driver.pending = driver.pending, []
    synchronize()
    for run in late:
        run()
    with pytest.raises(IndexError):
        synchronize()


def test_arrays_of_the_host_as_arguments_too(f, driver):
    assert f(asarray(X)).shape == (3,)
