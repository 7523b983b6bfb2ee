"""Unsigned numbers of 64 bits are integers of Python's, or an error where int64 does not hold them;
integers are rounded without floats."""

import numpy as np
import pytest

import tapeless

LARGE = np.array([2**63 + 5, 1, 2**64 - 1], dtype=np.uint64)
SMALL = np.array([2**53 + 1, 1, 2**60 + 7], dtype=np.uint64)
FUNCTIONS = {
    "int": lambda x: int(x[0]) // 3,
    "sum": lambda x: int(np.sum(x)) % 7,
    "float of int": lambda x: float(int(x[0])),
    "item": lambda x: x[2].item() + 1,
    "item at a place": lambda x: x.item(2) + 1,
    "round": lambda x: round(x[0]),
    "round of int": lambda x: round(int(x[0])),
    "comparison": lambda x: int(x[0]) > 5,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_64_bits_hold(name):
    function, batch = FUNCTIONS[name], np.stack([SMALL, SMALL + np.uint64(2)])
    expected = [function(x) for x in batch]
    assert [tapeless.jit(function).plain(x) for x in batch] == expected
    assert [tapeless.jit(function)(x) for x in batch] == expected
    np.testing.assert_array_equal(tapeless.vmap(function)(batch), expected)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_64_bits_do_not_hold_is_an_error(name):
    function = FUNCTIONS[name]
    assert tapeless.jit(function).plain(LARGE) == function(LARGE)
    if name != "sum":  # which wraps to less
        with pytest.raises(OverflowError):
            tapeless.vmap(function)(np.stack([LARGE, SMALL]))


@pytest.mark.parametrize("value", [2**53 + 1, -(2**60) - 1])
def test_integers_are_rounded_without_floats(value):
    for x in (value, np.int64(value)):
        assert tapeless.jit(lambda k: round(k))(x) == value
        assert tapeless.vmap(lambda k: round(k))(np.array([x]))[0] == value
