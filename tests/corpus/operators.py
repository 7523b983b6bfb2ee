"""Classes with operators, and copies of what holds arrays."""

import copy
from collections import OrderedDict, defaultdict
from functools import total_ordering

import numpy as np

from tests.corpus import normal, program


class Dual:
    """A number with a slope, as forward mode is taught."""

    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __add__(self, other):
        if not isinstance(other, Dual):
            return NotImplemented
        return Dual(self.value + other.value, self.slope + other.slope)

    def __radd__(self, other):
        return Dual(other) + self

    def __mul__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)

    __rmul__ = __mul__

    def __abs__(self):
        sign = 1.0 if self.value > 0 else -1.0
        return Dual(sign * self.value, sign * self.slope)

    def __pow__(self, n):
        made = Dual(1.0)
        for _ in range(n):
            made = made * self
        return made

    def __float__(self):
        return float(self.value)


@program(0.7)
def dual_numbers(x):
    y = abs(2.0 * Dual(x, 1.0) + 3.0 * Dual(-2.0) + (0.5 + Dual(x, 1.0) ** 3))
    return y.slope * float(y) if y.value > 0.1 else y.slope


@total_ordering
class Clipped:
    """A vector that stays in a box, and is compared by its length."""

    def __init__(self, at):
        self.at = at

    def __iadd__(self, step):
        for k in range(len(self.at)):
            if abs(self.at[k] + step[k]) < 1.0:
                self.at[k] += step[k]
        return self

    def __neg__(self):
        return Clipped(-self.at)

    def __matmul__(self, other):
        return np.sum(self.at * other.at)

    def __getitem__(self, k):
        return self.at[k] if self.at[k] > 0 else -2.0 * self.at[k]

    def __setitem__(self, k, value):
        self.at[k] = value if value < 0.5 else 0.5 + np.sin(value)

    def __contains__(self, value):
        return np.any(self.at > value)

    def __iter__(self):
        for k in range(3):
            yield self[k]

    def __bool__(self):
        return bool(self.at[0] > 0)

    def __eq__(self, other):
        return self @ self == other @ other

    def __lt__(self, other):
        return self @ self < other @ other


@program(normal(3), normal(3, seed=1))
def operators_that_branch(x, y):
    a, b = Clipped(x.copy()), Clipped(y.copy())
    a += 0.3 * y
    b[1] = a[0] * a[2]
    total = sum(v * k for k, v in enumerate(b)) + (-a) @ b
    if b >= a and 0.1 in a:
        total = total * 2
    return total + (a[1] if a else b[1]) * (3.0 if a != b else 1.0)


class Decay:
    """An iterator of its own."""

    def __init__(self, x, count):
        self.x, self.left = x, count

    def __iter__(self):
        return self

    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        self.x = self.x * 0.5 if self.x > 0.1 else self.x - 0.2
        return self.x


@program(0.9)
def iterator_that_branches(x):
    first, *others = Decay(x, 3)
    return first * sum(Decay(x, 4)) + max(Decay(x, 2)) * sum(k * v for k, v in zip((1, 2), others))


class Model:
    def __init__(self, weights):
        self.weights, self.history = weights, [weights]


@program({"w": normal(3), "b": 0.4})
def copies(params):
    old, shallow = copy.deepcopy(params), copy.copy(params)
    params["w"][0] = params["b"] ** 2
    shallow["b"] = 2.0
    model = Model(params["w"])
    saved = copy.deepcopy(model)
    model.weights *= 3.0
    saved.history.append(copy.copy(saved.weights))
    saved.weights[1] = 0.5
    return (
        np.sum(old["w"] * params["w"] * shallow["w"]) * old["b"] * shallow["b"]
        + np.sum(saved.history[0] * model.history[0])
        + np.sum(saved.history[1] ** 2) * len(model.history)
    )


@program(normal(4))
def containers_of_their_own(x):
    groups = defaultdict(list)
    for k, v in enumerate(x[:3]):
        groups["even" if k % 2 == 0 else "odd"].append(v * v)
    ordered = OrderedDict(groups).copy()
    ordered["odd"] = x[3]
    vars(model := Model(x))["extra"] = sum(groups["even"])
    return model.extra * ordered["odd"] + len({1, 2} | {3}) * groups["odd"][0]
