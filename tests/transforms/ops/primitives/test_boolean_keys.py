"""x[True], x[False] and x[x > 0] of numbers: a truth value is an axis of one, or of none."""

import numpy as np
import pytest

from tapeless import grad, jit
from tapeless.transforms.errors import UnsupportedError
from tests.transforms.ops.agreement import check_slopes, check_values

A = np.array([0.5, -1.2, 2.0, 0.3, -0.4])
M = np.arange(6.0).reshape(2, 3)

KEYS = {
    "true": True,
    "false": False,
    "of NumPy": np.True_,
    "in front": (True, slice(1, 3)),
    "behind": (slice(0, 2), True),
    "nothing in front": (False, slice(1, 3)),
    "beside an axis": (True, None),
    "behind all": (..., True),
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("x", [A, M], ids=["line", "matrix"])
def test_known(name, x):
    key = KEYS[name]

    def stored(x):
        x[key] = 3.0

    def copied(x):
        part = x[key]
        part *= 2
        return part

    check_values(lambda x: x[key], x)
    check_values(stored, x)
    check_values(copied, x)
    check_slopes(lambda x: x[key] * x.sum(), x)


@pytest.mark.parametrize("b", [True, False])
def test_of_data(b):
    def stored(x, b):
        x[b] = 3.0

    check_values(lambda x, b: x[b], A, b)
    check_values(lambda x, b: x[b, 1:3], A, b)
    check_values(stored, A, b)
    check_slopes(lambda x, b: x[b] * x[0], A, b)


NUMBERS = {
    "above": lambda x: x[0][x[0] > 0],
    "below": lambda x: x[0][x[0] < 0],
    "an array": lambda x: np.asarray(x[0])[x[0] > 0],
    "of another": lambda x: x[x[1] < 0],
}


@pytest.mark.parametrize("name", NUMBERS)
def test_masks_of_numbers(name):
    check_values(NUMBERS[name], A)
    check_slopes(NUMBERS[name], A)


def test_stores_to_an_array_without_axes():
    def f(x):
        y = np.array(x[0])
        y[y > 0] = 3.0
        return y * x[1]

    check_values(f, A)
    check_values(f, -A)
    assert grad(f)(A)[1] == 3.0


def test_beside_other_indices():
    with pytest.raises(UnsupportedError, match="an index of truth values beside other indices"):
        jit(lambda x: x[True, 0])(A)
