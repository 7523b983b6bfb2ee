"""Attributes that code asks for before the program sets them: in loops, after tests on data."""

import functools
import math
import warnings

import numpy as np
import pytest

from tapeless import PerformanceWarning, grad, jit, strict, vmap
from tapeless.transforms.errors import UnsupportedError


class Thing:
    pass


class Oscillator:
    def __init__(self, frequency):
        self.frequency, self.reads = frequency, 0

    @functools.cached_property
    def sine(self):
        return math.sin(self.frequency)

    @functools.cached_property
    def pair(self):
        return 2 * self.frequency, np.array([self.frequency, 1.0])

    @functools.cached_property
    def counted(self):
        self.reads += 1
        return 3 * self.frequency

    def step(self, v):
        return v * self.frequency


class Lazy:
    """Computes at the first read what it then stores under the same name."""

    def __init__(self, function):
        self.function, self.name = function, function.__name__

    def __get__(self, obj, cls=None):
        value = obj.__dict__[self.name] = self.function(obj)
        return value


class WithLazy(Thing):
    def __init__(self, start):
        self.start = start

    @Lazy
    def double(self):
        return 2 * self.start

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        self.__dict__[name] = value = self.start - 1
        return value


# -- in loops


def cached_and_the_same_in_each_pass(x, steps):
    oscillator = Oscillator(x)
    return np.array([oscillator.sine * v for v in steps])


def cached_in_the_first_pass(x, steps):
    oscillator, total = Oscillator(x), 0.0
    for v in steps:
        total += oscillator.sine * v
        oscillator.frequency += v
    return total + oscillator.sine


def cached_tuple_in_the_first_pass(x, steps):
    oscillator, total = Oscillator(x), 0.0
    for v in steps:
        oscillator.frequency += v
        total += oscillator.pair[0] + oscillator.pair[1][0]
    return total


def cached_array_that_changes(x, steps):
    oscillator = Oscillator(x)
    for v in steps:
        oscillator.pair[1][0] += v
    return oscillator.pair[1].sum() * x


def cached_with_a_store(x, steps):
    oscillator, total = Oscillator(x), 0.0
    for v in steps:
        total += oscillator.counted * v
    return total, oscillator.reads


def cached_and_deleted(x, steps):
    oscillator, total = Oscillator(x), 0.0
    for v in steps:
        total += oscillator.sine * v
        if v > 1.5:
            del oscillator.sine
            oscillator.frequency += v
    return total


def of_descriptors(x, steps):
    thing, total = WithLazy(x), 0.0
    for v in steps:
        total += thing.double * v + thing.other
        thing.start += v
    return total


def has_it(x, steps):
    thing, total = Thing(), 0.0
    for v in steps:
        if not hasattr(thing, "first"):
            thing.first = v * x
        total += thing.first
    return total


def has_it_in_a_loop_by_data(x, steps):
    thing, total, n = Thing(), x, 0
    while total < 5:
        if not hasattr(thing, "first"):
            thing.first = total * x
        total += thing.first + 1
        n += 1
    return total, n


def has_it_under_a_test(x, steps):
    thing, total = Thing(), 0.0
    for v in steps:
        if v > 1.5 and not hasattr(thing, "first"):
            thing.first = v * x
        total += getattr(thing, "first", -2.0)
    return total


def default_in_the_first_pass(x, steps):
    thing, total = Thing(), 0.0
    for v in steps:
        total += getattr(thing, "last", 5.0)
        thing.last = v * x
    return total


def caught_in_the_first_pass(x, steps):
    thing, total = Thing(), 0.0
    for v in steps:
        try:
            total += thing.last
        except AttributeError:
            thing.last = v * x
    return total


def in_its_dict(x, steps):
    thing, total = Thing(), 0.0
    for v in steps:
        total += len(vars(thing))
        if "last" in thing.__dict__:
            total += thing.last
        thing.last = v * x
    return total


def method_that_is_replaced(x, steps):
    oscillator, total = Oscillator(x), 0.0
    for v in steps:
        total += oscillator.step(v)
        oscillator.step = lambda v: 10 * v * x
    return total


# -- after tests on data


def cached_on_one_side(x, steps):
    oscillator, total = Oscillator(x), 0.0
    if steps[1] > x:
        total = 2 * oscillator.sine
    else:
        oscillator.frequency = x + 5.0
    return total + oscillator.sine


