"""Elements read in a loop at places that indices say: of an array that stays as it is they are read
again backwards, of one that the loop changes they are saved."""

import numpy as np
import pytest

from tapeless import grad, jit

X = np.array([0.3, -1.2, 0.7, 2.0, 1.1, -0.4])
STARTS = np.array([0, 2, 2, 5, 7])
PLACES = np.array([1, 3, 0, 5, 5, 2, 1], dtype=np.uint32)
TABLE = np.array([[0, 1], [4, 4], [5, 2], [3, -6]])


def rows_of_a_sparse_matrix(x, starts, places):
    y = np.empty(len(starts) - 1)
    for i in range(len(starts) - 1):
        part = x[places[starts[i] : starts[i + 1]]]
        y[i] = part @ part
    return np.sum(y)


def rows_of_a_table(x, table):
    total = 0.0
    for i in range(len(table)):
        total += np.sum(x[table[i]] ** 2) ** 2
    return total


def of_a_matrix(x, table):
    a = np.outer(x, x)
    total = 0.0
    for i in range(len(table)):
        total += np.sum(a[table[i], :2] ** 3)
    return total


def under_a_test(x, table):
    total = 0.0
    for i in range(len(table)):
        if total < 3:
            total += np.sum(np.exp(x[table[i]]))
    return total


def until_it_is_large(x, table):
    total, i = 0.0, 0
    while i < len(table) and total < 9:
        total += np.sum(np.exp(x[table[i]]) ** 2)
        i += 1
    return total


def of_an_array_that_changes(x, table):
    x = x * 1.0
    for i in range(len(table)):
        part = x[table[i]]
        x[i] = np.sum(part**3)
    return np.sum(x)


CASES = {
    "ragged": (rows_of_a_sparse_matrix, (STARTS, PLACES)),
    "table": (rows_of_a_table, (TABLE,)),
    "rows": (of_a_matrix, (TABLE,)),
    "test": (under_a_test, (TABLE,)),
    "while": (until_it_is_large, (TABLE,)),
    "changing": (of_an_array_that_changes, (TABLE,)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("compiled", [False, True], ids=["array code", "jit"])
def test_gradients(case, compiled):
    f, indices = CASES[case]
    slope = jit(grad(f)) if compiled else grad(f)
    got = slope(X.copy(), *indices)
    np.testing.assert_allclose(got, by_differences(f, indices), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("case", ["ragged", "table", "rows"])
def test_nothing_is_saved(case):
    f, indices = CASES[case]
    assert "part_saved" not in grad(f).source(X, *indices)


def test_saved_where_it_changes():
    assert "part_saved" in grad(of_an_array_that_changes).source(X, TABLE)


def by_differences(f, indices, step=1e-6):
    slopes = np.empty(X.shape)
    for k in range(len(X)):
        above, below = X.copy(), X.copy()
        above[k] += step
        below[k] -= step
        slopes[k] = (f(above, *indices) - f(below, *indices)) / (2 * step)
    return slopes
