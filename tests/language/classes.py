"""Objects: methods, properties, dataclasses, and what is read from outer objects."""

import copy
import dataclasses
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tests.language import row


class Layer:
    """A callable object with arrays."""

    def __init__(self, weights):
        self.weights = weights
        self.scale = 0.5

    def __call__(self, x):
        return np.tanh(self.weights @ x) * self.scale


@row("classes with `__call__`")
def callable_objects(x):
    layer = Layer(np.outer(x, np.array([1.0, 2.0, 3.0])))
    return np.sum(layer(layer(x)))


class Circle:
    """Properties read and set."""

    def __init__(self, radius):
        self._radius = radius

    @property
    def area(self):
        return np.pi * self._radius**2

    @area.setter
    def area(self, value):
        self._radius = np.sqrt(value / np.pi)


@row("properties")
def properties(x):
    circle = Circle(x[0])
    y = circle.area * x[1]
    circle.area = x[2] ** 2 + 1
    return y * circle._radius


@dataclass
class State:
    """A record of numbers."""

    position: float
    speed: float = 1.0

    def step(self, dt):
        return State(self.position + dt * self.speed, self.speed - dt * np.sin(self.position))


@row("dataclasses")
def dataclasses_(x):
    state = State(x[0], speed=x[1])
    for _ in range(5):
        state = state.step(0.1 * x[2])
    return state.position * state.speed


class Pair(NamedTuple):
    """A named tuple of numbers."""

    a: float
    b: float


@row("named tuples")
def named_tuples(x):
    pair = Pair(x[0], b=x[1])
    pair = pair._replace(a=pair.b * x[2])
    return pair.a * pair.b + pair[0] ** 2


TURN = np.matrix([[0.0, -1.0], [1.0, 0.0]])


@row("`np.matrix`")
def matrices(x):
    m = TURN * np.matrix([[x[0], 1.0], [2.0, x[1]]])
    return (m**2)[0, 1] + (m[:, 0].T * m.I * x[:2].reshape(2, 1)).item() + np.sum(m * x[2])


class Base:
    """A class to inherit from."""

    def value(self, x):
        return np.sum(x * self.weight(x))

    def weight(self, x):
        return x[0]


class Derived(Base):
    """Overrides one method and calls the other by super()."""

    def weight(self, x):
        return super().weight(x) * x[1] + x**2


@row("inheritance and `super()`")
def inherits(x):
    return Derived().value(x) + Base().value(x) * x[2]


class Tools:
    """Static and class methods."""

    factor = 3.0

    @staticmethod
    def square(v):
        return v * v

    @classmethod
    def scaled(cls, v):
        return cls.factor * cls.square(v)


@row("static and class methods")
def unbound(x):
    return np.sum(Tools.scaled(x) * x[0]) + Tools.square(x[1])


MODEL = Layer(np.array([[0.5, 0.1, -0.3], [0.2, -0.6, 0.4], [0.7, 0.3, 0.1]]))


@row("arrays of outer objects (`self.w`) as captured inputs")
def captured(x):
    return np.sum(MODEL(x) * MODEL.weights[0])


@row("objects as arguments, another one in each call (`step(State(x, v))`)")
def a_new_object(x):
    return np.sum(Layer(np.outer(x, MODEL.weights[1]))(x))


class Counter:
    """Keeps what it saw."""

    def __init__(self):
        self.count, self.last = 0, None

    def __call__(self, v):
        self.count += 1
        self.last = v
        return v**2


@row("objects that change as they are used")
def stateful(x):
    counter = Counter()
    total = 0.0
    for v in [x[0], x[1], x[2]]:
        total += counter(v) * counter.count
    return total * counter.last


SEEN = []
LATEST = {}
TOTALS = np.zeros(3)


@row("writes to outer attributes, globals, lists, dicts and arrays")
def writes_outside(x):
    global runs
    runs += 1
    SEEN.append(x[0])
    LATEST["sum"] = np.sum(x)
    MODEL.last = x[1] ** 2
    for i in range(3):
        TOTALS[i] = x[i] * i
    return np.sum(x**3) + MODEL.last * LATEST["sum"] + TOTALS[1]


runs = 0


class Length:
    def __init__(self, metres):
        self.metres = metres

    def __sub__(self, other):
        return Length(self.metres - other.metres)

    def __abs__(self):
        return Length(self.metres if self.metres > 0 else -self.metres)

    def __rmul__(self, factor):
        return Length(factor * self.metres)

    def __lt__(self, other):
        return self.metres < other.metres

    def __iter__(self):
        yield self.metres
        yield self.metres**2

    def __bool__(self):
        return bool(self.metres > 1e-9)


SHORT = Length(0.01)


@row(
    "operators and other special methods (`__add__`, `__getitem__`, `__lt__`, `__iter__`, "
    "`__bool__`, ...)"
)
def operators(x):
    apart = 2.0 * abs(Length(x[0]) - Length(x[1]))
    first, square = apart
    return first * square + x[2] if SHORT < apart and apart else x[2]


@row("`copy.copy`, `copy.deepcopy`, `dataclasses.replace`")
def copied(x):
    start = {"at": [x], "particle": Particle(x[0], x[1])}
    later = copy.deepcopy(start)
    later["at"][0] *= 2.0
    moved = dataclasses.replace(later["particle"], speed=x[2])
    again = copy.copy(x)
    again[0] = moved.speed
    return np.sum(start["at"][0] * later["at"][0] * again) * moved.position


@dataclass
class Particle:
    position: float
    speed: float


KINDS = OrderedDict(weights=np.array([1.0, -2.0, 0.5]), power=2)
RECENT = deque([np.ones(3), np.array([0.5, 1.5, 1.0])], maxlen=2)


@row(
    "arrays and numbers in outer `OrderedDict`, `defaultdict`, `Counter`, `deque`, `set`, named "
    "tuples and users' subclasses of containers"
)
def outer_containers(x):
    before, last = RECENT
    return np.sum(KINDS["weights"] * before * x ** KINDS["power"]) + np.sum(last * x)


def logistic(v):
    return 1 / (1 + np.exp(-v))


@row("functions and objects chosen by data; tuples, lists, dicts and objects that may be None")
def one_of_two(x):
    total = 0.0
    for v in x:
        f = logistic if v > 1 else np.tanh
        found = (f(v), v**2) if v > 0.5 else None
        total += f(2 * v) if found is None else found[0] * found[1]
    return total
