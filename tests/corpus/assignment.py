"""Swaps, starred and chained targets, augmented and annotated assignment, walrus, del."""

import numpy as np

from tests.corpus import normal, program, uniform


@program(0.4, 1.2, wrt=(0, 1))
def swap(x, y):
    x, y = y, x**2
    x, y = y + x, x * y
    return x / (1 + y**2)


@program(normal(3))
def swap_elements(x):
    x[0], x[1] = x[1], x[0] ** 2
    x[1], x[2] = x[2], x[1] * x[0]
    return x


@program(normal(3, 3))
def swap_rows_needs_copy(a):
    a[0], a[2] = a[2].copy(), a[0] * a[1]
    return a


@program(normal(5))
def starred_target(x):
    first, *middle, last = x
    return first * last + sum(m**2 for m in middle) + len(middle)


@program((0.3, 0.7, 1.1, 1.9))
def starred_in_displays(values):
    head, *tail = values
    joined = [*tail, head, *(v**2 for v in tail)]
    return sum(k * v for k, v in enumerate(joined))


@program(0.6)
def chained_targets(x):
    a = b = x**2
    a += 1
    return a * b


@program(normal(3))
def chained_targets_share_array(x):
    a = b = x * 2
    a += 1
    b[0] = 5 * x[1]
    return a * b


@program(1.3)
def augmented_scalars(x):
    y = x
    y += 2
    y *= x
    y -= 0.5
    y /= x + 1
    y **= 2
    return y


@program(uniform(4))
def augmented_array_in_place(x):
    y = x.copy()
    alias = y
    y += 2
    y *= x
    y -= 0.5
    y /= x + 1
    y **= 2
    return alias


@program(uniform(4))
def augmented_without_alias(x):
    y = x
    y = y + 2
    y = y * x
    return y - x


@program(normal(3, 3), normal(3, seed=1), wrt=(0, 1))
def augmented_matmul(a, x):
    a @= a
    x = a @ x
    return x


@program({"total": 0.5, "parts": [1.5, 2.5]})
def augmented_items(table):
    table["total"] += table["parts"][0]
    table["parts"][1] *= table["total"]
    table["parts"] += [table["total"] ** 2]
    return table["total"] * table["parts"][2] + table["parts"][1]


class Accumulator:
    def __init__(self, value):
        self.value = value
        self.parts = np.zeros(3)


@program(normal(3))
def augmented_attributes(x):
    box = Accumulator(x[0])
    box.value += x[1] ** 2
    box.value *= x[2]
    box.parts += x
    box.parts[1:] -= box.value
    return box.parts * box.value


@program(0.8)
def walrus(x):
    if (y := x**2) > 0.5:
        return y * (z := np.sin(y)) + z
    return y


@program(normal(4))
def deleted_names(x):
    y = x**2
    total = np.sum(y)
    del y
    y = total
    values = [x[0], x[1], total]
    del values[1]
    return values[0] * values[1] + y


@program(0.6)
def annotated_and_integers(x):
    n: int = 7
    n //= 2
    n <<= 1
    n -= 2
    y: float
    y = x**n
    n %= 3
    return y + n * x


@program(normal(2, 2))
def unpacked_rows_are_views(a):
    first, second = a
    first[0] = second[1] ** 2
    second *= 2.0
    return a


@program(normal(3))
def unpacked_elements(x):
    a, b, c = x
    [d, (e, f)] = [a * b, (b * c, c * a)]
    x[0] = 100.0
    return a + d * e + f


@program(normal(2, 3))
def order_of_evaluation(a):
    i = 0
    i, a[i, 1] = 1, a[1, 2] ** 2
    a[i, i + 1], i = a[0, 1] * 3, 0
    return a * (i + 1)


@program(normal(3))
def starred_list_is_changed(x):
    first, *rest = x[0], x[1], x[2]
    rest.append(first * 2)
    first, rest[0] = rest[0], first
    return first * 3 + np.sin(rest[0]) * rest[-1] + rest[1]
