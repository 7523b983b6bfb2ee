"""functools.cached_property of classes that refuse or change what is set."""

import functools
from dataclasses import dataclass

import numpy as np

from tapeless import grad, jit


@dataclass(frozen=True)
class Frozen:
    a: float
    b: float = 1.0

    @functools.cached_property
    def total(self):
        return self.a + 2 * self.b


class Doubling:
    """Doubles what is set."""

    def __init__(self, a):
        self.a = a

    def __setattr__(self, name, value):
        super().__setattr__(name, 2 * value)

    @functools.cached_property
    def square(self):
        return self.a**2


def of_a_frozen_dataclass(x):
    pair = Frozen(x[0], b=x[1])
    return pair.total * pair.total


def past_a_method_that_sets(x):
    number = Doubling(x[0])
    return number.square + number.square * x[1]


def test_cached_properties():
    x = np.array([1.5, 2.0])
    for f in (of_a_frozen_dataclass, past_a_method_that_sets):
        assert jit(f)(x) == f(x)
        differences = [(f(x + s) - f(x - s)) / 2e-6 for s in 1e-6 * np.eye(2)]
        np.testing.assert_allclose(grad(f)(x), differences, rtol=1e-6)
