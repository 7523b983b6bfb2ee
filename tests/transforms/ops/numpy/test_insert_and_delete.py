"""np.delete and np.insert with slices, lists and positions out of bounds."""

import numpy as np
import pytest

from tapeless import jit, value_and_grad, vmap
from tapeless.test_util import check_grads
from tests.transforms.ops.agreement import check_slopes, check_values

A = np.array([0.5, -1.2, 2.0, 0.3, -0.4])
M = np.arange(6.0).reshape(2, 3)

PROGRAMS = {
    "an empty slice": lambda x: np.delete(x, slice(3, 1)),
    "a slice": lambda x: np.delete(x, slice(1, 3)),
    "a slice from the end": lambda x: np.delete(x, slice(-2, None)),
    "a slice beyond": lambda x: np.delete(x, slice(2, 70)),
    "a slice before": lambda x: np.delete(x, slice(-20, 2)),
    "a step": lambda x: np.delete(x, slice(0, 4, 2)),
    "a step back": lambda x: np.delete(x, slice(None, None, -2)),
    "nothing": lambda x: np.delete(x, []),
    "a list": lambda x: np.delete(x, [1, -1]),
    "a mask": lambda x: np.delete(x, np.array([True, False, True, False, False])),
    "one": lambda x: np.delete(x, -5),
    "one beyond": lambda x: np.delete(x, 5),
    "one before": lambda x: np.delete(x, -6),
    "inserted": lambda x: np.insert(x, -1, 8.0),
    "inserted at the end": lambda x: np.insert(x, 5, 8.0),
    "inserted beyond": lambda x: np.insert(x, 6, 8.0),
    "inserted before": lambda x: np.insert(x, -6, 8.0),
    "inserted in a slice": lambda x: np.insert(x, slice(0, 2), 9.0),
    "inserted in a slice of two": lambda x: np.insert(x, slice(1, 3), x[:2]),
    "inserted in a slice of one": lambda x: np.insert(x, slice(3, 4), 2.0),
    "inserted in an empty slice": lambda x: np.insert(x, slice(3, 3), 2.0),
    "inserted in a list": lambda x: np.insert(x, [1, 3], [9.0, 8.0]),
    "nothing inserted": lambda x: np.insert(x, [], []),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name):
    check_values(PROGRAMS[name], A)


@pytest.mark.parametrize("name", [n for n in PROGRAMS if not n.endswith(("beyond", "before"))])
def test_slopes(name):
    check_slopes(PROGRAMS[name], A)


def test_axes():
    check_values(lambda m: np.delete(m, 3, axis=1), M)
    check_values(lambda m: np.delete(m, slice(None, None, 2), axis=1), M)
    check_values(lambda m: np.insert(m, slice(0, 2), 9.0, axis=1), M)


@pytest.mark.parametrize(("n", "m"), [(1, 3), (3, 1), (0, 9), (-2, 5)])
def test_bounds_that_are_arguments(n, m):
    check_values(lambda x, n, m: np.delete(x, slice(n, m)), A, n, m)
    check_slopes(lambda x, n, m: np.delete(x, slice(n, m)), A, n, m)


@pytest.mark.parametrize("n", [2, -2, 4, 5, -6])
def test_a_position_that_is_an_argument(n):
    check_values(lambda x, n: np.delete(x, n), A, n)


def test_all_lengths():
    f = jit(lambda x: np.delete(x, slice(3, 1)))
    for n in (5, 2, 0, 3):
        np.testing.assert_array_equal(f(A[:n]), A[:n])


def test_batches():
    def f(x):
        return np.insert(np.delete(x, slice(2, 0)), slice(0, 2), 9.0)

    for run in (vmap(f), jit(vmap(f))):
        np.testing.assert_array_equal(run(M), [f(row) for row in M])


def test_nothing_resized():
    check_values(lambda x: np.resize(x, (2, 2)), np.zeros(0))


def deleted(x, k):
    return np.delete(x, k)


def deleted_row(x, k):
    return np.delete(x.reshape(4, 3), k, axis=0)


def deleted_column(x, k):
    return np.delete(x.reshape(4, 3), k % 3, axis=1)


def inserted(x, k):
    return np.insert(x, k, 7.5)


def inserted_row(x, k):
    return np.insert(x.reshape(4, 3), k, x[:3], axis=0)


def inserted_column(x, k):
    return np.insert(x.reshape(4, 3), [k % 3], x[:4].reshape(4, 1), axis=1)


def inserted_part(x, k):
    return np.insert(x, k, x[:3] * 2)


AT_ONE_PLACE = (
    *(deleted, deleted_row, deleted_column),
    *(inserted, inserted_row, inserted_column, inserted_part),
)


@pytest.mark.parametrize("f", AT_ONE_PLACE)
def test_at_a_place_that_data_gives(f):
    x = np.random.default_rng(0).random(12)
    compiled = jit(f)
    for k in (0, 3, -1, -4):
        np.testing.assert_array_equal(compiled(x, np.array(k)), f(x, k))
    assert len(compiled.cache) == 1
    check_grads(lambda x: f(np.sin(x), np.array(2)), (x,), order=2)
    check_grads(jit(lambda x: f(np.sin(x), np.array(-2))), (x,), order=1)
    places = np.array([0, 3, -2])
    np.testing.assert_array_equal(
        vmap(f, in_axes=(None, 0))(x, places), np.stack([f(x, k) for k in places])
    )


@pytest.mark.parametrize(
    ("f", "k"), [(deleted, 12), (deleted, -13), (inserted, 13), (inserted, -13)]
)
def test_a_place_of_data_that_is_not_there(f, k):
    with pytest.raises(IndexError, match="out of bounds for axis 0"):
        jit(f)(np.ones(12), np.array(k))
    with pytest.raises(IndexError, match="out of bounds for axis 0"):
        vmap(f, in_axes=(None, 0))(np.ones(12), np.array([1, k]))
    with pytest.raises(IndexError, match="out of bounds for axis 0"):
        f(np.ones(12), k)


def test_loops_that_delete_and_insert_stay_loops():
    def smallest_first(x):
        total = 0.0
        while len(x) > 1:
            k = np.argmin(x)
            total += x[k] * len(x)
            x = 1.01 * np.delete(x, k)
        return total + x[0]

    def in_order(x):
        ordered = x[:1]
        for value in x[1:]:
            ordered = np.insert(ordered, np.searchsorted(ordered, value), value)
        return np.sum(ordered * np.arange(len(x)))

    x = np.random.default_rng(1).random(9)
    for f in (smallest_first, in_order):
        slope = jit(value_and_grad(f))
        for _ in range(2):
            value, gradient = slope(x)
            assert value == pytest.approx(f(x), rel=1e-12)
            step = 1e-7 * np.cos(np.arange(9.0))
            change = f(x + step) - f(x - step)
            assert gradient @ step * 2 == pytest.approx(change, rel=1e-5)
            x = x[::-1]
        assert len(slope.cache) == 1
