"""Constants that loops and branches give to variables keep their dtype where that matters."""

import numpy as np
import pytest

import tapeless

SHORTS = np.array([300, 300, 30000], dtype=np.int16)


def summed(x):
    total = np.int64(2)
    for e in x:
        total += e
    return total, total * np.float16(1)


def summed_the_other_way(x):
    total = np.int64(0)
    for e in x:
        total = np.int16(e) * np.int8(1) + total
    return total


def summed_in_float64(x):
    total = np.float64(2.1)
    for e in x.astype(np.float32):
        total += e
    return total, np.float32(3) * total


def summed_while(x):
    total, j = np.int64(0), 0
    while j < len(x):
        total = total + x[j] * np.int16(2)
        j += 1
    return total


def chosen(x):
    factor = np.float64(1.1)
    if x[0] > 1:
        factor = np.float64(0.1)
    return factor * x.astype(np.float32)


def chosen_and_changed(x):
    factor = np.float64(1.1) if x[0] > 1 else np.float64(0.1)
    factor = factor * 3 + 1
    return x.astype(np.float32) - factor


def carried_on(x):
    low, high = np.int64(1), np.int64(3)
    for _ in range(3):
        low, high = high, low
    return low * x


def divided(x):
    below = np.float64(0.0) if x[0] > 1 else np.float64(1.0)
    return float(x[1]) / below


def divided_remainder(x):
    below = np.int64(0) if x[0] > 1 else np.int64(1)
    return 7 // below, 7 % below


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "function",
    [summed, summed_the_other_way, summed_in_float64, summed_while, chosen, chosen_and_changed,
     carried_on, divided, divided_remainder],
)  # fmt: skip
def test_constants_keep_the_dtype_that_they_decide(function):
    expected = function(SHORTS)
    for actual in (tapeless.jit(function).plain(SHORTS), tapeless.jit(function)(SHORTS)):
        pairs = zip(np.atleast_1d(actual), np.atleast_1d(expected), strict=True)
        if isinstance(expected, tuple):
            pairs = zip(actual, expected, strict=True)
        for x, y in pairs:
            assert np.asarray(x).dtype == np.asarray(y).dtype
            np.testing.assert_array_equal(x, y)


def test_constants_that_decide_nothing_are_pythons():
    def total(x):
        result = np.float64(0.0)
        for e in x:
            result += e
        return result

    assert "result = 0.0" in tapeless.jit(total).plain.source(np.ones(3))
