"""What super() finds behind a class is the user's code: properties and descriptors, too."""

from functools import cached_property

import numpy as np
import pytest

from tapeless import grad, jit, strict


class Positive:
    """Reads as half of what is stored where that is negative."""

    def __set_name__(self, owner, name):
        self.name = f"_{name}"

    def __get__(self, obj, cls=None):
        if obj is None:
            return self
        value = getattr(obj, self.name)
        return value if value > 0 else 0.5 * value

    def __set__(self, obj, value):
        setattr(obj, self.name, 2.0 * value)


class Spring:
    limited = Positive()
    stiffness = 3.0

    def __init__(self, length):
        self.length = self.limited = length

    @property
    def force(self):
        return -self.stiffness * self.length if self.length > 0 else 0.1 * self.length

    @cached_property
    def energy(self):
        return self.length**2 if self.length > 0 else -self.length


class Damped(Spring):
    stiffness = 4.0

    @property
    def force(self):
        return super().force * super().stiffness

    @cached_property
    def energy(self):
        return super().energy + 1.0

    @property
    def limited(self):
        return 2.0 * super().limited

    @limited.setter
    def limited(self, value):
        self._limited = value


class Loud:
    @property
    def force(self):
        return 10.0 * super().force


class LoudDamped(Loud, Damped):
    @property
    def energy(self):
        return super().energy * self.unit

    def __getattr__(self, name):
        if name == "unit":
            return 7.0
        raise AttributeError(name)

    @property
    def force(self):
        try:
            return super().nothing
        except AttributeError:
            return super().force


def of_property(x):
    return Damped(x).force * x


def of_cached(x):
    spring = Damped(x)
    return spring.energy * x + spring.energy


def of_descriptor(x):
    return Damped(x).limited * x


def along_the_order(x):
    return LoudDamped(x).force * x


@pytest.mark.parametrize("f", [of_property, of_cached, of_descriptor, along_the_order])
def test_code_behind_a_class_branches_on_data(f):
    with strict(True):
        for x in (1.5, -2.0):
            assert jit(f)(x) == pytest.approx(f(x))
            slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
            assert grad(f)(x) == pytest.approx(slope)


def test_a_cached_property_below_a_property():
    def f(x):
        return LoudDamped(x).energy * x

    for x in (1.5, -2.0):
        assert grad(f)(x) == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6)


OUTER = Damped(1.0)


def test_a_number_of_an_object_from_outside_is_read_through_super():
    def f(x):
        return OUTER.force * np.sin(x)

    for length in (1.0, 2.0, -1.5, 3.0):
        OUTER.length = length
        assert grad(f)(0.3) == pytest.approx(OUTER.force * np.cos(0.3))
        assert jit(f)(0.3) == pytest.approx(f(0.3))
