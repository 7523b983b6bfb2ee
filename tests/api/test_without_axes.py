"""Arrays without axes: what a function stores to them, and that results are no such array."""

import numpy as np
import pytest

import tapeless
from tapeless import disable_jit, grad, jit
from tapeless.transforms.errors import ArgumentError


def added(x):
    x += 1
    return x * 2


def filled(x):
    x[...] = 3.0
    return np.sum(x)


def through_a_view(x):
    part = x[...]
    part[()] = 4.0
    return x * 2


def through_an_axis(x):
    line = x.reshape(1)
    line[0] = 4.0
    return x * 2


def in_a_dict(x):
    p = {"n": x}
    p["n"] *= 3
    return p["n"] + 1


def in_a_loop(x):
    for _ in range(3):
        x *= 2


def kept_as_it_was(x):
    x += 1
    x -= 1


STORES = [added, filled, through_a_view, through_an_axis, in_a_dict, in_a_loop, kept_as_it_was]


@pytest.mark.parametrize("function", STORES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["f8", "f4", ">f8"])
def test_stores_are_the_callers(function, dtype):
    mine, compiled, plain = (np.array(2.0, dtype) for _ in range(3))
    want = function(mine)
    made = jit(function)(compiled)
    with disable_jit():
        jit(function)(plain)
    assert compiled == mine
    assert plain == mine
    assert made is want or made == want


def swapped(x, y):
    x[...], y[...] = y * 1, x * 1


def test_two_of_them():
    x, y = np.array(2.0), np.array(3.0)
    jit(swapped)(x, y)
    assert (x, y) == (3.0, 2.0)


def test_what_is_shared_or_read_only_is_refused():
    def stored(x, y):
        x[...] = 5
        return y + 1

    z = np.zeros(3)
    with pytest.raises(ArgumentError, match="'x' and 'y' share memory"):
        jit(stored)(z[:1].reshape(()), z)
    x = np.array(1.0)
    x.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        jit(added)(x)


def first(x):
    return np.sum(x)


def as_it_is(x):
    return x


def one_of_two(x):
    return x if x > 0 else -x


def with_an_axis(x):
    return x[None]


RESULTS = [first, as_it_is, one_of_two, with_an_axis]


@pytest.mark.parametrize("function", RESULTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("off", [True, False])
def test_results_are_no_argument(function, off):
    x = np.array(2.0)
    with disable_jit(off):
        made = jit(function)(x)
    x[...] = 5
    assert made == 2


def test_slopes_are_no_argument():
    x, y = np.array(2.0), np.array(3.0)
    slope = grad(lambda x, y: np.sum(x * y))(x, y)
    value, _ = tapeless.vjp(first, x)
    x[...], y[...] = 5, 5
    assert (slope, value) == (3.0, 2.0)


def copied_with_axes(x):
    row = np.array(x).reshape(1, 1)
    row[0, 0] += 2
    return np.sum(row * row)


@pytest.mark.parametrize("transform", [grad, jit, tapeless.value_and_grad])
def test_copies_with_axes_are_no_views(transform):
    x = np.array(2.0)
    with disable_jit():
        transform(copied_with_axes)(x)
    assert x == 2
    assert jit(copied_with_axes)(x) == 16
    assert grad(copied_with_axes)(x) == 8
