"""Indices in compiled code: those out of bounds raise, and others mean what they do in NumPy."""

import numpy as np
import pytest

from tapeless import TapelessError, grad, jit

X = np.arange(12.0).reshape(4, 3)


def element_in_a_loop(x, k):
    total = 0.0
    for i in range(3):
        total = total + x[k, i] * x[i, 0]
    return total


def moving(x, k):
    total = 0.0
    for i in range(2):
        total = total + x[k + i, 1]
    return total


def row(x, k):
    return x[k] * 2.0


def column(x, k):
    return np.sum(x[:, k])


def gathered(x, k):
    return x[np.array([0, k, 1])]


def pairs(x, k):
    return x[np.array([0, k]), np.array([1, 2])]


def of_a_view(x, k):
    return x[1:, ::-1].T[k, 0] + x[::2][k, 1]


def stored(x, k):
    y = x.copy()
    y[k] = 1.0
    for i in range(2):
        y[k, i] += 2.0
    return y


def scattered(x, k):
    y = x.copy()
    y[np.array([1, k])] = -1.0
    np.add.at(y, np.array([k, 0, k]), 1.0)
    return y


def by_contents(x, k):
    total = 0.0
    for i in range(2):
        total = total + x[int(x[0, 1]) * k, i]
    return total


def slope(x, k):
    return grad(lambda x: np.sum(x[k] ** 2) + x[k, 1])(x)


FORMS = [
    *(element_in_a_loop, moving, row, column, gathered, pairs),
    *(of_a_view, stored, scattered, by_contents, slope),
]


def outcome(function, *args):
    try:
        return function(*args)
    except IndexError:
        return None


@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
def test_as_numpy(function):
    compiled = jit(function)
    for k in range(-6, 7):
        kept = X.copy()
        want, got = outcome(function, X, k), outcome(compiled, kept, k)
        assert (want is None) == (got is None), k
        if want is not None:
            np.testing.assert_allclose(got, want, rtol=1e-12)
        np.testing.assert_array_equal(kept, X)


def test_slices_stop_at_the_end():
    def parts(x, k):
        total = 0.0
        for i in range(2):
            total = total + np.sum(x[k:]) + np.sum(x[:k, i:]) + np.sum(x[-2:k]) + np.sum(x[i:k:2])
        return total

    compiled = jit(parts)
    for k in range(-7, 8):
        np.testing.assert_allclose(compiled(X, k), parts(X, k), rtol=1e-12)


@pytest.mark.parametrize(
    ("use", "path"),
    [
        (lambda f: f(1.0, 2**63), "n"),
        (lambda f: f(1.0, n=-(2**63) - 1), "n"),
        (lambda f: f(1.0, {"a": [1, 2**63]}), r"n\['a'\]\[1\]"),
    ],
)
def test_an_argument_of_more_than_64_bits_is_named(use, path):
    f = jit(lambda x, n: x * (n["a"][1] if isinstance(n, dict) else n))
    for _ in range(3):
        with pytest.raises(OverflowError, match=f"{path} takes 65 bits with its sign") as e:
            use(f)
        assert isinstance(e.value, TapelessError)
        assert f(2.0, 3) == 6.0


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (4, 3)])
def test_indices_are_tested_where_the_part_is_empty(shape):
    def column(m, i):
        m = m * 1.0
        m[1:, -i] -= 1.0
        return m

    def turned(m, i):
        m = m * 1.0
        v = m[1:, ::-1].T
        v[i] = 3.0
        return m

    m = np.arange(12.0)[: np.prod(shape)].reshape(shape)
    for f in (column, turned):
        np.testing.assert_array_equal(jit(f)(m, 1), f(m, 1))
        for i in (5, -5):
            for run in (f, jit(f)):
                with pytest.raises(IndexError):
                    run(m, i)


def test_what_nobody_needs_does_not_raise_but_is_caught():
    def alone(x, i):
        x[i]
        return x * 2.0

    def caught(x, i):
        try:
            x[i]
        except IndexError:
            return -x
        return x * 2.0

    x = np.ones(3)
    np.testing.assert_array_equal(jit(alone)(x, 10), x * 2)
    np.testing.assert_array_equal(jit(caught)(x, 10), -x)
    np.testing.assert_array_equal(jit(caught)(x, 2), x * 2)
