"""What one side of a test makes is there after the test, where the other side raises."""

import functools

import numpy as np
import pytest

import tapeless


class Thing:
    def __init__(self, w):
        self.w = w

    def apply(self, v):
        return self.w * v


def an_object_instead_of_a_number(s, n):
    if n == 2:
        n = Thing(s * 2)
    else:
        raise ValueError("no two")
    return n.apply(s)


def an_object_of_a_tuple(s, n):
    if s > 0:
        p = (Thing(s * 2), s * 3)
    else:
        raise ValueError("negative")
    return p[0].apply(s) + p[1]


def objects_of_a_dict(s, n):
    if s > 0:
        p = {"a": Thing(s * 2), "b": [Thing(s)]}
    else:
        raise ValueError("negative")
    p["b"][0].w += 1
    return p["a"].apply(s) + p["b"][0].w


def a_closure(s, n):
    if s > 0:
        y = s * 2

        def p(v):
            return v * y
    else:
        raise ValueError("negative")
    return p(s)


def a_partial(s, n):
    if s > 0:
        p = functools.partial(lambda v, w: v * w, s * 2)
    else:
        raise ValueError("negative")
    return p(s)


def a_bound_method(s, n):
    if s > 0:
        thing = Thing(s * np.ones(3))
        p = thing.apply
    else:
        raise ValueError("negative")
    thing.w[0] = 5.0 * s
    return np.sum(p(s))


def an_attribute_of_an_older_one(s, n):
    thing = Thing(s)
    if s > 0:
        thing.w = Thing(s * 3)
    else:
        raise ValueError("negative")
    return thing.w.apply(s)


def within_another_side(s, n):
    thing = None
    if s > 0:
        if s > 0.1:
            thing = Thing(s * 4)
        else:
            raise KeyError(n)
    else:
        raise ValueError("negative")
    if thing.apply(s) > 0.5:
        q = s
    else:
        n = q
    return q * thing.w * n


FUNCTIONS = [
    *(an_object_instead_of_a_number, an_object_of_a_tuple, objects_of_a_dict, a_closure, a_partial),
    *(a_bound_method, an_attribute_of_an_older_one, within_another_side),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_and_slopes(function):
    compiled, step = tapeless.jit(function), 1e-6
    assert compiled(0.7, 2) == pytest.approx(function(0.7, 2), rel=1e-12)
    assert compiled.plain.stages(0.7, 2)["notes"] == "every loop that depends on values is rolled"
    slope = (function(0.7 + step, 2) - function(0.7 - step, 2)) / (2 * step)
    assert tapeless.grad(function)(0.7, 2) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_other_side_raises(function):
    s, n = (0.7, 3) if function is an_object_instead_of_a_number else (-0.7, 2)
    for transformed in (tapeless.jit(function), tapeless.grad(function)):
        with pytest.raises(ValueError, match=r"negative|no two"):
            transformed(s, n)
