"""Comparisons of tuples and dataclasses, membership, and the least of things, where data decide."""

import math
from dataclasses import dataclass, field

from tests.corpus import normal, program, uniform


@program(uniform(5))
def each_value_once(x):
    seen, total = [], 0.0
    for v in x:
        if v not in seen:
            seen.append(v)
            total += v * v
    return total


@program(uniform(3))
def known_pairs(x):
    met, total = [(9.0, 2)], x[0]
    for k, v in enumerate(x):
        total += v * v if (v, k) in met else v**3
        met.append((v, k))
    return total


@program(normal(5))
def least_with_its_index(x):
    v, k = min((v, k) for k, v in enumerate(x))
    return v**2 * (k + 1)


@program(normal(5))
def index_of_the_least(x):
    k = min(range(len(x)), key=lambda i: x[i])
    return x[k] ** 2 * (k + 1) + max([2, 0, 1], key=lambda i: x[i]) * x[0] ** 2


@program(normal(5))
def nearest_pair(x):
    near, other = min(zip(x, x[::-1], strict=True), key=lambda pair: (pair[0] > 0, pair[0] ** 2))
    return near * other**2


@program(uniform(4))
def default_of_none(x):
    large = max((v * v for v in x if v > 100), default=3.0)
    return large * x[0] ** 2 + max((v * v for v in x if v > 0), default=0.0)


@program(uniform(2))
def tuples_in_order(x):
    a, b = x
    first = a * b if (a, 1) < (b, 2) else a / b
    return first + (a**2 if (1, a) >= (1, b) and [a, b] != [b, a] else b**2)


@dataclass(order=True)
class Task:
    priority: float
    name: int
    cost: float = field(compare=False)


@program(uniform(2))
def dataclasses_in_order(x):
    later = max(Task(x[0], 1, x[1] ** 2), Task(x[1], 0, x[0] ** 3))
    return later.cost * later.priority


@program(normal(5))
def first_below(x):
    return next(v * v for v in x if v < 0.5) + next((v for v in x if v > 50), 2.0) * x[0] ** 2


@program(normal(4))
def best_so_far(x):
    current = [10.0, 0.0]
    best = list(current)
    for v in x:
        current[0] = v * v
        current[1] += v
        if current[0] < best[0]:
            best = current[:]
    return best[0] + best[1] ** 2


def verdict(v):
    if v > 0.5:
        return True, v * v, "large"
    return False, v**3, "small"


@program(0.7)
@program(0.3)
def text_in_a_tuple(x):
    good, value, said = verdict(x)
    return value * 2 if good and said == "large" else value


@program(0.7)
def converged(x):
    t = x
    while not math.isclose(t, 2.5, rel_tol=1e-3):
        t = 0.5 * t + 1.25
    return t * x


@program(uniform(4), 3)
def lists_of_known_length(x, n):
    return sorted(x**2), [x[0] * x[1]] * n


@program(0.7)
def error_on_the_other_side(x, y=None):
    if x > 0.1:
        return x * x
    return x * y
