"""Results that are objects of the user's classes: records of the wrapper in Python."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from tapeless import grad
from tapeless.transformations.compilation.jit_to_c import JitToC
from tapeless.transforms.errors import UnsupportedError
from tests.transforms.c.compiled import checked, library, normal


class State(NamedTuple):
    q: np.ndarray
    p: np.ndarray


@dataclass
class Pair:
    state: State
    energy: float


def step(q, p):
    return Pair(State(q + 0.1 * p, p - 0.1 * np.sin(q)), float(np.sum(p * p)))


def test_objects_in_objects(tmp_path):
    q, p = normal(9), normal(9, seed=1)
    checked(step, (q, p), tmp_path)
    pair, expected = library(step, (q, p), tmp_path)(q, p), step(q, p)
    assert np.allclose(pair.state.q, expected.state.q)
    assert np.allclose(pair.state[1], expected.state.p)
    assert np.isclose(pair.energy, expected.energy)
    assert type(pair).__name__ == "Pair"
    header = " ".join((tmp_path / "step.h").read_text().split())
    assert "Pair(state=State(q=out_0, p=out_1), energy=out_2)" in header


def test_gradients_by_objects(tmp_path):
    def energy(state, pair):
        return np.sum(state.q * pair.energy) + state.p @ pair.state.p

    state = State(normal(3), normal(3, seed=1))
    gradient = grad(energy, argnums=(0, 1))
    args = (state, Pair(state, 2.0))
    checked(gradient, args, tmp_path)


def test_in_containers(tmp_path):
    checked(lambda x: {"a": [State(x, -x)], "b": (1, x.sum())}, (normal(9),), tmp_path)


def test_what_the_wrapper_cannot_know_is_refused():
    with pytest.raises(UnsupportedError, match="an object of a class"):
        JitToC(lambda x: np.ma.masked_array(x, x > 0)).module_for((np.ones(9),), {})
