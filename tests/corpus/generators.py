"""Generator functions that can be run out while staging, and users' own iterables."""

import itertools

import numpy as np

from tests.corpus import normal, program, uniform


@program(0.6)
def yields_powers(x):
    def powers(n):
        value = 1.0
        for _ in range(n):
            yield value
            value = value * x

    return sum(powers(5))


@program(normal(4))
def yields_pairs(x):
    def neighbours(values):
        for i in range(len(values) - 1):
            yield values[i], values[i + 1]

    return sum((b - a) ** 2 for a, b in neighbours([x[0], x[1], x[2], x[3]]))


@program(0.4, 1.7, wrt=(0, 1))
def yields_from(a, b):
    def leaves(tree):
        if isinstance(tree, tuple):
            for branch in tree:
                yield from leaves(branch)
        else:
            yield tree

    return sum(k * leaf**2 for k, leaf in enumerate(leaves((a, (b, (a * b,)), a + b))))


@program(normal(2, 4))
def batches(x):
    def minibatches(size):
        for start in range(0, 4, size):
            yield x[:, start : start + size]

    total = 0.0
    for batch in minibatches(2):
        total += np.sum(batch[0] * batch[1]) ** 2
    return total


@program(0.9)
def endless_generator_cut(x):
    def iterates():
        value = x
        while True:
            yield value
            value = np.cos(value) * x

    return sum(itertools.islice(iterates(), 4))


@program(0.9)
def next_and_default(x):
    stages = iter([x, x**2, np.sin(x)])
    first = next(stages)
    second = next(stages)
    third = next(stages, 0.0)
    return first + 2 * second + 3 * third + next(stages, 0.5)


@program(normal(3))
def list_of_generator(x):
    def scaled(factors):
        for k in factors:
            yield k * x

    a, b = list(scaled([1.0, 2.0]))
    first, *others = scaled((3.0, 4.0, 5.0))
    return a * b + first * others[-1]


@program(0.5)
def return_value_of_generator(x):
    def integrate(n):
        total = 0.0
        for k in range(n):
            total += x**k
            yield total
        return total * 10

    def outer():
        final = yield from integrate(3)
        yield final

    return sum(outer())


class Mesh:
    def __init__(self, start, stop, cells):
        self.start, self.width, self.cells = start, (stop - start) / cells, cells

    def __iter__(self):
        for i in range(self.cells):
            yield self.start + (i + 0.5) * self.width

    def __len__(self):
        return self.cells


@program(0.2, 1.7, wrt=(0, 1))
def iterable_of_the_user(a, b):
    mesh = Mesh(a, b, 5)
    return sum(np.exp(-(x**2)) for x in mesh) * mesh.width + len(mesh)


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


@program(0.8)
def iterator_of_the_user(x):
    total = 0.0
    for k in Countdown(4):
        total = total * x + k
    return total


@program(uniform(4))
def zip_of_generators(x):
    def odd():
        yield from x[1::2]

    return sum(a * b**2 for a, b in zip((v for v in x[::2]), odd()))


@program(normal(3))
def generator_expression_after_its_first_item(x):
    squares = (v * v for v in x)
    first = next(squares)
    return first + 3 * sum(squares)


@program(normal(3))
def nested_generator_expression_after_its_first_items(x):
    products = (v * w for v in x for w in x)
    first = next(products)
    return first + 2 * next(products) + sum(list(products))
