"""What a program was made for is looked at again: the environment, defaults of functions."""

import os

import numpy as np
import pytest

import tapeless

NAME = "TAPELESS_TEST_FACTOR"


def by_get(x):
    return x * float(os.environ.get(NAME, "2"))


def by_getenv(x):
    return x * float(os.getenv(NAME, default="2"))


def by_item(x):
    return x * float(os.environ[NAME])


@pytest.mark.parametrize("function", [by_get, by_getenv])
def test_the_environment_is_read_at_each_call(function, monkeypatch):
    monkeypatch.delenv(NAME, raising=False)
    slope = tapeless.grad(function)
    assert slope(1.5) == 2.0
    monkeypatch.setenv(NAME, "5")
    assert slope(1.5) == 5.0
    monkeypatch.setenv(NAME, "7")
    assert slope(1.5) == 7.0


def test_an_item_of_the_environment_is_read_at_each_call(monkeypatch):
    monkeypatch.setenv(NAME, "3")
    slope = tapeless.grad(by_item)
    assert slope(1.5) == 3.0
    monkeypatch.setenv(NAME, "4")
    assert slope(1.5) == 4.0


def test_defaults_that_were_replaced_count():
    def scaled(x, by=2.0):
        return by * x

    slope = tapeless.grad(lambda x: scaled(x) ** 2)
    assert slope(1.0) == 8.0
    scaled.__defaults__ = (5.0,)
    assert slope(1.0) == 50.0


def test_a_view_without_a_dtype_is_the_array():
    def f(x):
        y = x.view()
        y[0] = 5.0
        return x.sum()

    np.testing.assert_array_equal(tapeless.grad(f)(np.ones(3)), [0.0, 1.0, 1.0])


def test_a_view_as_another_dtype_has_its_numbers():
    assert tapeless.jit(lambda x: x.view(complex).real.sum())(np.arange(4.0)) == 2
