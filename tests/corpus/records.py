"""Dataclasses and namedtuples as arguments, results, state and settings."""

from dataclasses import InitVar, dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tests.corpus import normal, program, uniform


@dataclass
class Particle:
    position: np.ndarray
    velocity: np.ndarray
    mass: float

    def energy(self):
        return 0.5 * self.mass * np.sum(self.velocity**2)

    def step(self, force, dt=0.1):
        self.velocity = self.velocity + dt * force / self.mass
        self.position = self.position + dt * self.velocity


@program(Particle(normal(3), normal(3, seed=1), 1.4))
def dataclass_argument(particle):
    start = particle.energy()
    for _ in range(3):
        particle.step(-particle.position)
    return start * particle.energy() + particle.position[0]


@dataclass(frozen=True)
class Settings:
    rate: float = 0.3
    scales: list = field(default_factory=lambda: [1.0, 2.0])


@program(0.7)
def dataclass_defaults_and_replace(x):
    settings = replace(Settings(), rate=x)
    return sum(settings.rate**2 * s for s in settings.scales) + Settings(scales=[x]).scales[0]


@program(Particle(normal(2), normal(2, seed=1), 0.9), 3)
def dataclass_result(particle, n):
    for _ in range(n):
        particle = Particle(
            particle.position + particle.velocity, np.sin(particle.position), particle.mass
        )
    return particle


class State(NamedTuple):
    height: float
    speed: float

    def energy(self):
        return self.speed**2 / 2 + 9.81 * self.height


@program(State(10.0, 2.0))
def namedtuple_argument(state):
    for _ in range(4):
        height, speed = state
        state = state._replace(height=height + 0.1 * speed, speed=speed - 0.981)
    return state.energy() * 0.1 + state[1] * state.height


@program(State(1.0, 2.0), uniform(2))
def namedtuple_result(state, x):
    return State(height=state.speed * x, speed=State(*x).energy() * state.height)


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray


@dataclass
class Model:
    first: Layer
    second: Layer
    temperature: float = 1.0


@program(
    Model(Layer(normal(3, 2), normal(2)), Layer(normal(2, 2), normal(2, seed=1))),
    normal(3),
    wrt=(0, 1),
)
def nested_dataclasses(model, x):
    for layer in (model.first, model.second):
        x = np.tanh(x @ layer.w + layer.b)
    return x / model.temperature


@dataclass
class Ledger:
    entries: list = field(default_factory=list)
    total: float = field(init=False, default=0.0)

    def __post_init__(self):
        for entry in self.entries:
            self.total += entry**2

    def __add__(self, other):
        return Ledger(self.entries + other.entries)


@program(0.4, 1.3, wrt=(0, 1))
def post_init_and_addition(x, y):
    ledger = Ledger([x]) + Ledger([y, x * y])
    return ledger.total * len(ledger.entries) + ledger.entries[-1]


@dataclass
class Dense:
    weight: np.ndarray
    bias: np.ndarray

    def __call__(self, x):
        return self.weight @ x + self.bias


@dataclass
class Network:
    layers: list
    scale: float

    def __call__(self, x):
        *hidden, last = self.layers
        for layer in hidden:
            x = np.tanh(layer(x))
        return last(x) * self.scale


@program(
    Network([Dense(normal(2, 3), normal(2, seed=1)), Dense(normal(1, 2, seed=2), normal(1))], 1.5),
    normal(3, seed=3),
)
def dataclass_that_holds_a_list(network, x):
    return Network([network(x)], np.sum(network.layers[0].weight))


SCALES = np.array([1.0, 2.0])


@dataclass
class Lens:
    index: float
    radius: float
    turned: InitVar[float] = 1.0
    weights: np.ndarray = field(default_factory=lambda: SCALES * 2)
    power: float = field(init=False)

    def __post_init__(self, turned):
        self.power = turned * (self.index - 1) / self.radius
        if self.power < 0:
            self.power = 1 - self.power**2
        self.weights[0] = self.power


@dataclass(frozen=True)
class Ray:
    height: float
    angle: float = 0.1
    steps: list = field(default_factory=list)

    def __post_init__(self):
        object.__setattr__(self, "length", self.height**2)
        self.steps.append(self.angle)

    def through(self, lens):
        return replace(self, angle=self.angle - self.height * lens.power)


@program(1.5, 0.8)
def dataclasses_that_compute_when_they_are_made(index, radius):
    lenses = [Lens(index, radius), Lens(index, radius=-radius, turned=2.0)]
    ray = Ray(0.5 * index)
    for lens in lenses:
        ray = ray.through(lens)
    return ray.angle * ray.length + sum(ray.steps) + np.sum(lenses[1].weights)


@dataclass
class Measured:
    at: float

    def __post_init__(self):
        self.size = abs(self.at) * 1.5


@program(-1.3)
def attributes_that_are_no_fields(x):
    m = Measured(x)
    for _ in range(4):
        m = replace(m, at=m.at * 0.5 + 1)
    other = Measured(2 * x) if x > 0 else Measured(3 * x)
    return m.size * other.size
