"""Classes whose `__new__` is the user's: it is entered, as `__init__` is."""

import abc
import collections

import numpy as np
import pytest

from tapeless import grad, jit, vmap

X = np.array([0.7, 1.2, -0.4])


class Poses(collections.UserList, abc.ABC):
    def __new__(cls, *args):
        poses = super().__new__(cls)
        collections.UserList.__init__(poses)
        return poses

    def __init__(self, items):
        self.data = [np.array(item) for item in items]

    def __matmul__(self, other):
        return type(self)([a @ b for a, b in zip(self.data, other.data, strict=True)])


class Turns(Poses):
    pass


class Doubled:
    __slots__ = ("value",)

    def __new__(cls, value):
        self = object.__new__(cls)
        self.value = 2 * value
        return self


class Only:
    instance = None

    def __new__(cls):
        if cls.instance is None:
            cls.instance = super().__new__(cls)
            cls.instance.total = 0.0
        return cls.instance


class Halved:
    def __new__(cls, x):
        return x / 2


def turned(x):
    turns = Turns([[[x[0], x[1]], [x[2], 1.0]]])
    return (turns @ turns).data[0][0, 1]


def of_slots(x):
    return Doubled(x[0]).value * Doubled(x[1]).value


def of_one_instance(x):
    Only().total = x[0] * 2
    return Only().total * x[1]


def of_another_class(x):
    return Halved(x[0]) * x[1]


@pytest.mark.parametrize("program", [turned, of_slots, of_one_instance, of_another_class])
def test_values_and_slopes(program):
    assert jit(program)(X) == pytest.approx(program(X))
    expected = [(program(X + h) - program(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(grad(program)(X), expected, atol=1e-8)


@pytest.mark.parametrize("program", [turned, of_slots, of_another_class])
def test_batches(program):
    batch = np.stack([X, -X])
    np.testing.assert_allclose(vmap(program)(batch), [program(x) for x in batch])


def test_results():
    def made(x):
        return Turns([[x[0], x[1]], [x[2], 1.0]])

    result = jit(made)(X)
    assert type(result) is Turns
    np.testing.assert_array_equal(result.data, made(X).data)


def test_sizes_of_lists():
    def sizes(x):
        items = list(x)
        return np.size(items) * x[0] + np.size(items, 0) + np.size([x, x], 1) + np.size([x, x], 0)

    assert jit(sizes)(X) == sizes(X)
