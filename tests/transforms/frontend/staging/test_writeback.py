"""What a program leaves in objects from outside, object by object, against Python itself."""

from types import SimpleNamespace

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import UnsupportedError


class Outer:
    def __init__(self, array):
        self.a, self.b = array(1.0, 2.0), array(3.0, 4.0)
        self.h = [array(1.0, 2.0), array(3.0, 4.0), array(5.0, 6.0)]
        self.d = {"a": array(1.0, 2.0), "b": array(3.0, 4.0)}
        self.v, self.flag, self.none, self.n, self.k = 1.0, False, None, 0, 5.0

    def shown(self):
        """What it holds, and which of that is one object."""
        seen = {}

        def show(value):
            if isinstance(value, dict):
                return {k: show(v) for k, v in value.items()}
            if isinstance(value, (np.ndarray, list)):
                return seen.setdefault(id(value), len(seen)), [show(v) for v in value]
            return value

        return show(vars(self))


def swapped(o, x):
    o.a, o.b = o.b, o.a
    o.a[0] += x
    return sum(o.a)


def kept_beside_a_new_one(o, x):
    o.q = o.a
    o.a = np.array([x, o.q[0]])
    o.q[1] = x * 3
    return sum(o.q)


def one_rebound(o, x):
    o.a = np.asarray(o.a) + x
    o.b[0] = 7 * x
    return sum(o.a) + sum(o.b)


def places_exchanged(o, x):
    o.h[0], o.h[1] = o.h[1], o.h[0]
    o.h.append(o.h.pop(0))
    o.d["a"], o.d["b"] = o.d["b"], o.d["a"]
    return x * 1.0


def on_one_side(o, x):
    if x > 1:
        o.v = x
        o.flag = True
    return o.v * 2


def array_on_one_side(o, x):
    o.b = np.asarray(o.b)
    if x > 1:
        o.b = np.array([x, x])
    return x * 1.0


def the_same_but_for_a_factor(o, x):
    o.b = np.asarray(o.a) * o.v
    o.a[0] = o.a[0] + x
    return x * 1.0


def kept_by_another_name(o, x):
    old = o.a
    o.a = np.asarray(o.a) * 2
    old[0] = x
    o.b = old
    return sum(o.a) + sum(o.b)


def in_no_pass(o, x):
    for i in range(int(o.n)):
        o.k = i * x
    return x * 1.0


@pytest.mark.parametrize("array", [lambda *v: np.array(v), lambda *v: list(v)])
@pytest.mark.parametrize(
    "f",
    [
        swapped,
        kept_beside_a_new_one,
        one_rebound,
        places_exchanged,
        on_one_side,
        array_on_one_side,
        the_same_but_for_a_factor,
        kept_by_another_name,
        in_no_pass,
    ],
)
def test_objects_are_left_as_python_leaves_them(f, array):
    expected, outer = Outer(array), Outer(array)
    if f is array_on_one_side:
        expected.b = outer.b = np.array([3.0, 4.0])
        expected.b = expected.b.copy()
    compiled = tapeless.jit(lambda x: f(outer, x))
    with tapeless.disable_jit():
        for x in (0.5, 2.0, 0.7, 3.0):
            assert compiled(x) == pytest.approx(f(expected, x))
            assert repr(outer.shown()) == repr(expected.shown())


def test_what_may_stay_none_is_stored_as_it_is():
    outer = Outer(lambda *v: np.array(v))

    def f(x):
        if x > 1:
            outer.none = x * 2
        return x

    compiled = tapeless.jit(f)
    assert compiled(0.5) == 0.5
    assert outer.none is None
    assert compiled(2.0) == 2.0
    assert outer.none == 4.0


def test_two_names_of_one_array_are_compared_at_each_call():
    def run(transform):
        o = Outer(lambda *v: np.array(v))
        o.b = o.a

        def f(x):
            o.a = o.a + x
            o.b[0] = 7 * x
            return o.a.sum() + o.b.sum()

        g = transform(f)
        return [(g(x), o.a.tolist(), o.b.tolist()) for x in (2.0, 0.5, 3.0)]

    with tapeless.disable_jit():
        assert run(tapeless.jit) == run(lambda f: f)


def test_views_of_arrays_from_outside_are_not_stored():
    outer = Outer(lambda *v: np.array(v))

    def f(x):
        outer.b = outer.a[1:]
        return x * outer.b.sum()

    with pytest.raises(UnsupportedError, match="a view of an array from outside"):
        tapeless.jit(f)(0.5)


def test_arrays_that_data_chooses_between_are_no_outer_values():
    held = SimpleNamespace(u=np.array([1.0, 2.0]), v=np.array([3.0, 4.0]))

    def swap(x):
        if x > 0:
            held.u, held.v = held.v, held.u
        return held.u[0] * x

    with pytest.raises(tapeless.TapelessError, match="by data, one of several arrays"):
        tapeless.grad(swap)(1.0)

    def copied(x):
        if x > 0:
            held.u, held.v = held.v.copy(), held.u.copy()
        return held.u[0] * x

    assert tapeless.grad(copied)(2.0) == 3.0
    np.testing.assert_array_equal([held.u, held.v], [[3.0, 4.0], [1.0, 2.0]])
