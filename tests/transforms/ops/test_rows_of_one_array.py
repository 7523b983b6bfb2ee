"""Functions that join arrays, given one array in the place of a list of its rows."""

import numpy as np
import pytest

from tapeless import jit, vmap
from tests.transforms.ops.agreement import check_slopes, check_values

LINE = np.arange(5.0)
M = np.arange(6.0).reshape(2, 3)
CUBE = np.arange(24.0).reshape(2, 3, 4)
JOINING = (np.concatenate, np.vstack, np.hstack, np.stack, np.column_stack, np.dstack)


@pytest.mark.parametrize("of", JOINING)
@pytest.mark.parametrize("x", [LINE, M, CUBE], ids=["line", "matrix", "cube"])
def test_rows(of, x):
    check_values(lambda a: of(a), x)
    if (of, x.ndim) != (np.concatenate, 1):
        check_slopes(lambda a: of(a), x)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_axes(axis):
    check_values(lambda a: np.concatenate(a, axis=axis), CUBE)
    if axis is not None:
        check_values(lambda a: np.stack(a, axis=axis), CUBE)


@pytest.mark.parametrize("of", JOINING)
def test_no_rows(of):
    check_values(lambda a: of(a), np.zeros((0, 3)))


@pytest.mark.parametrize("of", JOINING)
def test_batches(of):
    for run in (vmap(of), jit(vmap(of))):
        np.testing.assert_array_equal(run(CUBE), [of(m) for m in CUBE])


@pytest.mark.parametrize("of", JOINING)
def test_all_lengths(of):
    f = jit(lambda m: of(m))
    for n in (2, 7, 1, 40):
        x = np.arange(3.0 * n).reshape(n, 3)
        np.testing.assert_array_equal(f(x), of(x))


def test_the_result_is_a_new_array():
    def f(m):
        made = np.vstack(m)
        made[0] = 9.0
        return made

    check_values(f, M)


MIXED = {
    "a row first": lambda m: np.array([m[0], [1.0, 2.0, 3.0]]),
    "a row last": lambda m: np.array([[1.0, 2.0, 3.0], m[0]]),
    "rows inside": lambda m: np.array([m, [[1.0, 2.0, 3.0], m[0]]]),
    "too short": lambda m: np.array([[1.0, 2.0, 3.0], m[0, :2]]),
    "a number": lambda m: np.array([m[0], 1.0]),
    "integers": lambda m: np.array([m[0], [1, 2, 3]]),
    "stacked": lambda m: np.vstack([m[0], [1.0, 2.0, 3.0]]),
}


@pytest.mark.parametrize("name", MIXED)
def test_rows_beside_lists(name):
    check_values(MIXED[name], M)


def test_slopes_of_rows_beside_lists():
    check_slopes(MIXED["rows inside"], M)
