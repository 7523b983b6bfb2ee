"""Functions and objects that data chooses, and tuples and objects that may be None."""

import functools
import math
from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from tests.corpus import normal, program, uniform


@program(normal(5))
def functions(x):
    total = 0.0
    for v in x:
        f = np.sin if v > 0 else math.exp
        total = max(total, f(v)) + f(2 * v)
    return total


@program(0.8)
@program(0.3)
def closures(x):
    def scaling(k):
        shift = k * x
        return lambda v, power=k: shift * v + power * v**2

    f = scaling(2 * x) if x > 0.5 else scaling(3.0)
    g = functools.partial(pow, 2.0) if x > 0.5 else np.cos
    return f(x) * g(x) + f(2.0)


class Square:
    def __init__(self, side):
        self.side, self.asked = side, 0

    def area(self):
        self.asked += 1
        return self.asked * self.side**2


class Circle(Square):
    def area(self):
        return math.pi * super().area()

    @property
    def width(self):
        return 2 * self.side


@program(0.8)
@program(0.3)
def objects(x):
    if x > 0.5:
        shape = Square(np.sin(x))
    else:
        radius = x**2
        shape = Circle(radius)
    total = 0.0
    for _ in range(3):
        total += shape.area()
    if isinstance(shape, Circle):
        total *= shape.width
    return total


@program(0.8)
@program(0.3)
def objects_that_are_changed(x):
    a, b = Square(x), Square(2 * x)
    larger = a if x > 0.5 else b
    larger.side = larger.side * 3
    return a.side + 10 * b.side * larger.side + (larger is a) * x


Hit = namedtuple("Hit", "distance place")


def meets(origin, direction):
    inside = direction * direction - origin
    if inside < 0:
        return None
    distance = math.sqrt(inside) - direction
    if distance < 0:
        return None
    return Hit(distance, origin + distance * direction)


@program(-0.8, 1.2, wrt=(0, 1))
@program(0.8, 0.2, wrt=(0, 1))
@program(0.8, 1.2, wrt=(0, 1))
def hit_or_none(origin, direction):
    hit = meets(origin, direction)
    if hit is None:
        return origin * direction
    return hit.distance * hit.place


@program(uniform(4, low=-1.0, high=1.0))
def nearest_hit(x):
    best = None
    for k in range(3):
        hit = meets(x[k], x[k + 1])
        if hit is not None and (best is None or hit.distance < best):
            best = hit.distance
    return x[0] if best is None else best * x[1]


@dataclass
class Pair:
    left: float
    right: float


@program(0.8)
@program(0.3)
def record_or_none(x):
    pair = Pair(x, x**2) if x > 0.5 else None
    if pair is not None:
        pair.left *= 2
        return pair.left * pair.right
    return np.sin(x)
