"""What data leaves empty: the largest of nothing, and the mean of nothing, raise what they raise in
Python, also where that is caught."""

import numpy as np
import pytest

from tapeless import jit, value_and_grad

X = np.array([0.5, -0.3, 0.8, 0.2])


def caught(x):
    try:
        return np.max(x)
    except ValueError:
        return -1.0


def caught_by_data(x):
    try:
        return np.max(x[x > 0.6]) + np.min(x)
    except ValueError:
        return -1.0


def caught_in_passes(x):
    s = 0.0
    for k in range(3):
        try:
            s += np.argmin(x[k:]) + np.min(x[k:])
        except ValueError:
            s -= 5.0
    return s


def caught_in_passes_by_data(x):
    s = 0.0
    for v in x:
        try:
            s += np.max(x[x > v])
        except ValueError:
            s -= 5.0 * v
    return s


def left_by_an_error(x):
    s = 0.0
    while True:
        try:
            s += np.max(x)
        except ValueError:
            return s
        x = x[2:]


def mean_of_some(x):
    found = [v for v in x if v > 0.6]
    return sum(found) / len(found)


def mean_of_a_part(x):
    part = x[x > 0.6]
    return sum(part) / len(part)


def mean_if_any(x):
    found = [v for v in x if v > 0.6]
    return sum(found) / len(found) if found else 0.0


def until(x):
    n = len(x)
    while n:
        n -= 1
        if x[n] > 0.6:
            break
    return n * np.sum(x)


ALL = [
    *(caught, caught_by_data, caught_in_passes, caught_in_passes_by_data, left_by_an_error),
    *(mean_of_some, mean_of_a_part, mean_if_any, until),
]


def outcome(f, x):
    try:
        return f(x)
    except (ValueError, ZeroDivisionError) as e:
        return type(e)


@pytest.mark.parametrize("f", ALL)
@pytest.mark.parametrize("x", [X, X * 0.1, X[:1], X[:0]], ids=["some", "none", "one", "empty"])
def test_as_in_python(f, x):
    expected = outcome(f, x)
    for run in (jit(f), lambda x: value_and_grad(f)(x)[0]):
        found = outcome(run, x)
        if isinstance(expected, type):
            assert found is expected
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-15)
