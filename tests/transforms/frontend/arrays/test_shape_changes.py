"""`y.shape = s` changes the array that all its names stand for; views of it stay as they are."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transforms.errors import UnsupportedError

X = np.arange(6.0) + 1


def stored_to(x):
    y = x * 2
    y.shape = (2, 3)
    y[0, 1] = 5.0
    return y * np.array([[1.0], [2.0]])


def with_views_and_names(x):
    y = x * 2
    part, same = y[1:3], y
    y.shape = (3, 2)
    y[0] = 7.0
    part *= 3.0
    return np.concatenate([part, same.ravel(), np.sum(y, axis=0)])


def of_a_view(x):
    y = (x * 2).reshape(2, 3).T
    same = y
    y.shape = (3, 1, 2)
    same[0, 0, 0] = 1.0
    return 1 * y


def to_a_line_and_a_column(x):
    y = np.outer(x, x)
    y.shape = -1
    y.shape += (1,)
    return y


def that_needs_a_copy(x):
    y = np.outer(x, x).T
    try:
        y.shape = (36,)
    except AttributeError:
        return x
    return y


def by_a_function(x):
    y, pair = x[:4] * 1, []
    pair += [y, y]
    into_a_square(y)
    return pair[1] @ pair[0]


def into_a_square(y):
    y.shape = 2, 2


PROGRAMS = [
    *(stored_to, with_views_and_names, of_a_view, to_a_line_and_a_column),
    *(that_needs_a_copy, by_a_function),
]


@pytest.mark.parametrize("function", PROGRAMS)
def test_values_and_derivatives(function):
    wanted = function(X)
    for value in (jit(function)(X), vmap(function)(np.stack([X, X]))[1]):
        np.testing.assert_allclose(value, wanted, rtol=1e-14)

    def total(x):
        return np.sum(function(x) ** 2)

    steps = 1e-6 * np.eye(6)
    slope = [(total(X + step) - total(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(grad(total)(X), slope, rtol=1e-6, atol=1e-5)


def in_a_loop(x):
    for k in range(2):
        y = x * k
        y.shape = (2, 3)
        x = y.ravel() + 1
    return x


def test_in_a_loop(traced):
    np.testing.assert_array_equal(jit(in_a_loop)(X), in_a_loop(X))


def of_an_argument(x):
    x.shape = (2, 3)
    return np.sum(x * 2)


def test_the_shape_of_an_argument_is_refused(traced):
    x = X.copy()
    with pytest.raises(UnsupportedError, match="the shape of an argument"):
        jit(of_an_argument)(x)
    assert x.shape == (6,)
