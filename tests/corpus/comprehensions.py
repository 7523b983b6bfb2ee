"""Comprehensions of lists, dicts, sets and generators: nested, filtered, over symbols or not."""

import numpy as np

from tests.corpus import normal, program, uniform


@program(uniform(4))
def list_of_elements(x):
    return np.array([np.log(element) * i for i, element in enumerate(x)])


@program(normal(3, 2))
def list_of_rows(a):
    return np.stack([row / np.sqrt(row @ row) for row in a])


@program(0.6, 4)
def powers(x, n):
    return np.array([x**k for k in range(n)]) @ np.arange(n)


@program(normal(6))
def filtered_by_index(x):
    return sum([x[i] ** 2 for i in range(len(x)) if i % 3 != 1])


@program(normal(6))
def filtered_by_value(x):
    return sum(value**2 for value in x if value > 0)


@program(normal(3), normal(2, seed=1), wrt=(0, 1))
def nested_list(x, y):
    return np.array([[np.exp(a * b) for b in y] for a in x])


@program(normal(3), normal(2, seed=1), wrt=(0, 1))
def two_loops_in_one(x, y):
    return sum([(a - b) ** 2 for a in x for b in y if a < 5])


@program({"a": 0.4, "b": 1.3})
def dict_comprehension(parameters):
    squared = {name: value**2 for name, value in parameters.items()}
    return {
        name.upper(): value * squared["a"] for name, value in squared.items() if value is not None
    }


@program(normal(4))
def dict_by_index(x):
    table = {i: x[i] * x[-1 - i] for i in range(4)}
    return table[0] + 2 * table[1] ** 2 + len({i % 2 for i in table})


@program(uniform(4))
def generator_in_reductions(x):
    product = 1.0
    for factor in (np.sin(v) + 1 for v in x):
        product *= factor
    return product + max(v**2 for v in x) - min(np.exp(v) for v in x)


@program(0.5)
def any_and_all(x):
    if any(x > level for level in (0.3, 5.0)) and all(x < level for level in (1.0, 2.0)):
        return x**2
    return x


@program(normal(3, 3))
def reads_enclosing_names(a):
    scale = a[0, 0] ** 2
    return [scale * sum(row) for row in a]


@program(uniform(4), 1.4, wrt=(0, 1))
def calls_inside(x, rate):
    def decay(t, power=1):
        return np.exp(-rate * t) ** power

    return np.array([decay(t) + decay(t, power=k) for k, t in enumerate(x)])


@program(0.7)
def walrus_in_comprehension(x):
    y = x
    values = [y := np.sin(y) + 0.1 for _ in range(3)]
    return sum(values) * y


@program([normal(2, 3), normal(3, 2, seed=1)])
def over_list_of_arrays(weights):
    norms = [np.sum(w**2) for w in weights]
    return sum(norms) + max(norms) * len([w for w in weights if w.shape[0] == 2])


@program(normal(3, 2))
def zipped_and_starred(a):
    columns = list(zip(*[tuple(row) for row in a]))
    return [first * second + third for first, second, third in columns]


@program(normal(4))
def conditional_inside(x):
    return np.array([v**2 if v > 0 else 0.1 * v for v in x])


@program(normal(2, 3))
def dot_product_by_hand(a):
    return np.array([[sum(p * q for p, q in zip(r, s)) for s in a] for r in a])
