"""Integers that arrays do not hold: refused in kernels where NumPy refuses them."""

import numpy as np
import pytest

from tapeless import jit

U = np.array([3, 4], np.uint8)


def plus_constant(x):
    for i in range(len(x)):
        x[i] = x[i] + 300
    return x


def minus_one(x):
    for i in range(len(x)):
        x[i] += -1
    return x


def times_minus_one(x):
    s = np.uint8(0)
    for i in range(len(x)):
        s += x[i] * -1
    return s


def array_of_constants(x):
    return x + np.array([-1, 300], dtype=np.uint8)


def full_of(x):
    return np.full(2, 300, np.uint8) + x[0]


REFUSED = [plus_constant, minus_one, times_minus_one, array_of_constants, full_of]


@pytest.mark.parametrize("f", REFUSED)
def test_refused(f):
    for g in (f, jit(f)):
        with pytest.raises(OverflowError, match=r"out of bounds for uint8"):
            g(U.copy())


def less_five(x):
    for i in range(len(x)):
        x[i] -= 5
    return x


def opposite(x):
    s = np.uint8(7)
    for i in range(len(x)):
        s = s + -x[i]
    return s


def clipped(x):
    return np.clip(x, -1, 3) + np.clip(x, 2, 300) + np.clip(x, 0, 255)


@pytest.mark.parametrize("f", [less_five, opposite, clipped])
def test_taken(f):
    with np.errstate(over="ignore"):
        want = f(U.copy())
    got = jit(f)(U.copy())
    np.testing.assert_array_equal(got, want)
    assert got.dtype == want.dtype


def element_by_element(y, x):
    for i in range(len(x)):
        y[i] = x[i]
    return y


def all_at_once(y, x):
    y[:] = x
    return y


STORES = [
    (np.int16, np.array([70_000, 3])),
    (np.int16, np.array([-5, 3])),
    (np.uint8, np.array([-1, 300])),
    (np.int64, np.array([np.nan, 3])),
    (np.int64, np.array([np.inf, 3])),
    (np.int32, np.array([1e30, 3])),
    (np.int32, np.array([3e9, 3])),
    (np.int32, np.array([-1.7, 3.9])),
    (np.int64, np.array([-1.7, 3.9], np.float32)),
    (np.int64, np.array([2**63 + 5, 3], np.uint64)),
    (np.int8, np.array([True, False])),
]


@pytest.mark.parametrize(("dtype", "x"), STORES)
def test_stores_to_elements(dtype, x):
    """NumPy takes int() of a number that it stores into a signed integer."""
    try:
        want, error = element_by_element(np.zeros(2, dtype), x), None
    except (OverflowError, ValueError) as e:
        error = type(e)
    if error is None:
        np.testing.assert_array_equal(jit(element_by_element)(np.zeros(2, dtype), x), want)
    else:
        with pytest.raises(error):
            jit(element_by_element)(np.zeros(2, dtype), x)


@pytest.mark.parametrize(("dtype", "x"), STORES[:3])
def test_stores_to_parts_wrap_around(dtype, x):
    want = all_at_once(np.zeros(2, dtype), x)
    np.testing.assert_array_equal(jit(all_at_once)(np.zeros(2, dtype), x), want)


def to_part(a, v):
    a[:2] = v
    return a


def to_none(a, v):
    a[5:] = v
    return a


def to_places(a, v):
    a[np.array([0, 1])] = v
    return a


def under_a_mask(a, v):
    a[a > 0] = v
    return a


def in_a_list(a, v):
    a[:2] = [v, v]
    return a


def in_a_new_array(a, v):
    return np.array([v, v], a.dtype)


def filled_with(a, v):
    a.fill(v)
    return a


def put_to(a, v):
    np.put(a, [0], v)
    return a


def added_in_a_loop(a, v):
    for i in range(len(a)):
        a[i] = a[i] + v
    return a


def an_array_without_axes(a, v):
    a[:2] = np.array(v)
    return a


def its_sum(a, v):
    a[:] = np.sum(np.array([v, v]))
    return a


WAYS = [
    *(to_part, to_none, to_places, under_a_mask, in_a_list, in_a_new_array, filled_with, put_to),
    *(added_in_a_loop, an_array_without_axes, its_sum),
]
NUMBERS = [300.0, -1.5, 1e10, np.nan, np.inf, 300, -1]
BOTH = [(v, kind(v)) for v in NUMBERS for kind in (type(v), np.dtype(type(v)).type)]


def outcome(f, dtype, v):
    try:
        with np.errstate(all="ignore"):
            return f(np.ones(3, dtype), v).tolist()
    except (OverflowError, ValueError) as e:
        return type(e)


@pytest.mark.parametrize("f", WAYS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint32])
def test_numbers_that_are_no_integers_of_the_array(f, dtype):
    """NumPy wraps some around, and refuses others: which ones differs by the way of the store."""
    compiled = jit(f)
    for v, number in BOTH:
        assert outcome(compiled, dtype, number) == outcome(f, dtype, number), (v, type(number))
