"""What Python asks of classes: `__class__`, `__index__`, partial methods, managers on a stack."""

import functools
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest

from tapeless import grad, jit

S = np.array([1.0, 2.0, -1.0, 0.5])


class Place:
    def __init__(self, k):
        self.k = k

    def __index__(self):
        return self.k


def at_an_object(x, s):
    i, numbers = Place(2), [x, 2 * x, 3 * x]
    table, y = np.outer(s, s * x), s * x
    y[i] = 5.0 * x
    y[Place(0) : i] *= 2
    numbers[Place(0)] = x**2
    parts = [s[i] * x, numbers[i], numbers[0], table[i, Place(1)], numbers[:i][0], range(5)[i]]
    return sum(parts) + np.sum(y) + np.sum(table[i:, 0])


def at_an_object_by_data(x, s):
    total = 0.0
    for v in s:
        total += s[Place(int(np.argmax(s * v)))] * x
    return total


@functools.singledispatch
def fed(v):
    raise TypeError(f"{v.__class__.__name__} is not fed")


@fed.register
def _(v: float):
    return v * 2


@fed.register
def _(v: np.ndarray):
    return np.sum(v)


@fed.register(list)
@fed.register(tuple)
def _(v):
    return sum(fed(k) for k in v)


def by_the_class_of_an_argument(x, s):
    return fed(x) + fed(s * x) + fed([x, (s, x)]) + fed(s[0])


class Model:
    def __init__(self, a):
        self.a = a

    def power(self, p, y):
        return (self.a * y) ** p

    square = functools.partialmethod(power, 2)

    @functools.singledispatchmethod
    def feed(self, v):
        raise TypeError

    @feed.register
    def _(self, v: float):
        return v * self.a

    @feed.register
    def _(self, v: np.ndarray):
        return v.sum() * self.a


def methods_of_functools(x, s):
    model = Model(x)
    return model.square(3.0) + model.feed(s) + model.feed(x)


def of_its_class(x, s):
    names = [v.__class__.__name__ for v in (x, s, [x], (x,), {"a": x}, s[0], f"{x}")]
    assert names == ["float", "ndarray", "list", "tuple", "dict", "float64", "str"], names
    return x.__class__(s[1]) * x if s.__class__ is np.ndarray else 0.0


@contextmanager
def scaled(state, k):
    before = state["k"]
    state["k"] = before * k
    try:
        yield
    finally:
        state["k"] = before


def managers_on_a_stack(x, s):
    state, total = {"k": 1.0}, 0.0
    with ExitStack() as stack:
        for v in s:
            stack.enter_context(scaled(state, v * x))
            total += state["k"]
    return total + state["k"]


PROGRAMS = (
    at_an_object,
    at_an_object_by_data,
    by_the_class_of_an_argument,
    methods_of_functools,
    of_its_class,
    managers_on_a_stack,
)


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_access(f):
    x = 0.3
    np.testing.assert_allclose(jit(f)(x, S), f(x, S), rtol=1e-12)
    difference = (f(x + 1e-6, S) - f(x - 1e-6, S)) / 2e-6
    for slope in (grad(f), jit(grad(f))):
        np.testing.assert_allclose(slope(x, S), difference, rtol=1e-6)
