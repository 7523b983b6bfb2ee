"""Lists repeated a number of times that run-time values decide, which may be negative."""

import numpy as np
import pytest

from tapeless import jit, value_and_grad, vmap


def of_constants(x):
    return sum([1.0] * int(x)) + 0 * x


def of_data(x):
    y = [x] * int(x)
    return sum(y) + len(y)


def extended(x):
    y = [0.0] * int(x) + [x]
    return sum(y) + len(y)


@pytest.mark.parametrize("f", [of_constants, of_data, extended])
@pytest.mark.parametrize("form", [lambda f: f, jit])
def test_fewer_than_no_items_are_none(f, form):
    x = np.array([2.5, -1.0, 0.0])
    np.testing.assert_array_equal([form(f)(v) for v in x], [f(v) for v in x])
    np.testing.assert_array_equal([form(value_and_grad(f))(v)[0] for v in x], [f(v) for v in x])
    np.testing.assert_array_equal([form(vmap(f))(np.array([v]))[0] for v in x], [f(v) for v in x])


@pytest.mark.parametrize("form", [value_and_grad, jit])
def test_numbers_of_items_of_later_calls(form):
    def f(x, n):
        return sum([x] * (n - 2))

    transformed = form(f)
    for n in (4, 3, 2, 1):
        value = transformed(1.5, n)
        assert (value[0] if isinstance(value, tuple) else value) == f(1.5, n)
