"""Elements of arrays to which a loop adds stay in registers while it runs."""

import numpy as np
import pytest

from tapeless import grad, jit

RNG = np.random.default_rng(0)


def sums_of_rows(values, columns, ends, x):
    y = np.zeros(len(ends) - 1)
    for i in range(len(ends) - 1):
        for k in range(ends[i], ends[i + 1]):
            y[i] += values[k] * x[columns[k]]
    return y


def rows(n=40):
    counts = RNG.integers(0, 6, n)
    ends = np.concatenate([[0], np.cumsum(counts)])
    return RNG.normal(size=ends[-1]), RNG.integers(0, n, ends[-1]), ends, RNG.normal(size=n)


def test_sums_of_rows_some_of_which_are_empty():
    args = rows()
    np.testing.assert_allclose(jit(sums_of_rows)(*args), sums_of_rows(*args), rtol=1e-12)


def test_gradient():
    values, columns, ends, x = rows()

    def f(values):
        return np.sum(sums_of_rows(values, columns, ends, x) ** 2)

    along = RNG.normal(size=values.shape)
    slope = (f(values + 1e-6 * along) - f(values - 1e-6 * along)) / 2e-6
    np.testing.assert_allclose(np.sum(jit(grad(f))(values) * along), slope, rtol=1e-6)


def stored_until(y, x, places):
    for i in range(len(y)):
        for k in range(len(places)):
            y[i] += x[places[k]]
    return y


def test_what_was_stored_before_an_error_is_there():
    """As where Python runs the loop."""
    places = np.array([0, 2, 9, 1])
    expected, y = np.zeros(3), np.zeros(3)
    for f, array in ((stored_until, expected), (jit(stored_until), y)):
        with pytest.raises(IndexError):
            f(array, np.array([1.0, 2.0, 4.0]), places)
    np.testing.assert_array_equal(y, expected)


def into_itself(x, n):
    for i in range(1, len(x)):
        for k in range(n):
            x[i] += x[k]
    return x


def test_other_elements_of_the_array_are_read_where_they_are():
    x = RNG.normal(size=6)
    np.testing.assert_allclose(jit(into_itself)(x.copy(), 4), into_itself(x.copy(), 4))


@pytest.mark.parametrize("dtype", ["f4", "i4", "u1"])
def test_narrow_numbers_stay_narrow(dtype):
    def f(x, n):
        y = np.zeros(2, dtype)
        for i in range(2):
            for k in range(n):
                y[i] += x[k]
        return y

    x = RNG.integers(0, 9, 50).astype(dtype)
    compiled = jit(f)(x, 50)
    assert compiled.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(compiled, f(x, 50))
