"""Loops over generators and combinations of itertools are loops of the program."""

import ast
import functools
import itertools
import math
import warnings

import numpy as np
import pytest

import tapeless
from tapeless.transforms.frontend.source.push_form import can_push, push_form
from tapeless.transforms.frontend.source.tree_building import plain

X = np.random.default_rng(0).random(40)


def pairs(n):
    for i in range(n):
        for j in range(i + 1, n):
            yield i, j


def partial_sums(x):
    total = 0.0
    for v in x:
        total += v
        yield total
        if total > 3:
            return


def parts(x, n):
    k = 0
    while k < len(x):
        yield x[k : k + n]
        k += n


def both(n):
    yield from pairs(n)
    yield from ((j, i) for i, j in pairs(3))


class Mesh:
    def __init__(self, n):
        self.n = n

    def edges(self):
        for i in range(self.n):
            yield i, (i + 1) % self.n


def sum_of_pairs(x):
    total = 0.0
    for i, j in pairs(len(x)):
        total += abs(x[i] - x[j])
    return total


def skipped(x):
    total = 0.0
    for k, (i, j) in enumerate(pairs(len(x)), 1):
        if x[i] > 0.5:
            continue
        total += x[i] * x[j] / k
    return total


def left(x):
    total = 0.0
    for i, j in pairs(len(x)):
        if x[i] * x[j] > 0.8:
            break
        total += x[i] * x[j]
    else:
        total = -1.0
    return total


def returned(x):
    for i, j in pairs(len(x)):
        if x[i] * x[j] > 0.8:
            return x[i] + 2 * x[j]
    return 0.0


def ended_by_data(x):
    total = 0.0
    for s in partial_sums(x):
        total = total + s * s
    return total


def of_parts(x):
    total = 0.0
    for part in parts(x, 7):
        total = 0.9 * total + np.sum(part)
    return total


def of_both(x):
    total = 0.0
    for i, j in both(len(x)):
        total = 0.99 * total + x[i] * x[j] ** 2
    return total


def of_a_method(x):
    total = 0.0
    for i, j in Mesh(len(x)).edges():
        total += (x[i] - x[j]) ** 2
    return total


def begun_before(x):
    items = pairs(len(x))
    next(items)
    total = 0.0
    for i, j in items:
        total += x[i] * x[j]
    return total


def summed(x):
    return sum(abs(x[i] - x[j]) for i, j in pairs(len(x)))


def largest(x):
    return max(abs(a - b) for a, b in itertools.combinations(x, 2))


def listed(x):
    return np.sum(np.array([x[i] * x[j] for i, j in pairs(len(x))]) ** 2)


def triples(x):
    total = 0.0
    for i, j, k in itertools.combinations(range(len(x)), 3):
        total += x[i] * x[j] - x[k]
    return total


def with_replacement(x):
    total = 0.0
    for a, b in itertools.combinations_with_replacement(x, 2):
        total += a * b**2
    return total


def in_any_order(x):
    total = 0.0
    for (i, a), (j, b) in itertools.permutations(enumerate(x), 2):
        total += a * b * (i - 2 * j)
    return total


def products(x):
    total = 0.0
    for a, b in itertools.product(x, x[:5]):
        total = 0.9 * total + a * b
    return total


def repeated(x):
    total = 0.0
    for a, b in itertools.product(x, repeat=2):
        total = 0.9 * total + a * b
    return total


LOOPS = [
    *(sum_of_pairs, skipped, left, returned, ended_by_data, of_parts, of_both, of_a_method),
    *(summed, largest, listed, triples, with_replacement, in_any_order, products, repeated),
]


@pytest.mark.filterwarnings("error::tapeless.PerformanceWarning")
@pytest.mark.parametrize("function", LOOPS)
def test_value_and_slope_of_rolled_loops(function):
    np.testing.assert_allclose(tapeless.jit(function)(X), function(X), rtol=1e-12)
    direction, h = np.cos(np.arange(X.size)), 1e-7
    difference = (function(X + h * direction) - function(X - h * direction)) / (2 * h)
    compiled = tapeless.jit(tapeless.grad(function))
    np.testing.assert_allclose(compiled(X) @ direction, difference, rtol=1e-5, atol=1e-6)
    assert len(compiled.source(X).splitlines()) < 200


def test_of_a_batch():
    rows = X.reshape(4, 10)
    got = tapeless.vmap(sum_of_pairs)(rows)
    np.testing.assert_allclose(got, [sum_of_pairs(row) for row in rows], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
def test_a_generator_that_has_begun():
    x = X[:8]
    np.testing.assert_allclose(tapeless.jit(begun_before)(x), begun_before(x), rtol=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: list(itertools.combinations(x, 2)),
        lambda x: list(itertools.combinations(x, 0)),
        lambda x: list(itertools.combinations(x, 9)),
        lambda x: list(itertools.permutations(x, 3)),
        lambda x: list(itertools.permutations(x[:3])),
        lambda x: list(itertools.product(x, (1, 2))),
        lambda x: list(itertools.product(x, repeat=2)),
        lambda x: list(itertools.product(x, repeat=0)),
        lambda x: list(itertools.product()),
        lambda x: list(itertools.combinations_with_replacement(x, 3)),
    ],
)
def test_items_of_few(make):
    x = (3.0, 5.0, 7.0, 11.0)
    for items in (x, list(x)):
        assert tapeless.jit(lambda v, items=items: (v, make(items)))(1.0)[1] == make(items)


def sends(n):
    for i in range(n):
        got = yield i
        if got:
            return


def cleans_up(n):
    try:
        yield from range(n)
    finally:
        n.clear()


def test_generators_that_see_more_than_they_give():
    assert can_push(pairs)
    assert can_push(both)
    assert not can_push(sends)
    assert not can_push(cleans_up)


@pytest.mark.parametrize("leaves", [True, False])
def test_text(leaves):
    node = ast.parse("def f(n):\n    for i in range(n):\n        yield i, n\n").body[0]
    text = ast.unparse(ast.fix_missing_locations(push_form(node, leaves)))
    emit = next(a.arg for a in push_form(node, leaves).args.posonlyargs)
    assert plain(emit) == "emit"
    call = f"{emit}((i, n))"
    assert (f"if {call}:\n            return" if leaves else call) in text


def small_ones(x):
    for v in x:
        if v > 0.9:
            return
        yield v < 0.05


def of_ends_by_data(x):
    total = sum(partial_sums(x)) + sum(partial_sums(x), 0.5)
    product = functools.reduce(lambda a, b: 0.5 * a + b, partial_sums(x), 1.0)
    return [total, product, math.fsum(partial_sums(x)), any(small_ones(x)), all(small_ones(x))]


def test_sums_of_generators_with_ends_by_data():
    with warnings.catch_warnings():
        warnings.simplefilter("error", tapeless.PerformanceWarning)
        got = tapeless.jit(of_ends_by_data)(X)
    np.testing.assert_allclose(got, of_ends_by_data(X), rtol=1e-12)


@pytest.mark.parametrize(
    "iterator",
    [lambda x: iter([x[0], x[1]]), lambda x: map(abs, [x[0], x[1]]), lambda x: small_parts(x)],
)
def test_exact_sums_of_iterators(iterator):
    got = tapeless.jit(lambda x: math.fsum(iterator(x)))(X)
    assert got == math.fsum(iterator(X))


def small_parts(x):
    for k in range(3):
        yield x[k]
