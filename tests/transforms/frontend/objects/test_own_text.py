"""Objects whose text needs what only the running program knows, or that have none at all."""

import numpy as np
import pytest

import tapeless
from tests.corpus.differences import gradient


class Rotation:
    def __init__(self, matrix):
        self.matrix = matrix

    def __repr__(self):
        return f"<Rotation {self.matrix}>"


class Length:
    def __init__(self, value):
        self.value = value

    def __str__(self):
        return f"{float(self.value):.3f}"

    __repr__ = __str__

    def __format__(self, spec):
        return str(self)


class Silent:
    def __init__(self, value):
        self.value, self.log = value, []

    def __repr__(self):
        raise RuntimeError("no text")


def turn(x):
    angle = np.sum(x * x)
    if np.isclose(angle, 0.0):
        return Rotation(np.eye(2))
    c, s = np.cos(angle), np.sin(angle)
    return Rotation(np.array([[c, -s], [s, c]]))


def two_returns(x):
    return turn(x).matrix @ x


def replaced_under_a_test(x):
    length = Length(x[0])
    if x[1] > 0:
        length = Length(x[1] * 2)
    return length.value * x


def replaced_in_a_loop(x):
    held = Silent(x[0])
    for k in range(3):
        if x[0] > k * 0.1:
            held = Silent(x[1] * k)
    return held.value * x


def chosen(x):
    lengths = {"a": Length(x[0]), "b": Length(x[1])}
    length = lengths["a"] if x[0] > 0.2 else lengths["b"]
    return length.value * x


PROGRAMS = [two_returns, replaced_under_a_test, replaced_in_a_loop, chosen]


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_text_is_made(program):
    x = np.array([0.3, 0.4])
    np.testing.assert_allclose(tapeless.jit(program)(x), program(x), rtol=1e-12)
    slope = tapeless.grad(lambda x: np.sum(program(x)))(x)
    np.testing.assert_allclose(slope, gradient(lambda x: np.sum(program(x)), x), rtol=1e-6)
    rows = np.stack([x, x * 0.5])
    np.testing.assert_allclose(tapeless.vmap(program)(rows), [program(row) for row in rows])
