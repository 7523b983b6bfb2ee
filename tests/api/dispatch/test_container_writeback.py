"""Stores to containers of the caller under jit: what Python does, and the same objects."""

import copy
import dataclasses

import numpy as np
import pytest

from tapeless import disable_jit, eval_shape, jit
from tapeless.transforms.errors import ArgumentError


def scaled(p):
    p["w"] = p["w"] * 2
    return np.sum(p["w"])


def scaled_in_place(p):
    p["w"] *= 2
    p["n"] += 1


def step(p, g):
    for k in p:
        p[k] -= 0.1 * g[k]


def appended(xs):
    xs.append(xs[-1] + 1)
    return len(xs)


def popped(xs):
    return xs.pop() + xs.pop(0)


def key_added_and_removed(p):
    p["sum"] = np.sum(p["w"])
    del p["w"]


def swapped(xs):
    xs[0], xs[1] = xs[1], xs[0]


def nested(p):
    p["layers"][1]["b"] = p["layers"][0]["b"] + 1
    p["layers"].append({"b": p["layers"][1]["b"] * 2})
    return p["layers"][2]["b"]


def in_a_loop(p, n):
    for _ in range(n):
        p["x"] = p["x"] * 0.5 + 1


def under_a_test(p, x):
    if x > 0:
        p["x"] = p["x"] + x


def array_and_number(p, x):
    x[0] = 5.0
    p["total"] = np.sum(x)
    p["text"] = "done"


def emptied(xs):
    xs.clear()


W = np.array([1.0, 2.0, 3.0])
CASES = [
    (scaled, ({"w": W},)),
    (scaled_in_place, ({"w": W, "n": 1.0},)),
    (step, ({"a": W + 0, "b": W + 1}, {"a": W * 2, "b": W})),
    (appended, ([1.0, 2.0],)),
    (popped, ([W, W * 2, W * 3],)),
    (key_added_and_removed, ({"w": W, "other": 1.0},)),
    (swapped, ([W, W * 2],)),
    (nested, ({"layers": [{"b": W}, {"b": W}]},)),
    (in_a_loop, ({"x": 1.0}, 5)),
    (under_a_test, ({"x": 1.0}, 2.0)),
    (under_a_test, ({"x": 1.0}, -2.0)),
    (array_and_number, ({}, W)),
    (emptied, ([1.0, W],)),
]


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        a, b = list(a.values()), list(b.values())
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    else:
        np.testing.assert_allclose(a, b) if isinstance(a, np.ndarray) else np.testing.assert_equal(
            a, b
        )


@pytest.mark.parametrize(("function", "args"), CASES)
def test_as_in_python(function, args):
    want, compiled = copy.deepcopy(args), jit(function)
    value = function(*want)
    for _ in range(2):  # the second call goes the quick way
        got = copy.deepcopy(args)
        same(compiled(*got), value)
        same(got, want)
    with disable_jit():
        got = copy.deepcopy(args)
        same(jit(function)(*got), value)
        same(got, want)


def test_objects_that_are_not_replaced_stay_the_same():
    p = {"w": W.copy(), "v": W.copy(), "s": 1.0}
    w, v = p["w"], p["v"]

    @jit
    def f(p):
        p["w"] *= 2
        p["u"] = p["v"]
        p["s"] = p["s"] + 1

    f(p)
    assert p["w"] is w
    np.testing.assert_array_equal(w, W * 2)
    assert p["u"] is v
    assert p["v"] is v


def test_lists_that_move_are_the_callers():
    @jit
    def f(p):
        p["b"] = p["a"]
        p["a"] = [p["a"][0] + 1]

    p = {"a": [W], "b": None}
    kept = p["a"]
    f(p)
    assert p["b"] is kept
    np.testing.assert_array_equal(p["a"][0], W + 1)


@dataclasses.dataclass
class State:
    x: float
    seen: list


def test_dataclasses():
    @jit
    def f(state):
        state.x = state.x * 2
        state.seen.append(state.x)

    state = State(1.5, [])
    seen = state.seen
    f(state)
    f(state)
    assert state.x == 6.0
    assert state.seen == [3.0, 6.0]
    assert state.seen is seen


def test_a_container_that_is_passed_twice_is_refused():
    @jit
    def f(p, q):
        p["x"] = q["x"] + 1

    f({"x": 1.0}, {"x": 2.0})
    p = {"x": 1.0}
    with pytest.raises(ArgumentError, match="passed twice"):
        f(p, p)
    assert p == {"x": 1.0}


def test_errors_leave_containers_as_they_are():
    @jit
    def f(p, k):
        p["x"] = p["x"] + 1
        return p["w"][k]

    p = {"x": 1.0, "w": W}
    assert f(p, 2) == 3.0
    with pytest.raises(IndexError):
        f(p, 3)
    assert p["x"] == 2.0


def test_shapes_without_a_call():
    p = {"w": W}
    assert eval_shape(scaled, p).shape == ()
    assert p["w"] is W
