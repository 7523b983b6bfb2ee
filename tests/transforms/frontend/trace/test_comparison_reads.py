"""What Python's own code compares of objects is guarded: nobody sees that it is read."""

import functools
from dataclasses import dataclass

import numpy as np
import pytest

from tapeless import grad, jit


@functools.total_ordering
class Level:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.key() == other.key()

    def __hash__(self):
        return hash(self.n)

    def __lt__(self, other):
        return self.n < other.n

    def key(self):
        return self.n


@dataclass(unsafe_hash=True, order=True)
class Record:
    n: int


class ByName:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return vars(self) == vars(other)


class ByArray:
    def __init__(self, n):
        self.n = np.full(2, n)

    def __eq__(self, other):
        return np.array_equal(self.n, other.n)


ASKED = [
    lambda x, m, held: x * 2 if m in held else x * 3,
    lambda x, m, held: x * (5 + held.index(m)) if m in held else x,
    lambda x, m, held: x * 2 if m == held[0] else x * 3,
    lambda x, m, held: x * held.count(m),
    lambda x, m, held: x * 2 if (m, 1) == (held[0], 1) else x * 3,
    lambda x, m, held: x * 2 if [m] == held[:1] else x * 3,
    lambda x, m, held: x * 2 if m != held[0] else x * 3,
    lambda x, m, held: x * 2 if m in tuple(held) else x * 3,
]
HASHED = [
    lambda x, m, held: x * {held[0]: 4, held[1]: 7}.get(m, 9),
    lambda x, m, held: x * 2 if m in {held[0], held[1]} else x * 3,
    lambda x, m, held: x * len({m, held[0]}),
    lambda x, m, held: x * (hash(m) == hash(held[0])),
    lambda x, m, held: x * len(set(held) | {m}),
]
ORDERED = [
    lambda x, m, held: x * max(m, held[0]).n,
    lambda x, m, held: x * sorted([m, held[1]])[0].n,
    lambda x, m, held: x * 2 if m >= held[1] else x,
]
CASES = [
    *((kind, f) for kind in (Level, Record, ByName, ByArray) for f in ASKED),
    *((kind, f) for kind in (Level, Record) for f in (*HASHED, *ORDERED)),
]


@pytest.mark.parametrize(("kind", "asks"), CASES)
def test_an_object_that_is_equal_no_more_is_seen(kind, asks):
    held, m = [kind(1), kind(2)], kind(1)
    f = jit(lambda x: asks(x, m, held))
    for n in (1, 2, 3, 1):
        m.n = np.full(2, n) if kind is ByArray else n
        assert f(1.5) == asks(1.5, m, held)
    held[0].n = np.full(2, 7) if kind is ByArray else 7
    assert f(1.5) == asks(1.5, m, held)


@dataclass
class Settings:
    rate: float
    power: int


class Model:
    def __init__(self, weights):
        self.weights, self.settings = weights, Settings(0.5, 3)

    def loss(self, x):
        return self.settings.rate * np.sum((self.weights * x) ** self.settings.power)


def loss_of(model, x):
    return model.loss(x)


def test_objects_with_dataclasses_in_them_share_a_program():
    slope = grad(loss_of, argnums=1)
    x = np.arange(3.0)
    slope.clear_cache()
    for k in (1.0, 2.0, 3.0):
        model = Model(np.full(3, k))
        np.testing.assert_allclose(slope(model, x), 1.5 * k**3 * x**2)
    assert len({id(s.run) for kept in slope.cache.values() for s in kept}) == 1
