"""match on what is known without the data: strings, sizes, tuples, dicts, classes."""

from dataclasses import dataclass

import numpy as np

from tests.corpus import normal, program


@program(normal(4), "tanh")
@program(normal(4), "softplus")
@program(normal(4), "gauss")
def activation(x, name):
    match name:
        case "tanh":
            y = np.tanh(x)
        case "softplus" | "smooth":
            y = np.log1p(np.exp(x))
        case _:
            y = np.exp(-(x**2))
    return y


@program((normal(3), normal(3, seed=1)))
@program((normal(3),))
def unpacked_sequence(layers):
    match layers:
        case [single]:
            return np.sum(single**2)
        case [first, *rest]:
            return np.sum(first * sum(rest)) + first[0] ** 2
    return 0.0


@program({"kind": 1.5, "rate": 0.3})
@program({"mean": 0.7})
def mapping_keys(parameters):
    match parameters:
        case {"mean": mean}:
            return mean**3
        case {"rate": rate, **others}:
            return rate * np.exp(others["kind"])


@dataclass
class Circle:
    radius: float


@dataclass
class Box:
    width: float
    height: float


@program([Circle(0.7), Box(1.5, 0.4), Circle(1.1)])
def area_of_shapes(shapes):
    total = 0.0
    for shape in shapes:
        match shape:
            case Circle(radius=r):
                total += np.pi * r**2
            case Box(width, height) if width is not None:
                total += width * height
    return total


@program(normal(3, 3), 0)
@program(normal(3, 3), 1)
@program(normal(3, 3), None)
def norm_of_order(x, order):
    match order:
        case 0:
            return np.sum(np.abs(x).max(axis=0))
        case 1:
            return np.abs(x).sum(axis=1).max()
        case None:
            return np.sqrt(np.sum(x * x))


@program(normal(2, 3))
@program(normal(6))
def rank_of_array(x):
    match x.ndim, x.shape[-1]:
        case 1, n:
            return x @ np.arange(n)
        case 2, 3:
            return np.sum(x[0] * x[1] ** 2)
        case rank, _:
            raise ValueError(f"rank {rank}")


@program(1.3)
def expression_tree(x):
    def evaluate(tree):
        match tree:
            case ("add", left, right):
                return evaluate(left) + evaluate(right)
            case ("mul", left, right):
                return evaluate(left) * evaluate(right)
            case ("sin", inner):
                return np.sin(evaluate(inner))
            case "x":
                return x
            case int() | float() as constant:
                return constant

    return evaluate(("add", ("mul", 2, ("sin", "x")), ("mul", "x", ("add", "x", 0.5))))


@program(0.9)
def guards_on_static_values(x):
    total = 0.0
    for order in range(5):
        match order:
            case 0:
                term = 1.0
            case k if k % 2:
                term = -(x**k)
            case k:
                term = x**k / k
        total += term
    return total


def _weight(value):
    match value:
        case bool():
            return 0.5
        case int(k) if k > 100:
            return k * 2
        case int() | None:
            return 1.0
        case [a, float(b)]:
            return a + b
        case float() | np.floating():
            return value * 2
        case np.ndarray():
            return value.sum()
        case {"a": int(q), **rest}:
            return q * len(rest)
        case _:
            return -1.0


@program(0.9, normal(3), wrt=(0, 1))
def classes_of_numbers_and_arrays(x, v):
    parts = (x, v, x > 0, 7, None, [2, 0.5], np.float64(0.3), {"a": 3, "b": x}, "none", 200)
    return sum(_weight(p) for p in parts) * x


@program(0.9, 250, wrt=(0,))
def classes_of_arguments(x, n):
    return _weight(n) * x + _weight(x) * n


@program(normal(3))
def rest_of_a_list_and_of_a_dict_are_changed(x):
    match [x[0], x[1], x[2]]:
        case [first, *rest]:
            rest.append(first)
            rest[0] = first * 2
    match {"a": x[0], "b": x[1] * x[2]}:
        case {"a": a, **others}:
            others["c"] = a * 2
    return np.sin(rest[0]) * rest[1] + rest[2] * others["b"] * others["c"]
