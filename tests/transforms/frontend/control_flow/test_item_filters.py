"""Iterators that pass on the items that run-time values choose are loops of the program."""

import itertools
import math
import operator
from functools import reduce

import numpy as np
import pytest

import tapeless
from tapeless import grad, jit, vmap
from tests.corpus.differences import gradient

X = np.array([2.1, 1.2, 5.3, 3.4, 4.5])


def product_of_chosen(x):
    return reduce(lambda a, b: a * b, (v for v in x if v > 2), 1.0)


def product_without_start(x):
    return reduce(operator.mul, (v for v in x if v > 2))


def folded_filter(x):
    return reduce(lambda a, b: a * b + 1, filter(lambda v: v > 2, x), 1.0)


def sum_of_filter(x):
    return sum(filter(lambda v: v > 2, x))


def largest_of_filter(x):
    return max(filter(lambda v: v < 4, x)) * x[0]


def loop_over_expression(x):
    total = 0.0
    for v in (w * w for w in x if w > 2):
        total = total * 0.5 + v
    return total


def loop_that_ends(x):
    total = 0.0
    for v in (w for w in x if w > 2):
        total += v
        if total > 6:
            break
    return total * x[0]


def loop_over_filter(x):
    total = 0.0
    for v in filter(lambda w: w > 2, x):
        total = total * 0.5 + v
    return total


def numbered(x):
    total = 0.0
    for k, v in enumerate(w * w for w in x if w > 2):
        total = total * 0.5 + v * k
    return total


def map_of_filter(x):
    return sum(map(math.sin, filter(lambda w: w > 2, x)))


def list_of_filter(x):
    return np.sum(np.array(list(filter(lambda w: w > 2, x))) ** 2)


def display_of_filter(x):
    return np.prod([*filter(lambda w: w > 2, x)])


def first_of_filter(x):
    return next(filter(lambda w: w > 2.5, x), 0.0) ** 2


def filter_of_pairs(x):
    return sum(v * w for v, w in filter(lambda p: p[0] > p[1], zip(x, x[::-1], strict=True)))


def expression_of_expression(x):
    return sum(w * w for w in (v + 1 for v in x if v > 2) if w < 6)


def all_of_filter(x):
    return all(v > 2 for v in filter(lambda w: w > 2, x)) * x[0]


def taken(x):
    return sum(itertools.takewhile(lambda w: w < 4, x))


def dropped(x):
    return sum(v * v for v in itertools.dropwhile(lambda w: w < 3, x))


def filtered_out(x):
    return math.prod(itertools.filterfalse(lambda v: v > 2, x))


def compressed(x):
    return sum(v * v for v in itertools.compress(x, x > 2))


def chained(x):
    return sum(v * v for v in itertools.chain((w for w in x if w > 2), x[:2]))


def sliced(x):
    return sum(v * v for v in itertools.islice((w for w in x if w > 2), 1, 3))


def pairs(x):
    return sum(a * b for a, b in itertools.pairwise(v for v in x if v > 2))


def accumulated(x):
    return sum(itertools.accumulate(v for v in x if v > 2))


def largest_of_groups(x):
    return sum(max(g) for _, g in itertools.groupby(x, key=lambda v: v > 2))


STAGED = [
    *(product_of_chosen, product_without_start, folded_filter, sum_of_filter, largest_of_filter),
    *(loop_over_expression, loop_that_ends, loop_over_filter, numbered, map_of_filter),
    *(list_of_filter, display_of_filter, first_of_filter, filter_of_pairs),
    *(expression_of_expression, all_of_filter, taken, dropped, filtered_out, compressed),
    *(chained, sliced, pairs, accumulated, largest_of_groups),
]


@pytest.mark.parametrize("function", STAGED)
def test_values_and_derivatives(function):
    steps = 1e-6 * np.eye(len(X))
    expected = [(function(X + h) - function(X - h)) / 2e-6 for h in steps]
    batch = np.stack([X, X[::-1], X * 0.9])
    with tapeless.strict(True):
        np.testing.assert_allclose(jit(function)(X), function(X))
        np.testing.assert_allclose(grad(function)(X), expected, 1e-6, 1e-7)
    np.testing.assert_allclose(vmap(function)(batch), [function(x) for x in batch])


def groups_of_what_changes(x):
    a, total = x.copy(), 0.0
    for _, group in itertools.groupby(a, key=lambda v: v > 2):
        a *= 0.9
        total += sum(group)
    return total


def chain_of_what_changes(x):
    a, total = x.copy(), 0.0
    for v in itertools.chain(a, a[:2]):
        a *= 0.9
        total += v
    return total


def sums_of_what_changes(x):
    a, total = x.copy(), 0.0
    for v in itertools.accumulate(2 * w for w in a):
        a *= 0.9
        total += v
    return total


CHANGING = [groups_of_what_changes, chain_of_what_changes, sums_of_what_changes]


@pytest.mark.parametrize("function", CHANGING)
def test_items_are_read_when_their_turn_comes(function):
    with tapeless.strict(False):
        np.testing.assert_allclose(jit(function)(X), function(X))
        steps = 1e-6 * np.eye(len(X))
        expected = [(function(X + h) - function(X - h)) / 2e-6 for h in steps]
        np.testing.assert_allclose(grad(function)(X), expected, 1e-6)


def test_nothing_to_begin_with():
    small = np.array([1.0, 0.5])
    for form in (product_without_start, jit(product_without_start), grad(product_without_start)):
        with pytest.raises(TypeError, match="empty iterable with no initial value"):
            form(small)


def test_iterators_over_known_items_are_as_in_python():
    def known(x, names=("a", "b", "c")):
        chosen = filter(lambda name: name != "b", names)
        rest = itertools.takewhile(lambda k: k < 2, itertools.count())
        total = next(chosen) + "".join(chosen)
        return x * len(total) + sum(rest)

    with tapeless.strict(True):
        assert jit(known)(2.0) == known(2.0)
        assert grad(known)(2.0) == 2.0


def positive_ones(x):
    first, *rest = filter(lambda v: v > 0, x)
    return first * 10 + sum(rest)


def ends_of_them(x):
    *most, last = (v for v in x if v > 0)
    return last * 10 + sum(most) + len(most)


def ends_of_a_list(x):
    found = [v * v for v in x if v > 0]
    first, *between, last = found
    return first * last + sum(between)


def three_of_them(x):
    a, b, c = (v for v in x if v > 0)
    return a + b * c


@pytest.mark.parametrize("f", [positive_ones, ends_of_them, ends_of_a_list, three_of_them])
def test_what_passes_a_test_is_taken_apart(f):
    x = np.array([0.5, -0.3, 1.25, 0.75, -1.0])
    assert tapeless.jit(f)(x) == pytest.approx(f(x), rel=1e-12)
    np.testing.assert_allclose(tapeless.grad(f)(x), gradient(f, x), rtol=1e-5)
    with pytest.raises(ValueError, match="not enough values to unpack"):
        tapeless.jit(f)(-np.abs(x))
