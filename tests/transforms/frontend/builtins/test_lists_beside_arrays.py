"""Sums and products of lists and what is NumPy's are NumPy's; Python's numbers refuse lists."""

# ruff: noqa: RUF005  (what `+` means is what is tested)

import numpy as np
import pytest

import tapeless

X = np.array([0.3, -1.0, 2.0])


def added(x, s, n):
    return [s, 2, 3] + x, x + [s, 2, 3], (s, 2, 3) + x, np.arange(3) + [s, 2, 3], [1, 2, 3] + x


def added_number(x, s, n):
    return [s, 2, 3] + x[0], [s, n] + np.int64(1), np.float64(2) + [s, 2, 3]


def added_in_place(x, s, n):
    a = [s, 2, 3]
    a += x
    b = [s]
    b += x
    c = [x]
    c += x
    return a, b, c


def added_to_known_ones(x, s, n):
    a = [1, 2, 3]
    a += np.arange(3)
    return a + x


def added_to_a_list_of_a_loop(x, s, n):
    a = [e * s for e in x]
    a += x
    b = [e for e in x if e > 0]
    b += x[:2]
    return a, b, [e * s for e in x] + x


def added_to_nothing(x, s, n):
    a = []
    for _ in range(n):
        a += x
    return a


def multiplied(x, s, n):
    return [s, 2, 3] * x, [1, 2, 3] * np.arange(3), x * (s, 2, 3), [s, 2, 3] * np.array(n)


def repeated(x, s, n):
    return [s, 2] * np.int64(2), np.int64(2) * [s, 2], [s, 2] * (np.int64(2) + len(x))


def multiplied_by_number(x, s, n):
    return x[0] * [s, 2]


def multiplied_in_place(x, s, n):
    a, b = [s, 2, 3], [s, 2, 3]
    a *= x
    b *= np.int64(2)
    return a, b


def subtracted_float(x, s, n):
    return [s, 2] - s


def subtracted_float_in_place(x, s, n):
    a = [1, 2]
    a -= s
    return a


def float_divided_by_list(x, s, n):
    return s / [1.0, s]


def multiplied_by_float(x, s, n):
    return [e for e in x if e > 0] * s


def added_text(x, s, n):
    a = "text"
    a += s
    return a


def subtracted_from_none(x, s, n):
    a = None
    a -= x
    return a


def added_set(x, s, n):
    a = {1}
    a |= s
    return a


def deleted_attribute(x, s, n):
    del s.width
    return s


def deleted_shape(x, s, n):
    del x.shape
    return x


RIGHT = [added, added_number, added_in_place, added_to_known_ones, added_to_a_list_of_a_loop,
         multiplied, repeated, multiplied_in_place]  # fmt: skip
WRONG = [added_to_nothing, multiplied_by_number, subtracted_float, subtracted_float_in_place,
         float_divided_by_list, multiplied_by_float, added_text, subtracted_from_none, added_set,
         deleted_attribute, deleted_shape]  # fmt: skip


@pytest.mark.parametrize("function", RIGHT)
def test_as_numpy(function):
    expected = tapeless.tree.leaves(function(X.copy(), 0.7, 2))
    for f in (tapeless.jit(function).plain, tapeless.jit(function)):
        actual = tapeless.tree.leaves(f(X.copy(), 0.7, 2))
        for x, y in zip(actual, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12)


@pytest.mark.parametrize("function", WRONG)
def test_what_python_refuses(function):
    with pytest.raises((TypeError, ValueError, AttributeError)) as expected:
        function(X.copy(), 0.7, 2)
    for f in (tapeless.jit(function).plain, tapeless.grad(function, argnums=1)):
        with pytest.raises(type(expected.value).__mro__[0]) as actual:
            f(X.copy(), 0.7, 2)
        assert "Symbol" not in str(actual.value)
