"""Programs on a GPU leave in the caller's containers, variables and arrays what Python would."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

import tapeless
import tapeless.numpy as jnp
from tapeless import jit


@dataclass
class State:
    place: np.ndarray
    steps: int


def item_stored(numbers):
    numbers[0] += 1
    numbers[1] *= 2
    return sum(numbers)


def item_appended(numbers):
    numbers.append(numbers[0] * 2)
    return numbers[-1]


def array_replaced(params):
    params["w"] = params["w"] * 2
    params["steps"] += 1
    return params["w"].sum()


def array_overwritten(params):
    params["w"] -= 0.5
    params["steps"] += 1
    return params["w"].sum()


def attributes(state):
    state.place[0] = 5
    state.place = state.place * 2
    state.steps += 1
    return state.place.sum()


def exchanged(a, b):
    a["w"], b["w"] = b["w"], a["w"]
    return a["w"] @ b["w"]


def number_of_an_array(x):
    x += 1
    return x * 2


def params():
    return {"w": np.arange(3.0), "steps": 2}


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (item_stored, ([1.0, 2.5],)),
        (item_stored, ([1, np.arange(3)],)),
        (item_appended, ([1.5],)),
        (array_replaced, (params(),)),
        (array_overwritten, (params(),)),
        (attributes, (State(np.ones(2), 3),)),
        (exchanged, (params(), {"w": np.ones(3)})),
        (number_of_an_array, (np.array(3.0),)),
        (number_of_an_array, (np.arange(3.0),)),
    ],
)
def test_containers_of_the_caller(function, args, gpu):
    run = jit(function, backend="gpu")
    ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
    for _ in range(2):
        np.testing.assert_allclose(tapeless.device_get(run(*ours)), function(*theirs))
    ours, theirs = (tapeless.tree.leaves(tuple(map(open_state, x))) for x in (ours, theirs))
    for x, y in zip(ours, theirs, strict=True):
        assert np.ndim(x) or isinstance(x, type(y))
        np.testing.assert_allclose(tapeless.device_get(x), y)


def open_state(value):
    return vars(value) if isinstance(value, State) else value


outside = np.zeros(3)
counts = {"calls": 0, "last": None}


def stored_outside(x):
    outside[0] += x.sum()
    outside[1:] = x[:2]
    counts["calls"] += 1
    counts["last"] = x * 2
    return outside.sum()


def test_what_is_outside_of_the_program(gpu):
    run, x = jit(stored_outside, backend="gpu"), np.arange(1.0, 4.0)
    outside[:] = 0
    counts.update(calls=0, last=None)
    for k in (1, 2):
        assert float(run(x)) == 6 * k + 3
        np.testing.assert_array_equal(outside, [6 * k, 1, 2])
        assert counts["calls"] == k
        assert type(counts["calls"]) is int
        np.testing.assert_array_equal(tapeless.device_get(counts["last"]), x * 2)


@pytest.mark.parametrize("x", [np.arange(3.0), np.array(2.0)])
def test_arrays_that_jax_would_not_change_are_not(x, gpu):
    """`x += 1` makes a new array of what `device_put` and `tapeless.numpy` give, and stores to an
    array of CuPy."""
    run = jit(number_of_an_array, backend="gpu")
    for passed in (tapeless.device_put(x, tapeless.devices("gpu")[0]), jnp.asarray(x)):
        np.testing.assert_array_equal(tapeless.device_get(run(passed)), (x + 1) * 2)
        np.testing.assert_array_equal(tapeless.device_get(passed), x)
    cupys = gpu.asarray(x)
    np.testing.assert_array_equal(run(cupys).get(), (x + 1) * 2)
    np.testing.assert_array_equal(cupys.get(), x + 1)
