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
