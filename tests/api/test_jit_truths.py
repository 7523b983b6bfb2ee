"""Truth values under jit are NumPy's where NumPy's are, and Python's where Python's are."""

import numpy as np
import pytest

from tapeless import disable_jit, jit


def compared(x):
    return x[0] > 1, np.any(x > 1), x.all(), x[0] == x[1]


def truths(x):
    return not x[0], bool(x[0] > 1), 1.0 in x, all(v > 0 for v in x), all([x[0] > 1, x[1] > 1])


def added(x):
    return bool(x[0]) + True, (not x.any()) + 1


def until(x):
    total, done = 0.0, False
    while not done:
        total += x[0]
        done = bool(total > 5)
    return total, done


@pytest.mark.parametrize("f", [compared, truths, added, until])
@pytest.mark.parametrize("disable", [False, True])
def test_types_of_truth_values(f, disable):
    x = np.ones(3)
    with disable_jit(disable):
        got, want = jit(f)(x), f(x)
    assert [type(t) for t in got] == [type(t) for t in want]
    assert got == want
