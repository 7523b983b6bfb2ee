"""Stores of one part of an array to another that overlaps it are done as if by a copy."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap

V, M = np.arange(10.0), np.arange(16.0).reshape(4, 4)


def rows_of_columns(m):
    m = m * 1.0
    for i in range(4):
        m[i] = m[:, 3 - i]
    return m


def halves(v):
    v[::2] = v[:5]
    v[5:] = v[1::2]
    return v


def by_copies(f, x):
    """The same by lists of Python, which copies."""
    x = x.tolist()
    if f is halves:
        x[::2] = x[:5]
        x[5:] = x[1::2]
    else:
        for i in range(4):
            x[i] = [row[3 - i] for row in x]
    return np.array(x)


@pytest.mark.parametrize(("f", "x"), [(rows_of_columns, M), (halves, V)])
def test_values(f, x):
    expected = by_copies(f, x)
    np.testing.assert_array_equal(jit(f).plain(x.copy()), expected)
    np.testing.assert_array_equal(jit(f)(x.copy()), expected)
    np.testing.assert_array_equal(vmap(f)(np.stack([x, x]))[1], expected)
    slopes = grad(lambda x: np.sum(f(x) ** 2))(x.copy())
    np.testing.assert_array_equal(jit(grad(lambda x: np.sum(f(x) ** 2)))(x.copy()), slopes)
    assert np.sum(slopes * x) == 2 * np.sum(expected**2)  # it is linear, its square of degree two
