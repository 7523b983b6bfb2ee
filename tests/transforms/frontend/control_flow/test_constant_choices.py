"""Texts and members of enumerations as states of loops, and where Python must know them."""

import enum

import numpy as np
import pytest

import tapeless


class Color(enum.Enum):
    RED = 1
    GREEN = 2


def thermostat(x):
    state, total = "off", 0.0
    for v in x:
        if state == "off" and v > 0.5:
            state = "on"
        elif state == "on" and v < 0:
            state = "off"
        total += v if state == "on" else 0.0
    return total


def test_the_docstring_says_what_the_numbers_are():
    x = np.array([0.7, 0.2, -0.1, 0.6])
    for transformed in (tapeless.jit(thermostat), tapeless.grad(thermostat)):
        transformed(x)
        assert "state: 0 for 'off', 1 for 'on'." in transformed.source()


def test_the_size_of_the_program_does_not_depend_on_the_passes():
    short, long = (tapeless.grad(thermostat).source(np.ones(n)) for n in (3, 300))
    assert short == long


def subscripts(x, n):
    form = "ij->i"
    for _ in range(n):
        form = "ij->j" if form == "ij->i" else "ij->i"
    return np.einsum(form, x)


def order(x, n):
    form = "C"
    for _ in range(n):
        x = x.reshape(-1, order=form).reshape(2, 2) * 2
        form = "F" if form == "C" else "C"
    return x


def dtype(x, n):
    kind = "int"
    for _ in range(n):
        kind = "float32"
    return x.astype(kind)


def name_of_a_function(x, n):
    name = "sin"
    for _ in range(n):
        name = "cos" if name == "sin" else "sin"
    return getattr(np, name)(x)


@pytest.mark.parametrize("f", [subscripts, order, dtype, name_of_a_function])
def test_loops_of_texts_that_numpy_needs_are_unrolled(f):
    x = np.arange(4.0).reshape(2, 2)
    for n in (0, 3, 4):
        made, expected = tapeless.jit(f)(x, n), f(x, n)
        np.testing.assert_allclose(made, expected)
        assert made.dtype == expected.dtype


def test_order_of_texts():
    def f(x, n):
        s = "a"
        for _ in range(n):
            if x > 1:
                s = "b"
            x = x * (1.5 if s < "b" else 0.5)
        return x

    for x in (0.5, 0.9, 2.0):
        assert tapeless.jit(f)(x, 4) == pytest.approx(f(x, 4))


def test_values_of_members():
    def f(x, n):
        c = Color.RED
        for k in range(n):
            if x[k] > 0:
                c = Color.GREEN if c is Color.RED else Color.RED
        return x[0] * c.value + (c in (Color.RED,))

    x = np.array([0.3, -0.2, 0.5, 0.1])
    for n in (0, 1, 3, 4):
        assert tapeless.jit(f)(x, n) == pytest.approx(f(x, n))
