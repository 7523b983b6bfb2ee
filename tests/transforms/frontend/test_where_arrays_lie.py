"""Whether ravel() gives a view, after stores, and of what functions made."""

import numpy as np
import pytest

from tapeless import jit
from tapeless.errors import AliasError


def by_flat(a):
    a.flat[1] = 9.0
    a.ravel()[2] = 5.0
    return a


def by_a_transposed_view(a):
    a.T[0] = 9.0
    a.ravel()[2] = 5.0
    return a


def as_a_whole(a):
    a[:] = a + 1.0
    a.ravel()[2] = 5.0
    return a


def in_a_loop(a):
    for i in range(2):
        a.flat[i] = 9.0
    a.ravel()[2] = 5.0
    return a


def under_a_test(a):
    if a[0, 0] > 3:
        a.flat[1] = 2.0
    a.ravel()[2] = 5.0
    return a


def of_a_gradient(a):
    g = np.gradient(a)[0]
    g.ravel()[1] = 5.0
    return g


def of_a_selection(a):
    g = np.select([a >= 0], [a], 0.0)
    g.ravel()[1] = 5.0
    return g


def of_a_choice(a):
    g = np.choose(np.array([[0, 1], [1, 0]]), [a, a + 1])
    g.ravel()[1] = 5.0
    return g


def of_a_vectorised_function(a):
    g = np.vectorize(lambda t: t * 2)(a)
    g.ravel()[1] = 5.0
    return g


ARRAYS = {
    "rows": lambda: np.zeros((2, 2)),
    "columns": lambda: np.asfortranarray(np.zeros((2, 2))),
    "turned rows": lambda: np.zeros((2, 2))[::-1],
    "some rows": lambda: np.zeros((4, 2))[::2],
    "turned columns": lambda: np.zeros((2, 2))[:, ::-1],
}


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize(
    "f",
    [
        *(by_flat, by_a_transposed_view, as_a_whole, in_a_loop, under_a_test),
        *(of_a_gradient, of_a_selection, of_a_choice, of_a_vectorised_function),
    ],
)
def test_stores_go_where_those_of_numpy_go(f, array):
    mine, numpys = ARRAYS[array](), ARRAYS[array]()
    wanted = f(numpys)
    try:
        found = jit(f)(mine)
    except AliasError:
        assert f in (of_a_gradient, of_a_vectorised_function)  # which are refused, where unknown
        return
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(mine, numpys)
