"""Arrays of lists that hold float32 numbers and Python's are of NumPy's dtype, float64."""

# ruff: noqa: PERF402  (the loops are what is tested)

import numpy as np
import pytest

from tapeless import jit, vjp, vmap

NUMBERS = np.array([1.0, 2.0, 3.0], np.float32)


def joined(c):
    return np.array([x for x in c] + [0.5])  # noqa: C416


def joined_in_front(c):
    return np.array([0.0] * len(c) + list(c))


def appended(c):
    items = [x * 2 for x in c]
    items.append(0.5)
    return np.array(items)


def appended_to(c):
    items = [0.5]
    for x in c:
        items.append(x)
    return np.array(items)


def appended_in_each_pass(c):
    items = []
    for x in c:
        items.append(x)
        items.append(1)
    return np.array(items)


def inserted(c):
    items = list(c)
    items.insert(1, 2)
    return np.array(items)


def stored(c):
    items = [x * 2 for x in c]
    items[0] = 0.5
    return np.array(items)


def all_replaced(c):
    items = [0.0] * len(c)
    for k in range(len(c)):
        items[k] = c[k]
    return np.array(items)


def replaced_by_integers(c):
    items, places = [0.0] * len(c), np.argsort(c)
    for k in range(len(c)):
        items[k] = places[k]
    return np.array(items)


def stacked(c):
    return np.stack([x * 2 for x in c] + [0.5])


def summed(c):
    return np.sum([x * 2 for x in c] + [0.5])


def read(c):
    items = [x * 2 for x in c] + [0.5]
    return items[-1] * c


def only_numpy(c):
    return np.array([x * 2 for x in c] + [c[0]])


PROGRAMS = (joined, joined_in_front, appended, appended_to, appended_in_each_pass, inserted, stored,
            all_replaced, replaced_by_integers, stacked, summed, read, only_numpy)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_of_lists(program):
    expected = program(NUMBERS)
    results = jit(program)(NUMBERS), vmap(program)(NUMBERS[None])[0], vjp(program, NUMBERS)[0]
    for actual in results:
        assert np.asarray(actual).dtype == expected.dtype
        np.testing.assert_array_equal(actual, expected)


def test_slopes_have_the_dtype_of_the_numbers():
    _, back = vjp(joined, NUMBERS)
    (slopes,) = back(np.arange(4.0))
    assert slopes.dtype == np.float32
    np.testing.assert_array_equal(slopes, [0.0, 1.0, 2.0])