def set_on_one_side(x, steps):
    thing = Thing()
    if x > 0.2:
        thing.value = x
    if not hasattr(thing, "value"):
        thing.value = steps[0] * x
    return thing.value


def default_of_one_side(x, steps):
    thing = Thing()
    if x > 0.2:
        thing.value = x**2
    return getattr(thing, "value", -x)


def caught_on_one_side(x, steps):
    thing = Thing()
    if x > 0.2:
        thing.value = x**2
    try:
        return thing.value + 1
    except AttributeError:
        return -x


def variable_of_one_side(x, steps):
    if x > 0.2:
        y = x**2
    try:
        return y + 1
    except UnboundLocalError:
        return -x


def deleted_on_one_side(x, steps):
    thing = Thing()
    thing.value = x**2
    if x > 0.2:
        del thing.value
    return getattr(thing, "value", 4 * x)


def method_of_one_side(x, steps):
    oscillator = Oscillator(x)
    if x > 0.2:
        oscillator.step = lambda v: 10 * v * x**2
    return oscillator.step(steps[1])


def method_replaced_under_a_test(x, steps):
    oscillator, total = Oscillator(x), 0.0
    for v in steps:
        if v > 1.5:
            oscillator.step = lambda v: 10 * v * x**2
        total += oscillator.step(v)
    return total


def otherwise_by_getattr(x, steps):
    thing = WithLazy(x)
    if x > 0.2:
        thing.other = x**2
    return thing.other * x


def otherwise_by_a_descriptor(x, steps):
    thing = WithLazy(x)
    if x > 0.2:
        thing.double = x**2
    return thing.double * x


PROGRAMS = (
    method_of_one_side,
    method_replaced_under_a_test,
    otherwise_by_getattr,
    otherwise_by_a_descriptor,
    cached_and_the_same_in_each_pass,
    cached_in_the_first_pass,
    cached_tuple_in_the_first_pass,
    cached_array_that_changes,
    cached_with_a_store,
    cached_and_deleted,
    of_descriptors,
    has_it,
    has_it_in_a_loop_by_data,
    has_it_under_a_test,
    default_in_the_first_pass,
    caught_in_the_first_pass,
    in_its_dict,
    method_that_is_replaced,
    cached_on_one_side,
    set_on_one_side,
    default_of_one_side,
    caught_on_one_side,
    variable_of_one_side,
    deleted_on_one_side,
)
STEPS = np.array([1.0, 2.0, -1.0])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_absent_attributes(f):
    def total(x, steps):
        return np.sum(f(x, steps)) if not isinstance(f(x, steps), tuple) else f(x, steps)[0]

    compiled = jit(f)
    slope = jit(grad(total))
    for x in (0.3, 0.1, 2.5):
        np.testing.assert_allclose(compiled(x, STEPS), f(x, STEPS), rtol=1e-12)
        difference = (total(x + 1e-6, STEPS) - total(x - 1e-6, STEPS)) / 2e-6
        np.testing.assert_allclose(slope(x, STEPS), difference, rtol=1e-6, atol=1e-8)
    xs = np.array([0.3, 0.1])
    expected = [total(float(x), STEPS) for x in xs]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PerformanceWarning)
        batched = vmap(total, in_axes=(0, None))(xs, STEPS)
    np.testing.assert_allclose(batched, expected, rtol=1e-12)


OUTER = Thing()


def sets_an_outer_one(x):
    if x > 0.2:
        OUTER.value = x
    return 2 * x


def test_an_outer_one_is_set_where_data_says_so():
    compiled = jit(sets_an_outer_one)
    with pytest.raises(UnsupportedError, match="whether 'value' of an outer object is set"):
        compiled(0.1)
    with strict(False), warnings.catch_warnings():
        warnings.simplefilter("ignore", PerformanceWarning)
        assert compiled(0.1) == 0.2
        assert not hasattr(OUTER, "value")
        assert compiled(0.3) == 0.6
        assert OUTER.value == 0.3


def unset(x):
    thing = Thing()
    if x > 0.2:
        thing.value = x
    return thing.value


def test_the_error_is_that_of_attributes():
    with pytest.raises(AttributeError, match=r"^'Thing' object has no attribute 'value'"):
        jit(unset)(0.1)
    assert jit(unset)(0.3) == 0.3
