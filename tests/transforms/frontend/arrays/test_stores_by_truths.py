"""Stores beside a truth value: what it chooses has an axis of its own, and values may have it."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap

X = np.array([1.5, 2.0, 3.0])


def its_own_element(x):
    array = np.asarray(x[1] * 3)
    array[x[0] > 1] = array[x[0] > 1] ** 2
    return array * x[0]


def both_ways(x):
    array, mask = np.zeros_like(np.hypot(x[0], x[1])), np.asarray(x[0] > 1)
    array[mask] += x[2] * np.cos(array[mask])
    array[~mask] = -x[1]
    return array


def one_value(x):
    array = np.ones(())
    array[x[0] > 1] = x[:1]
    return array + 0 * x[0]


def a_known_one(x):
    array = np.ones(())
    array[True] = x[:1]
    return array * x[1]


def of_rows(x):
    array = np.ones(3)
    array[x[0] > 1] = x[None] * 2
    return np.sum(array * x)


def of_columns(x):
    array = np.ones((3, 2))
    array[:, x[0] > 1] = np.ones((3, 1, 2)) * x[:2]
    return np.sum(array) * x[0]


PROGRAMS = [its_own_element, both_ways, one_value, a_known_one, of_rows, of_columns]


@pytest.mark.parametrize("program", PROGRAMS)
def test_values(program):
    for x in (X, X - 1, -X):
        result = jit(program)(x.copy())
        assert np.shape(result) == ()
        assert result == pytest.approx(program(x))
    batch = np.stack([X, X - 1, -X])
    np.testing.assert_allclose(vmap(program)(batch), [program(x) for x in batch])


@pytest.mark.parametrize("program", PROGRAMS)
def test_slopes(program):
    for x in (X, X - 1, -X):
        steps = 1e-6 * np.eye(3)
        expected = [(program(x + h) - program(x - h)) / 2e-6 for h in steps]
        np.testing.assert_allclose(grad(program)(x), expected, atol=1e-6)


def test_values_that_are_too_many():
    def too_many(x):
        array = np.ones(())
        array[x[0] > 1] = x
        return array

    for x in (X, -X):
        with pytest.raises(ValueError, match=r"cannot|could not"):
            too_many(x)
        with pytest.raises(ValueError, match=r"cannot|could not"):
            jit(too_many)(x)
