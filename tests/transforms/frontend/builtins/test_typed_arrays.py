"""Arrays of Python's module `array`, in functions that are staged."""

import array

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient

X = np.array([1.5, -2.0, 3.0])


def costs(x):
    n = len(x) + 1
    row = array.array("d", [np.inf] * (2 * n))
    row[0] = 1.0
    for i in range(n):
        row[i] = 2.0
    return row[0] + x[0] + len(row)


def time_warping(x):
    other = x * x[1] + 0.5
    before = array.array("d", [np.inf] * (len(x) + 1))
    before[0] = 0
    for i in range(len(x)):
        now = array.array("d", [np.inf] * (len(x) + 1))
        for j in range(1, len(x) + 1):
            now[j] = (x[i] - other[j - 1]) ** 2 + min(before[j], now[j - 1], before[j - 1])
        before = now
    return before[len(x)]


def grown(x):
    found = array.array("d")
    for v in x:
        if v > 0:
            found.append(v * 2)
    return np.sum(np.array(found)) + len(found)


def counted(x):
    counts = array.array("i", [0] * 4)
    for v in x:
        counts[int(abs(v)) % 4] += 1
    return counts[1] * x[0] + counts[2] * x[2]


def methods(x):
    line = array.array("d", [1, 2, 3]) * 2
    line[1:3] = array.array("d", [x[0], x[1]])
    part = line[::2] + line[:1]
    part.extend([5])
    part.insert(0, x[2])
    part.reverse()
    part += array.array("d", x)
    return sum(part.tolist()) * part.pop() + part.itemsize + part.index(5.0)


PROGRAMS = [costs, time_warping, grown, counted, methods]


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_derivatives(program):
    assert tapeless.jit(program)(X) == pytest.approx(program(X), rel=1e-14)
    rows = np.stack([X, 2 * X])
    np.testing.assert_allclose(tapeless.vmap(program)(rows), [program(row) for row in rows])
    if program is not counted:  # whose counts jump here
        np.testing.assert_allclose(
            tapeless.grad(program)(X), gradient(program, X), rtol=1e-6, atol=1e-8
        )


def test_items_are_rounded_to_the_type():
    def single(x):
        held = array.array("f", [0.1])
        held.append(x / 3)
        return held[0] + held[1]

    assert tapeless.jit(single)(1.0) == single(1.0) != 0.1 + 1.0 / 3


def of_floats(x):
    held = array.array("i", [0])
    held[0] = x


def beyond(x):
    return array.array("b", [100])[0] + array.array("b", [int(x) * 100])[0]


def of_other_types(x):
    return array.array("d", [x]) + array.array("f", [x])


def of_lists(x):
    line = array.array("d", [x])
    line[:] = [x]


@pytest.mark.parametrize(
    ("program", "error"),
    [
        (of_floats, TypeError),
        (beyond, OverflowError),
        (of_other_types, TypeError),
        (of_lists, TypeError),
    ],
)
def test_errors_are_pythons(program, error):
    for f in (program, tapeless.jit(program)):
        with pytest.raises(error):
            f(2.5)
