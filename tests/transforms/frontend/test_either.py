"""Functions and objects that data chooses: what is refused, and what is raised."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import NeedStaticError, UnsupportedError


def found(x):
    return (x, 2 * x) if x > 1 else None


def test_one_of_two_things_is_no_result():
    with pytest.raises(UnsupportedError, match="built differently, by data, is returned"):
        tapeless.jit(found)(2.0)


def test_parts_of_none_raise_when_the_program_runs():
    f = tapeless.jit(lambda x: found(x)[0])
    assert f(2.0) == 2.0
    with pytest.raises(TypeError, match="'NoneType' object is not subscriptable"):
        f(0.5)


def test_none_that_is_called_raises_when_the_program_runs():
    def f(x):
        g = np.sin if x > 1 else None
        return g(x)

    slope = tapeless.grad(f)
    assert slope(2.0) == pytest.approx(np.cos(2.0))
    with pytest.raises(TypeError, match="'NoneType' object is not callable"):
        slope(0.5)


def test_what_python_must_know_is_refused_with_a_way_out():
    def f(x):
        pair = found(x)
        return x if pair else 2 * x

    with pytest.raises(NeedStaticError, match="ask whether it is None"):
        tapeless.jit(f)(2.0)


def test_a_test_for_none_is_made_once():
    def f(x):
        pair = found(x)
        return x if pair is None else pair[0] * pair[1] + pair[0]

    text = tapeless.grad(f).source(2.0)
    assert "raise" not in text
    assert text.count("x > 1") == 1


def test_what_a_side_changed_is_put_back():
    class Box:
        def __init__(self, v):
            self.v = v

    def f(x):
        box = Box(x) if x > 1 else None
        if box is not None:
            box.w = 3 * box.v
            return box.w
        return x

    assert tapeless.grad(f)(2.0) == 3.0
    assert tapeless.grad(f)(0.5) == 1.0


def tripled(v, k=3.0):
    return v * k


def test_functions_of_others_that_a_side_takes_stay_as_they_are():
    def f(x):
        g = tripled if x > 1 else (lambda v: v + x)
        return g(x)

    assert [tapeless.grad(f)(x) for x in (2.0, 0.5)] == [3.0, 2.0]
    assert tripled.__defaults__ == (3.0,)


def test_functions_made_on_a_side_read_names_that_are_set_later():
    def f(x):
        def late(v):
            return v * factor

        g = late if x > 1 else np.sin
        factor = 2.0
        return g(x)

    assert tapeless.grad(f)(2.0) == 2.0
    assert tapeless.grad(f)(0.5) == pytest.approx(np.cos(0.5))
