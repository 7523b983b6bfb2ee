"""Stores to lists, dicts and objects of the caller: results in C, which the wrapper puts there."""

import copy
from collections import deque
from dataclasses import dataclass

import numpy as np
import pytest

from tapeless import jit
from tapeless.errors import UnsupportedError
from tapeless.transformations.compilation.jit_to_c import JitToC
from tests.transforms.c.compiled import checked, library, normal


@dataclass
class Controller:
    total: float
    last: float
    gains: list


def step(controller, error):
    kp, ki, kd = controller.gains
    controller.total = controller.total + 0.1 * error
    slope = (error - controller.last) / 0.1
    controller.last = error
    return kp * error + ki * controller.total + kd * slope


def descend(weights, slopes):
    for name in weights:
        weights[name] = weights[name] - 0.1 * slopes[name]


def swap(pair):
    pair["a"], pair["b"] = pair["b"], pair["a"]
    return pair["a"].sum()


def append(history, x):
    history.append(x * 2)
    history[0] = history[0] + 1
    return len(history)


def new_key(state, x):
    state["norm"] = np.sqrt(x @ x)
    return state["scale"] * x


def accumulate(count, x):
    count += x.sum()
    return count * 2


def nested(model, a):
    model["layers"][0]["w"] = model["layers"][0]["w"] * a
    model["count"] += 1
    return a


def moved(model, x):
    """The container that is changed is not at its place afterwards."""
    model["old"]["w"] = model["old"]["w"] + x
    model["old"], model["new"] = model["new"], model["old"]
    return model["old"]["w"] * model["new"]["w"]


def names_of_the_wrapper(a, held, new, result):
    a["held"] = held + new
    a["new"] = a["held"] * result
    return result


def push(last, x):
    last.append(x)
    last.popleft()
    last.append(2 * x)
    return x


X = normal(5)
PROGRAMS = {
    "attributes": (step, (Controller(0.1, 1.0, [1.0, 2.0, 3.0]), 0.5)),
    "a dict": (descend, ({"a": X, "b": 2 * X}, {"a": X.copy(), "b": X.copy()})),
    "values that change places": (swap, ({"a": X, "b": 2 * X},)),
    "a list that grows": (append, ([1.0, 2.0], 3.0)),
    "a new key": (new_key, ({"scale": 2.0}, X)),
    "an array without axes": (accumulate, (np.array(1.0), X)),
    "containers in containers": (nested, ({"layers": [{"w": X}], "count": 3}, 2.0)),
    "containers that change places": (moved, ({"old": {"w": 2.0}, "new": {"w": 3.0}}, 4.0)),
    "a deque": (push, (deque([1.0, 2.0]), 3.0)),
    "names": (names_of_the_wrapper, ({"held": 1.0, "new": 2.0}, 3.0, 4.0, 5.0)),
}


def assert_same(found, wanted):
    assert type(found) is type(wanted) or isinstance(wanted, (int, float))
    if isinstance(wanted, dict):
        assert [*found] == [*wanted]
        found, wanted = found.values(), wanted.values()
    if isinstance(wanted, Controller):
        found, wanted = vars(found).values(), vars(wanted).values()
    if isinstance(wanted, (int, float, np.ndarray)) or wanted is None:
        np.testing.assert_allclose(found, wanted, rtol=1e-14) if wanted is not None else None
        return
    for a, b in zip(found, wanted, strict=True):
        assert_same(a, b)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_the_caller_has_afterwards(name, tmp_path):
    function, args = PROGRAMS[name]
    mine, other = copy.deepcopy(args), copy.deepcopy(args)
    call = library(function, copy.deepcopy(args), tmp_path)
    assert_same((call(*mine),), (function(*other),))
    assert_same(mine, other)
    second, other = copy.deepcopy(args), copy.deepcopy(args)
    jit(function)(*other)
    call(*second)
    assert_same(second, other)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_test_program(name, tmp_path):
    function, args = PROGRAMS[name]
    checked(function, copy.deepcopy(args), tmp_path)


def test_the_header_says_what_is_new():
    header = JitToC(step).module_for(copy.deepcopy(PROGRAMS["attributes"][1]), {}).header
    assert "// result, new = (out_0, (out_1,))" in header
    assert "held[0].total = new[0]" in header


def test_what_is_no_argument():
    total = {"sum": 0.0}

    def add(x):
        total["sum"] = total["sum"] + x
        return x

    with pytest.raises(UnsupportedError, match="what is no container of its arguments has no form"):
        JitToC(add).module_for((1.0,), {})
