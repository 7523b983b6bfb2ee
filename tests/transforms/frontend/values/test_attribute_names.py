"""Objects whose class has `__slots__`, where data decides which one a name stands for."""

from dataclasses import dataclass

import numpy as np
import pytest

from tapeless import grad, jit, vmap
from tapeless.transforms.frontend.values.attribute_names import attributes


class Base:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


class Point(Base):
    __slots__ = ("__private", "y")

    def __init__(self, x, y=1.0):
        super().__init__(x)
        self.y, self.__private = y, 2 * x

    @property
    def secret(self):
        return self.__private


class WithoutAny:
    __slots__ = ()

    def tripled(self, x):
        return 3 * x


@dataclass(slots=True)
class Record:
    a: float
    b: object = None


def test_attributes():
    assert set(attributes(Point(1.0))) == {"x", "y", "_Point__private"}
    assert attributes(Record(1.0)) == ("a", "b")


def chosen(v):
    p, q = Point(v[0]), Point(v[1], 2.0)
    c = p if v[0] > 1.5 else q
    c.x = c.x * 3
    return p.x + 2 * q.x + c.y + c.secret


def another_in_a_loop(v):
    p = Point(0.5, np.zeros(2))
    for k in range(3):
        if v[0] > k + 0.5:
            p.x += v[1] * k
            p.y[0] += v[0]
        else:
            p = Point(p.x * 2, p.y + 1)
    return p.x * p.secret + np.sum(p.y)


def at_an_index(v):
    points = [Point(v[0]), Point(v[1], 4.0)]
    points[np.argmax(v)].x += 1.0
    largest = max(points, key=lambda p: p.x)
    largest.y = largest.y * v[0]
    return points[0].x * points[0].y + points[1].x * points[1].y


def nobody_yet(v):
    best = None
    for value in v:
        if best is None or value > best.x:
            best = Point(value, 2 * value)
    return best.x + best.y


def none_or_without_any(v):
    chosen = WithoutAny() if v[1] > 1.5 else None
    return chosen.tripled(v[0]) if chosen is not None else v[0]


def record_of_one_side(v):
    record = Record(v[0], v)
    if v[1] > 1.5:
        record = Record(v[1], v * 2)
    return record.a * np.sum(record.b)


PROGRAMS = (
    chosen,
    another_in_a_loop,
    at_an_index,
    nobody_yet,
    none_or_without_any,
    record_of_one_side,
)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_slots(f):
    compiled, slope = jit(f), jit(grad(f))
    points = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 1.2]])
    for v in points:
        np.testing.assert_allclose(compiled(v), f(v), rtol=1e-12)
        differences = [(f(v + s) - f(v - s)) / 2e-6 for s in 1e-6 * np.eye(2)]
        np.testing.assert_allclose(slope(v), differences, rtol=1e-6)
    np.testing.assert_allclose(vmap(f)(points), [f(v) for v in points], rtol=1e-12)
