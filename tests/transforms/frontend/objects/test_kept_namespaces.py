"""A `__dict__` that code keeps shows what the attributes are later."""

import copy

import numpy as np
import pytest

import tapeless

X = np.array([2.0, 3.0])


class Thing:
    def __init__(self):
        self.a, self.b = 5.0, np.array([1.0, 2.0])


def stored(x, o):
    d = vars(o)
    o.a = x[0] * o.a
    return d["a"] * 2


def stored_by_item(x, o):
    d = vars(o)
    d["a"] = d["a"] * x[1]
    return o.a + d["a"]


def new(x, o):
    d = o.__dict__
    o.c = x[0] * o.a
    return d["c"] * len(d) + ("c" in d)


def of_one_branch(x, o):
    d = vars(o)
    if x[0] > 1:
        o.a = x[0]
    return d["a"] * x[1]


def of_both_branches(x, o):
    if x[0] > 1:
        o.a = x[0] * 2
        d = vars(o)
    else:
        d = vars(o)
    o.a = o.a + d["a"]
    return d["a"] * x[1]


def of_a_loop(x, o):
    d = vars(o)
    for _ in range(4):
        o.a = d["a"] * x[1] + o.a
    return d["a"]


def of_a_while(x, o):
    d = vars(o)
    while d["a"] < 100:
        o.a = d["a"] * x[1]
    return d["a"]


def of_arrays(x, o):
    d = vars(o)
    o.b[0] = x[1]
    o.b = o.b * x[0]
    return np.sum(d["b"])


def all_values(x, o):
    d = vars(o)
    setattr(o, "a", x[0])  # noqa: B010  # a name that is computed
    return sum(np.sum(v * x[1]) for v in d.values())


def after_an_error(x, o):
    d = vars(o)
    try:
        o.a = x[0] * 2
        if x[1] > 2:
            raise ValueError
        o.a = x[0] * 3
    except ValueError:
        o.a = d["a"] + 1
    return d["a"] * x[1]


def listed(x, o):
    dicts = []
    for _ in range(3):
        o.a = o.a * x[0]
        dicts.append(vars(o))
    return dicts[0]["a"] + len(dicts)


def one_dict(x, o):
    return x[0] * (vars(o) is vars(o)) + x[1] * (vars(o) is o.__dict__)


PROGRAMS = [stored, stored_by_item, new, of_one_branch, of_both_branches, of_a_loop, of_a_while]
PROGRAMS += [of_arrays, all_values, after_an_error, listed, one_dict]


def slopes_of(f, x):
    return [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(len(x))]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("x", [X, np.array([0.4, 1.5])])
def test_of_arguments_and_of_objects_of_the_program(program, x):
    def inside(x):
        return program(x, Thing())

    expected, slopes = inside(x), slopes_of(inside, x)
    given = Thing()
    np.testing.assert_allclose(tapeless.jit(program)(x, given), expected)
    changed = Thing()
    program(x, changed)
    np.testing.assert_allclose(given.a, changed.a)
    np.testing.assert_allclose(tapeless.jit(inside)(x), expected)
    np.testing.assert_allclose(tapeless.grad(program)(x, Thing()), slopes, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(tapeless.grad(inside)(x), slopes, rtol=1e-6, atol=1e-6)


def test_of_objects_from_outside():
    o = Thing()
    before = copy.deepcopy(o)

    def program(x):
        d = vars(o)
        o.a = x[0] * o.a
        twice = d["a"] * 2
        o.a = 5.0
        return twice

    np.testing.assert_allclose(tapeless.grad(program)(X), [10.0, 0.0])
    assert o.a == before.a


def listed_with_objects(x, n):
    dicts, things = [], []
    for k in range(n):
        o = Thing()
        o.a = x[0] * k
        dicts.append(vars(o))
        things.append(o)
    things[1].a = x[1]
    return sum(d["a"] for d in dicts) + dicts[1]["a"]


def taken_from_a_list(x, n):
    things = []
    for k in range(n):
        o = Thing()
        o.a = x[0] * k
        things.append(o)
    d = vars(things[1])
    things[1].a = x[1]
    for o in things:
        o.a = o.a + 1
    return sum(o.a for o in things) + d["a"]


@pytest.mark.parametrize("program", [listed_with_objects, taken_from_a_list])
def test_of_objects_in_lists(program):
    slopes = slopes_of(lambda x: program(x, 3), X)
    np.testing.assert_allclose(tapeless.jit(program)(X, 3), program(X, 3))
    np.testing.assert_allclose(tapeless.grad(program)(X, 3), slopes, rtol=1e-6)
