"""What depends on the type that data gives a number is refused for all data, and right in a
trace."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.errors import UnsupportedError

X = np.array([0.4, 2.0, 3.0])


def by_a_branch(x):
    s = 0 if x[0] > 1 else 0.5
    return x * 2 if isinstance(s, int) else x + s


def by_nested_branches(x):
    s = (0 if x[1] > 1 else 1) if x[0] > 1 else 0.5
    return x * 2 if type(s) is int else x + s


def by_a_loop(x):
    s = 0
    for v in x:
        if v > 10 * x[0]:
            s += v
    return x * 2 if isinstance(s, int) else x * s


def in_a_loop(x):
    s, total = 0, 0.0
    for v in x:
        total += 3 * v if isinstance(s, float) else v
        s += v
    return total * x


def by_a_number_of_the_array(x):
    s = x[0] if x[0] > 1 else 1
    return x * (3 if isinstance(s, np.float64) else 2)


def as_a_dtype(x):
    s = 0 if x[0] > 1 else 0.5
    return np.full(3, 1.5).astype(type(s)) * x


def picked_from_a_list(x):
    s = [0, 0.5][int(x[0] > 1)]
    return x * (3 if isinstance(s, int) else 2)


def computed_of_such_a_number(x):
    s = abs(0 if x[0] > 1 else 0.5) + 1
    return x * (3 if isinstance(s, int) else 2)


def a_sum_of_what_is_left(x):
    s = sum(x[x > 1])  # Python's 0 where nothing is left
    return x * (3 if isinstance(s, int) else 2)


def a_sum_of_a_list(x):
    s = sum([v * 2 for v in x if v > 1])
    return x * (3 if isinstance(s, int) else 2)


PROGRAMS = [
    *(by_a_branch, by_nested_branches, by_a_loop, in_a_loop, by_a_number_of_the_array, as_a_dtype),
    *(picked_from_a_list, computed_of_such_a_number, a_sum_of_a_list),
]


@pytest.mark.parametrize("function", [*PROGRAMS, a_sum_of_what_is_left])
def test_refused_for_all_values(function):
    with pytest.raises(UnsupportedError, match="as data decides"):
        jit(function)(X)


@pytest.mark.parametrize("function", PROGRAMS)
def test_traced(function, traced):
    compiled, batched, slope = jit(function), vmap(function), grad(lambda x: np.sum(function(x)))
    for x in (X, X + 2, X):
        np.testing.assert_array_equal(compiled(x), function(x))
        np.testing.assert_array_equal(batched(x[None])[0], function(x))
        ends = [np.sum(function(x + h * np.ones(3))) for h in (1e-6, -1e-6)]
        assert np.isclose(np.sum(slope(x)), (ends[0] - ends[1]) / 2e-6, rtol=1e-6)


def both_are_floats(x):
    s = x[0] if x[0] > 1 else 0.5
    return x * 2 if isinstance(s, float) else x


def a_sum_from_a_float(x):
    s = sum([float(v) for v in x if v > 1], 0.0)
    return x * 2 if type(s) is float else x


def an_int_at_first(x):
    s = 0
    for v in x:
        s += v
    return x * 2 if isinstance(s, float) else x


@pytest.mark.parametrize("function", [both_are_floats, a_sum_from_a_float, an_int_at_first])
def test_the_same_for_all(function):
    for x in (X, X + 2):
        np.testing.assert_array_equal(jit(function)(x), function(x))


def test_the_least_of_mixed_numbers():
    def f(x):
        least = sorted([0, float(x[0])])[0]
        return x * (3 if isinstance(least, int) else 2)

    with pytest.raises(UnsupportedError, match="as data decides"):
        jit(f)(X)
