"""The wrapper in Python of a function in C: it is called as the function of Python is."""

import re
from typing import NamedTuple

import numpy as np
import pytest

from tapeless import grad
from tests.transforms.c.compiled import library, normal


class Line(NamedTuple):
    slope: object
    offset: object


def squares(line, x):
    return np.sum((line.slope * x + line.offset) ** 2)


def mixed(w, a, *, scale):
    return scale * np.sum(w["a"] * a) + w["more parts"][1].sum()


def odd_names(double, np, work, größe, ctypes):
    return double * (np * np).sum() + work + größe - ctypes


def doubled(x):
    x *= 2.0
    return x.sum()


A, B = normal(9), normal(9, seed=1)


def test_containers_are_passed_as_they_are(tmp_path):
    slopes = library(grad(squares), (Line(A, B), A), tmp_path)
    expected = grad(squares)(Line(A, B), A)
    for found, wanted in zip(slopes(Line(A, B), x=A), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_names_that_hide_one_another(tmp_path):
    """In C there are `a` of the container and the parameter `a`."""

    def positional(w, a, scale):
        return mixed(w, a, scale=scale)

    w = {"a": A, "more parts": [3, B]}
    call = library(positional, (w, B, 2.0), tmp_path)
    np.testing.assert_allclose(call(w, B, scale=2.0), mixed(w, B, scale=2.0), rtol=1e-14)
    with pytest.raises(KeyError, match="a"):
        call({}, B, 2.0)


def test_odd_names(tmp_path):
    """Parameters that hide what the wrapper reads have another name, and no other ones."""
    call = library(odd_names, (2.0, A, 3.0, 4.0, 5.0), tmp_path)
    expected = odd_names(2.0, A, 3.0, 4.0, 5.0)
    found = call(double=2.0, np_=A, work=3.0, größe=4.0, ctypes_=5.0)
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_any_layout(tmp_path):
    slope = library(grad(squares, argnums=1), (Line(A, B), A), tmp_path)
    line, x = Line(A, B), normal(18)
    bytes_ = np.zeros(8 * 9 + 1, np.uint8)
    unaligned = bytes_[1:].view(np.float64)
    unaligned[...] = x[::2]
    expected = grad(squares, argnums=1)(line, x[::2])
    for same in (x[::2], x[::2][::-1][::-1], unaligned, x[::2].astype(">f8"), [*x[::2]]):
        np.testing.assert_allclose(slope(line, same), expected, rtol=1e-14)
    small = x[::2].astype(np.float32)
    np.testing.assert_allclose(slope(line, small), grad(squares, argnums=1)(line, small), rtol=1e-6)


@pytest.mark.parametrize(
    ("x", "error", "text"),
    [
        (A + 0j, TypeError, "x must be an array of float64, not one of complex128"),
        (["a"] * 9, TypeError, "x must be an array of float64, not one of <U1"),
        (None, TypeError, "x must be an array of float64, not one of object"),
        (A.reshape(3, 3), ValueError, "x has 2 axes, and not 1"),
        (A[:1], ValueError, "the lengths differ"),
        (A[:0], ValueError, "the lengths differ"),
    ],
)
def test_what_does_not_fit(x, error, text, tmp_path):
    slope = library(grad(squares, argnums=1), (Line(A, B), A), tmp_path)
    with pytest.raises(error, match=re.escape(text)):
        slope(Line(A, B), x)


def scaled_number(p, k, z):
    return p["rate"] * z * k


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (({"rate": None}, 2, 1j), "p['rate'] must be a number: "),
        (({"rate": "1.5"}, 2, 1j), "p['rate'] must be a number: "),
        (({"rate": np.ones(3)}, 2, 1j), "p['rate'] must be a number: "),
        (({"rate": 1j}, 2, 1j), "p['rate'] must be a number: "),
        (({"rate": 1.5}, 2.0, 1j), "k must be a number: 'float' object cannot be"),
        (({"rate": 1.5}, None, 1j), "k must be a number: 'NoneType' object cannot be"),
        (({"rate": 1.5}, 2, None), "z must be a number: "),
    ],
)
def test_numbers_that_do_not_fit(args, text, tmp_path):
    call = library(scaled_number, ({"rate": 1.5}, 2, 1j), tmp_path)
    assert call({"rate": np.float32(0.5)}, np.int8(4), 3) == 6
    with pytest.raises(TypeError, match=re.escape(text)):
        call(*args)


def test_what_is_overwritten(tmp_path):
    call = library(doubled, (A.copy(),), tmp_path)
    x = A.copy()
    assert np.isclose(call(x), 2 * A.sum())
    np.testing.assert_array_equal(x, 2 * A)
    read_only = A.copy()
    read_only.flags.writeable = False
    text = "x is overwritten: it must be an array of float64 that lies row by row and can be"
    for other in (read_only, A.astype("f4"), normal(18)[::2], [1.0, 2.0]):
        with pytest.raises(ValueError, match=re.escape(text)):
            call(other)
    np.testing.assert_array_equal(read_only, A)


def scaled(x, power, mode="twice"):
    y = x ** power["n"]
    return 2 * y if mode == "twice" else y


def test_values_that_the_code_is_for(tmp_path):
    def function(x, power, mode):
        return scaled(x, power, mode)

    call = library(function, (A, {"n": 3, "m": 1.0}, "once"), tmp_path)
    power = {"n": 3, "m": 2.0}
    np.testing.assert_allclose(call(A, power), A**3, rtol=1e-13)
    np.testing.assert_allclose(call(A, power=power, mode="once"), A**3, rtol=1e-13)
    with pytest.raises(ValueError, match="the code is for mode = "):
        call(A, power, "twice")


def test_parameters_that_are_called_like_functions_of_python(tmp_path):
    def first_ones(max, int):  # noqa: A002
        return np.sort(max[:int])

    run = library(first_ones, (normal(12), 5), tmp_path)
    np.testing.assert_array_equal(run(normal(9), 4), first_ones(normal(9), 4))
    with pytest.raises(ValueError, match="other lengths or signs"):
        run(normal(9), -20)
