"""Variables that are None until data gives them a number, and tests for that."""

import numpy as np

from tests.corpus import program

MIXED = np.array([-1.0, 2.0, 0.4, -0.3])
NEGATIVE = np.array([-1.0, -2.0, -0.4, -0.3])


@program(MIXED)
def last_crossing(x):
    root = None
    for i in range(len(x) - 1):
        if x[i] * x[i + 1] < 0:
            root = x[i] - x[i + 1] * 2
    if root is None:
        raise ValueError("no root")
    return root**2


@program(NEGATIVE)
def first_crossing(x):
    root = None
    for i in range(len(x) - 1):
        if x[i] * x[i + 1] < 0:
            root = x[i] * x[i + 1]
            break
    if root is None:
        return x[0] * x[1]
    return root**2


@program(MIXED)
def least_positive(x):
    best = None
    for v in x:
        if v > 0 and (best is None or v < best):
            best = v
    return best * 3 + best**2 if best is not None else x.sum()


def _first_above(x, bound):
    for i in range(len(x)):
        if x[i] > bound:
            return x[i]
    return None


@program(MIXED)
def first_above(x):
    found = _first_above(x, 0.5)
    if found is None:
        found = x[0]
    never = _first_above(x, 9.0)
    return found * found * (x[2] if never is None else never)


@program(MIXED)
def on_one_side(x):
    scale = None
    if x[1] > 0:
        scale = x[2] * 2
    if x[3] < 0 and scale is not None:
        return scale * x[0] * scale
    return x[2]


@program(MIXED)
def last_row(x):
    row = None
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            if row is not None:
                total += np.sum(row * x[i])
            row = x * x[i]
    return total


@program(np.array([0.5, 0.7, -0.2, 0.9, 1.3]))
def taken_back(x):
    before = x[0]
    total = 0.0
    for v in x:
        if before is not None and v > before:
            total += v * before
            before = None
        else:
            before = v
    return total


class Tracker:
    def __init__(self):
        self.best = None

    def see(self, v):
        if v > 0 and (self.best is None or v > self.best):
            self.best = v * 1.5


@program(MIXED)
def in_an_attribute(x):
    tracker = Tracker()
    for v in x:
        tracker.see(v)
    return 0.0 if tracker.best is None else tracker.best**2


@program(MIXED)
def an_index(x):
    at = None
    for i in range(len(x)):
        if x[i] > 0:
            at = i
    return x[at] ** 2 if at is not None else x[0]


@program(MIXED)
def asked_by_a_while(x):
    i, hit = 0, None
    while hit is None and i < len(x):
        if x[i] > 0:
            hit = x[i] * x[i - 1]
        i += 1
    return hit * i if hit is not None else x[0]


@program(0.3, 2, np.ones(2))
@program(2.3, 2, np.ones(2))
def none_again_after_an_inner_loop(x, n, weights):
    y = None
    for _ in range(3):
        for _ in weights:
            y = x
        if 1.5 > x:
            for _ in range(n):
                if y is None:
                    y = None
            y = None
    return x + (29 * y if y is not None else 0)
