"""What is in an object, list or function that one side of a branch makes: it may be None or out of
date after the branch if it may be so on that side."""

import itertools

import numpy as np
import pytest

from tapeless import grad, jit, vmap

POINTS = [np.array([*signs, 3.0]) for signs in itertools.product((1.0, -1.0), repeat=2)]


class Node:
    def __init__(self):
        self.below = None
        self.value = None


def an_object(x):
    node = None
    if x[0] > 0:
        node = Node()
        if x[1] > 0:
            node.value = x[2]
    if node is None:
        return x[1]
    return -x[2] if node.value is None else node.value


def a_list(x):
    items = None
    if x[0] > 0:
        value = None
        if x[1] > 0:
            value = x[2]
        items = [value, x[0]]
    if items is None:
        return x[1]
    return -items[1] if items[0] is None else items[0]


def an_array(x):
    node = None
    if x[0] > 0:
        node = Node()
        if x[1] > 0:
            node.value = 2 * x
    if node is None:
        return x[1]
    return -x[2] if node.value is None else node.value[2]


def an_object_in_another(x):
    top = Node()
    if x[0] > 0:
        top.below = Node()
        if x[1] > 0:
            top.below.below = 10 * x[2]
        else:
            top.below.value = x[2]
    else:
        top.value = x[0]
    if top.value is not None:
        return top.value
    return top.below.below if top.below.value is None else top.below.value


def a_tree(x):
    class Tree:
        def __init__(self, depth, y):
            self.below = self.value = None
            if depth == 0 or y[0] < 0:
                self.value = y[0] ** 2
            else:
                self.below = Tree(depth - 1, y[1:])

        def read(self):
            return self.value if self.value is not None else self.below.read()

    return Tree(2, x).read()


def an_object_in_a_tuple(x):
    pair = None
    if x[0] > 0:
        node = Node()
        if x[1] > 0:
            node.value = x[2]
        pair = (x[1], node)
    if pair is None:
        return x[1]
    return pair[0] if pair[1].value is None else pair[0] + pair[1].value


def a_text(x):
    node = None
    if x[0] > 0:
        node = Node()
        node.value = "high" if x[1] > 0 else "low"
    return x[1] if node is None else x[2] * len(node.value)


PROGRAMS = [an_object, a_list, an_array, an_object_in_another, a_tree, an_object_in_a_tuple, a_text]


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_and_slopes(program):
    compiled, slope = jit(program), grad(program)
    for x in POINTS:
        assert compiled(x) == program(x)
        expected = [(program(x + h) - program(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(slope(x), expected, atol=1e-8)
    np.testing.assert_array_equal(vmap(program)(np.stack(POINTS)), [program(x) for x in POINTS])


class Holder:
    pass


def one_or_another_in_an_object(x):
    holder = None
    if x[0] > 0:
        holder, y = Holder(), x * 1
        holder.array = y if x[1] > 0 else x * 2
        y[2] = 8.0
    return 1.0 if holder is None else holder.array[2]


def one_or_none_in_an_object(x):
    holder = None
    if x[0] > 0:
        holder, y = Holder(), x * 1
        holder.array = None
        if x[1] > 0:
            holder.array = y
        y[2] = 8.0
    if holder is None:
        return 1.0
    return -3.0 if holder.array is None else holder.array[2]


def one_or_another_in_a_function(x):
    read = None
    if x[0] > 0:
        y = x * 1
        z = y if x[1] > 0 else x * 2
        y[2] = 8.0
        read = lambda: z[2]  # noqa: E731  (is what is tested)
    return 1.0 if read is None else read()


@pytest.mark.parametrize(
    "program",
    [one_or_another_in_an_object, one_or_none_in_an_object, one_or_another_in_a_function],
)
def test_what_is_stale_on_a_side_is_so_after_it(program):
    for first in (1.0, -1.0):
        for second in (1.0, -1.0):
            x = np.array([first, second, 3.0])
            assert jit(program)(x) == program(x)
