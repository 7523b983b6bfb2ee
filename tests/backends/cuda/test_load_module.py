"""Emitted modules run on the current device, compiled once, and never wait by themselves."""

import sys

import numpy as np
import pytest

from tapeless.backends.cuda import compilations, load
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError, OutOfMemoryError
from tests.backends.cuda import text
from tests.backends.cuda.fake_driver import OutOfMemoryError as Full
from tests.backends.cuda.fake_driver import asarray, ndarray


def twice(grid, block, args, shared):
    rows, x, out = args
    assert rows == x.shape[0]
    out.host[...] = 2 * x.host


def test_a_call(driver):
    driver.kernels["f_kernel"] = twice
    f = load("f", text.TWICE)
    assert not driver.compiled
    assert f.__name__ == "f"
    np.testing.assert_array_equal(f(asarray([1.0, 2.0])).get(), [2.0, 4.0])
    f(asarray([3.0]))
    assert len(driver.compiled) == 1
    assert driver.waits == 0
    (compiled,) = compilations(f)
    assert (compiled.kernel, compiled.signature, compiled.cached) == ("f", "sm_90", False)


def test_code_is_found_on_disk(driver):
    load("f", text.TWICE)(asarray([1.0]))
    again = load("f", text.TWICE)
    again(asarray([1.0]))
    assert len(driver.compiled) == 1
    assert [c.cached for c in compilations(again)] == [True]


def test_arrays_of_the_host_are_transferred_and_rows_laid_out(driver):
    driver.kernels["f_kernel"] = twice
    f = load("f", text.TWICE)
    np.testing.assert_array_equal(f(np.array([1.0, 2.0])).get(), [2.0, 4.0])
    turned = asarray(np.arange(6.0).reshape(2, 3)).T
    np.testing.assert_array_equal(f(turned).get(), 2 * turned.host)


def test_what_is_no_array_of_the_device(driver):
    f = load("f", text.TWICE.replace("(x.shape[0], x,", "(1, [x],"))
    with pytest.raises(ArgumentTypeError, match="one of its arguments is of type list"):
        f(asarray([1.0]))


def test_nothing_to_do(driver):
    f = load("f", text.TWICE)
    assert f(asarray(np.empty((0, 3)))).shape == (0, 3)
    assert not driver.launches


def test_each_device_has_its_kernels(driver):
    driver.kernels["f_kernel"], driver.devices = twice, 2
    f = load("f", text.TWICE)
    f(asarray([1.0]))
    with sys.modules["cupy"].cuda.Device(1):
        assert f(asarray([1.0])).device.id == 1
    assert [c.reason for c in compilations(f)] == ["first call", "another device"]


def test_an_array_of_another_device(driver):
    driver.devices = 2
    f = load("f", text.TWICE)
    x = asarray([1.0])
    with (
        sys.modules["cupy"].cuda.Device(1),
        pytest.raises(ArgumentError, match="an argument lies on gpu:0, and f runs on gpu:1"),
    ):
        f(x)


def test_no_memory_left(driver, monkeypatch):
    f = load("f", text.TWICE)

    def full(*args, **kwargs):
        raise Full("Out of memory allocating 4,000,000,000 bytes (allocated so far: 5 bytes).")

    monkeypatch.setattr(sys.modules["cupy"], "empty", full)
    with pytest.raises(OutOfMemoryError, match=r"4.0 GB for arrays of f; arrays hold 1.0 GB") as e:
        f(asarray([1.0]))
    assert isinstance(e.value, MemoryError)
    assert "TAPELESS_POOL_SIZE" in str(e.value)


@pytest.mark.parametrize(
    ("given", "limit"), [("500", {"size": 500_000_000}), ("50%", {"fraction": 0.5})]
)
def test_the_limit_of_the_pool(driver, monkeypatch, given, limit):
    monkeypatch.setenv("TAPELESS_POOL_SIZE", given)
    f = load("f", text.TWICE)
    f(asarray([1.0]))
    f(asarray([1.0]))
    assert driver.pool.limits == [(0, limit)]


def test_a_limit_that_is_none(driver, monkeypatch):
    monkeypatch.setenv("TAPELESS_POOL_SIZE", "much")
    with pytest.raises(ArgumentError, match="TAPELESS_POOL_SIZE is 'much'"):
        load("f", text.TWICE)(asarray([1.0]))


def test_a_number_for_all_rows(driver):
    def total(grid, block, args, shared):
        _, x, parts = args
        if parts.shape:
            assert parts.shape == grid
            parts.host[...] = x.host.sum() / parts.size
        else:
            parts.host[...] = x.host.sum()

    def join(grid, block, args, shared):
        parts, out, count, size = args
        assert (count, size) == (parts.shape[0], 1)
        out.host[...] = parts.host.sum()

    driver.kernels |= {"f_kernel": total, "join_sum_float64": join}
    f = load("f", text.SUM)
    few, many = f(asarray(np.ones(5))), f(asarray(np.ones(5000)))
    assert (float(few), float(many)) == (5.0, pytest.approx(5000.0))
    assert [name for name, *_ in driver.launches] == ["f_kernel", "f_kernel", "join_sum_float64"]
    assert driver.waits == 0
    assert isinstance(few, ndarray)
