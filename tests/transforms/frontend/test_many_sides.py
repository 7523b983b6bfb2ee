"""Programs whose tests on run-time values have hundreds of sides, and which stay for all values."""

from enum import Enum

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit
from tests.corpus.differences import gradient

SCENE = [
    {"kind": "ball", "center": np.array([0.0, 0.1, 3.0]), "color": 1.0, "mirror": 0.4},
    {"kind": "ball", "center": np.array([1.2, 0.0, 2.0]), "color": 0.6, "mirror": 0.2},
    {"kind": "floor", "height": -1.0, "color": 0.5, "mirror": 0.1},
]
UP = np.array([0.0, 1.0, 0.0])


def unit(v):
    return v / np.sqrt(np.dot(v, v))


def distance(thing, start, way):
    if thing["kind"] == "ball":
        offset = start - thing["center"]
        half = np.dot(offset, way)
        root = half * half - np.dot(offset, offset) + 0.8
        if root < 0:
            return None
        t = -half - np.sqrt(root)
        return t if t > 1e-4 else None
    if abs(way[1]) < 1e-9:
        return None
    t = (thing["height"] - start[1]) / way[1]
    return t if t > 1e-4 else None


def seen(light, start, way, depth):
    """The colour along a ray: reflected by the nearest of several things."""
    nearest, which = np.inf, None
    for thing in SCENE:
        t = distance(thing, start, way)
        if t is not None and t < nearest:
            nearest, which = t, thing
    if which is None:
        return 0.2 * (1 + way[1])
    point = start + nearest * way
    normal = unit(point - which["center"]) if which["kind"] == "ball" else UP
    color = which["color"] * (0.1 + 0.9 * max(0.0, np.dot(normal, unit(light - point))))
    if depth > 0:
        mirrored = unit(way - 2 * np.dot(way, normal) * normal)
        beyond = seen(light, point, mirrored, depth - 1)
        color = (1 - which["mirror"]) * color + which["mirror"] * beyond
    return color


def picture(x):
    total = 0.0
    for i in range(3):
        way = unit(np.array([(i - 1.0) * 0.3, -0.1, 1.0]))
        total += seen(x[:3], np.array([0.0, 0.1, -1.0]) * x[3], way, 2) ** 2
    return total


class State(Enum):
    SOUND, ILL, WELL = range(3)


class Agent:
    def __init__(self):
        self.state, self.load, self.friends = State.SOUND, 0.0, []

    def risk(self, rate):
        pressure = sum(f.load for f in self.friends if f.state is State.ILL)
        return 1 - np.exp(-rate * pressure)

    def advance(self, limit):
        if self.state is State.ILL:
            self.load *= 0.8
            if self.load < limit:
                self.state = State.WELL


def epidemic(x):
    """Agents with friends, of which those fall ill together that a draw says so of."""
    generator = np.random.default_rng(7)
    agents = [Agent() for _ in range(6)]
    for k, agent in enumerate(agents):
        agent.friends = [agents[(k + 1) % 6], agents[k - 1]]
    agents[0].state, agents[0].load = State.ILL, x[0]
    ill = []
    for _ in range(4):
        fallen = []
        for agent in agents:
            if agent.state is State.SOUND:
                risk = agent.risk(x[1])
                if generator.random() < risk:
                    fallen.append((agent, risk))
        for agent, risk in fallen:
            agent.state, agent.load = State.ILL, 1.0 + risk
        for agent in agents:
            agent.advance(x[2])
        ill.append(sum(1 for agent in agents if agent.state is State.ILL))
    return sum(agent.load for agent in agents) + 0.01 * max(ill)


CASES = [
    (picture, np.array([2.0, 4.0, -1.0, 1.0]), np.array([-1.0, 3.0, -2.0, 0.8])),
    (epidemic, np.array([1.5, 0.4, 0.3]), np.array([1.1, 1.4, 0.7])),
]


@pytest.mark.parametrize(("program", "x", "other"), CASES)
def test_values_and_derivatives(program, x, other):
    with tapeless.strict(True):
        compiled, slopes = jit(program), grad(program)
        for point in (x, other):
            assert compiled(point) == pytest.approx(program(point), rel=1e-10)
            expected = gradient(program, point)
            np.testing.assert_allclose(slopes(point), expected, rtol=1e-5, atol=1e-6)
