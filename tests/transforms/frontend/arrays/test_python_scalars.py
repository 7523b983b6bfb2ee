"""Numbers of Python keep their class, their methods and their exactness."""

import enum
import itertools
import math

import numpy as np
import pytest

import tapeless


class Place(enum.IntEnum):
    FIRST = 1
    SECOND = 2


def attributes(x):
    names = ("shape", "dtype", "__len__", "real", "is_integer", "tobytes", "nothing")
    return sum(3.0**k for k, name in enumerate(names) if hasattr(x, name)) + getattr(x, "size", 5)


@pytest.mark.parametrize("x", [2.0, 3, np.float64(2), np.ones(4)])
def test_hasattr_asks_the_class_that_python_has(x):
    assert tapeless.jit(attributes)(x) == attributes(x)


PROGRAMS = {
    "power": (lambda x: x**0, (2.0,)),
    "round": (lambda x, n: (round(n, -2), round(n, 1), round(x)), (2.5, 1250)),
    "tens": (lambda x, n: (round(x, -1), round(x, 1)), (26.25, 1)),
    "floor": (lambda x: np.ones(2, np.float32) * math.floor(x), (2.5,)),
    "imaginary": (lambda x: (x.imag, x.real, (1.5).imag * x), (2.5,)),
    "modular": (lambda x, n: x * pow(n, 2, 5), (2.5, 4)),
    "bits": (lambda x, n: x * n.bit_length() + n.numerator, (2.5, 12)),
    "whole": (lambda x: x * 2 if x.is_integer() else x, (3.0,)),
    "fraction": (lambda x: x * 2 if x.is_integer() else x, (3.5,)),
    "islice": (lambda x, n: sum(itertools.islice(iter(x), n)), (np.arange(4.0), 3)),
    "combinations": (lambda x, n: x * math.comb(n, 2), (2.5, 5)),
    "member": (lambda x: x[Place.FIRST] * Place.SECOND + (x * Place.SECOND)[0], (np.ones(3),)),
    "sorted": (lambda x: sorted(x), (np.array([3.0, 1.0]),)),
    "repeated": (lambda x, n: [x] * n, (2.5, 3)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_jit_gives_values_and_classes_of_python(name):
    function, args = PROGRAMS[name]
    made, expected = tapeless.jit(function)(*args), function(*args)
    np.testing.assert_array_equal(made, expected)
    parts = [v if isinstance(v, (tuple, list)) else [v] for v in (made, expected)]
    assert [type(v) for v in parts[0]] == [type(v) for v in parts[1]]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_the_opposite_of_a_narrow_integer_wraps(dtype):
    numbers = np.array([200, 128, 27]).astype(dtype)

    def total(x):
        return np.sum((x + (-numbers)) * x + (-numbers))

    x = np.array([2.0, 3.0, 5.0])
    value, _ = tapeless.jvp(total, (x,), (np.ones(3),))
    assert value == tapeless.jit(total)(x) == total(x)


@pytest.mark.parametrize("pair", [(1.0, 1 + 1e-10), (1.0, 1.1), (np.inf, np.inf), (np.inf, 1.0)])
def test_isclose(pair):
    compared = tapeless.jit(lambda a, b: math.isclose(a, b))
    assert compared(*pair) == math.isclose(*pair)


def test_meshgrid_gives_a_tuple():
    made = tapeless.jit(lambda x: np.meshgrid(x, x))(np.ones(2))
    assert isinstance(made, tuple)


class Base:
    def __init__(self, v):
        self.v = v

    @classmethod
    def make(cls, v):
        return cls(v)


class Doubled(Base):
    @classmethod
    def make(cls, v):
        made = super().make(v)
        made.v *= 2
        return made

    def get(this):  # noqa: N805 (super() takes the first parameter, whatever its name)
        return super().__getattribute__("v")


def test_super_takes_the_first_parameter():
    assert tapeless.grad(lambda x: Doubled.make(x).v ** 2)(3.0) == 24.0


@pytest.mark.parametrize("name", ["pow", "fmod", "modf"])
def test_functions_of_math_give_floats_for_integers(name):
    function = getattr(math, name)
    call = (lambda a, b: function(a)) if name == "modf" else (lambda a, b: function(a, b))
    assert repr(tapeless.jit(call)(7, 3)) == repr(call(7, 3))


def test_powers_of_integers_below_one():
    assert tapeless.jit(lambda a, b: math.pow(a, b))(2, -1) == 0.5
