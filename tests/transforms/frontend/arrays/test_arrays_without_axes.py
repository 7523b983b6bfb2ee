"""Arrays without axes are arrays: views of elements, and what NumPy makes as one."""

import numpy as np
import pytest

from tapeless import grad, jit, vmap


def element(x):
    part = x[0, 0, ...]
    part += x[1, 1]
    return x


def element_in_the_middle(x):
    part = x[1, ..., 0]
    part[...] = 5.0 * x[0, 0]
    return x


def squeezed(x):
    part = np.squeeze(x[:1, 1:])
    part *= 3
    return x


def reshaped(x):
    x[:1, 1:].reshape(())[()] = x[1, 1]
    return x


def in_a_loop(x):
    for i in range(2):
        part = x[i, ..., 0]
        part *= 3
    return x


def contracted(x):
    product = np.tensordot(x, x, 2)
    other = product
    other += 1
    return product


def chosen(x):
    value = np.where(x[0, 0] > 0, x[0, 0], 1.0)
    other = value
    other *= 2
    return value


def places(x):
    return x[np.where(x > 1)].sum()


def a_number_is_none(x):
    value = x[0, 0]
    other = value
    other *= 2
    return value + 0 * other


PROGRAMS = [
    element,
    element_in_the_middle,
    squeezed,
    reshaped,
    in_a_loop,
    contracted,
    chosen,
    places,
    a_number_is_none,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_stores_through_other_names(f):
    x = np.array([[1.0, 2.0], [0.5, 4.0]])
    expected = f(x.copy())
    np.testing.assert_allclose(jit(f)(x.copy()), expected)
    np.testing.assert_allclose(vmap(f)(x[None].copy()), [expected])


def test_derivative():
    def f(x):
        y = x * x
        part = np.squeeze(y[:1, 1:])
        part *= y[1, 1]
        return np.sum(y) + np.tensordot(y, y, 2)

    x = np.array([[1.0, 2.0], [0.5, 4.0]])
    steps = 1e-6 * np.eye(4).reshape(4, 2, 2)
    expected = np.reshape([(f(x + s) - f(x - s)) / 2e-6 for s in steps], (2, 2))
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6)
