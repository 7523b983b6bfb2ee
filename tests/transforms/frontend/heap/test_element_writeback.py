"""Stores to arrays that data picks from a list, where the array is somewhere else, too."""

import numpy as np
import pytest

from tapeless import jit
from tapeless.transforms.errors import AliasError

X = np.array([1.5, -0.5, 2.5, -1.5])


def sign(v):
    return int(v > 0)


def twice_in_the_list(x):
    a = np.zeros(3)
    rows = [a, a]
    rows[sign(x[0])] += 1.0
    return rows[0] + rows[1]


def under_its_own_name(x):
    a = np.zeros(3)
    rows = [a, np.ones(3)]
    rows[1 - sign(x[0])] += 1.0
    return a + rows[0]


def in_a_copy_of_the_list(x):
    rows = [np.zeros(3), np.ones(3)]
    same = list(rows)
    rows[sign(x[0])] += 1.0
    return same[0] + same[1]


def taken_out_before(x):
    rows = [np.zeros(3), np.ones(3)]
    row = rows[sign(x[0])]
    rows[sign(x[0])] = np.full(3, 7.0)
    row += 1.0
    return rows[1] + row


def carried_by_the_loop(x):
    rows = [np.zeros(3), np.ones(3)]
    row = rows[sign(x[0])]
    for v in x:
        row += v
        rows[sign(v)] *= 1.5
    return rows[0] + row


def appended_in_each_pass(x):
    rows, a = [], np.zeros(2)
    for v in x:
        rows.append(a)
        rows[int(abs(v)) % len(rows)] += 1.0
    return rows[0] + a


def appended_again(x):
    rows = [np.array([v, 1.0]) for v in x]
    rows.append(rows[sign(x[0])])
    rows[sign(x[0])] += 1.0
    return rows[-1] + rows[1]


@pytest.mark.parametrize(
    "function",
    [
        twice_in_the_list,
        under_its_own_name,
        in_a_copy_of_the_list,
        taken_out_before,
        carried_by_the_loop,
        appended_again,
    ],
)
def test_arrays_that_have_other_names(function):
    compiled = jit(function)
    for x in (X, -X, X[::-1].copy()):
        np.testing.assert_allclose(compiled(x), function(x), rtol=1e-15)


def test_an_array_that_each_pass_appends_is_refused():
    with pytest.raises(AliasError):
        jit(appended_in_each_pass)(X)


def test_arguments_in_a_list():
    def stores(x):
        rows = [x, np.ones(len(x))]
        rows[1 - sign(x[0])] += 1.0
        return rows[1] + 0.0

    for x in (X, -X):
        np.testing.assert_allclose(jit(stores)(x.copy()), stores(x.copy()), rtol=1e-15)


def test_elements_of_one_list():
    def both(x):
        rows = [np.zeros(2), np.ones(2), np.full(2, 2.0)]
        for v in x:
            k = int(abs(v))
            rows[k] += v
            rows[(k + 1) % 3] -= rows[k]
        return rows[0], rows[1], rows[2]

    np.testing.assert_allclose(jit(both)(X), both(X), rtol=1e-15)
