"""Functions that call themselves by data, and get one thing twice in a call."""

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import UnsupportedError


def paths(n, reached, found):
    if reached >= n:
        return reached, found + 1
    reached, found = paths(n, reached + 2, found)
    if reached > 3:
        reached, found = paths(n, reached + 1, found)
    return reached, found


def from_one_number(n):
    return paths(n, 0, 0)[1]


def doubled(x, y, depth):
    if depth > x:
        return x * 10 + y
    return doubled(x, y * 2 + 1, depth + 1.0)


def from_one_symbol(x):
    return doubled(x, x, 0.0)


def added(a, b, n):
    if n > a[0]:
        return np.sum(a * b)
    return added(a, b + a, n + 1.0)


def from_one_array(a):
    return added(a, a, 0.0)


def stored(a, b, n):
    if n > 3.0:
        return np.sum(a * b)
    b[1] = n
    return stored(a, b, n + 1.0)


def stored_to_one(a):
    a = a * 1
    return stored(a, a, a[0])


CASES = [
    (from_one_number, 5.5),
    (from_one_number, 9.5),
    (from_one_symbol, 3.5),
    (from_one_array, np.array([2.5, 3.0])),
    (stored_to_one, np.array([0.5, 3.0])),
]


@pytest.mark.parametrize(("function", "x"), CASES)
def test_what_a_call_gets_twice_may_differ_in_the_next_one(function, x):
    assert tapeless.jit(function)(x) == function(x)


def test_batch_and_derivative():
    numbers = np.array([1, 5, 9])
    assert tapeless.vmap(from_one_number)(numbers).tolist() == [*map(from_one_number, numbers)]
    assert tapeless.grad(from_one_symbol)(3.5) == 26


def test_one_array_twice_that_is_two_later_is_not_stored_to():
    def moved(a, b, n):
        if n > 3.0:
            return np.sum(a * b)
        b[1] = n
        return moved(a, b + 1, n + 1.0)

    def start(a):
        a = a * 1
        return moved(a, a, a[0])

    with pytest.raises(tapeless.TapelessError, match="gets one array twice in one call, and two"):
        tapeless.jit(start)(np.array([0.5, 3.0]))


def forest(edges, n):
    parent = list(range(n))

    def find(i):
        if i != parent[i]:
            parent[i] = find(parent[i])
        return parent[i]

    joined = 0
    for a, b in edges:
        x, y = find(a), find(b)
        if x != y:
            parent[x] = y
            joined += 1
    return joined, parent


@pytest.mark.parametrize("n", [6, 12])
def test_a_list_around_it_is_stored_to(n):
    edges = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 0)]
    assert tapeless.jit(forest)(edges, n) == forest(edges, n)
    joined, parent = tapeless.jit(forest)(np.array(edges), n)
    assert (joined, [*map(int, parent)]) == forest(edges, n)


def test_a_list_around_it_that_loops_filled_does_not_grow():
    def seen(x):
        found = [v * 2 for v in x]

        def halve(v):
            found.append(v)
            return halve(v / 2) + 1 if v > 1 else v

        return halve(x[0]), len(found)

    with pytest.raises(tapeless.TapelessError, match="a list from outside grows or shrinks"):
        tapeless.jit(seen)(np.array([9.0, 2.0]))


def longer(xs, k, x):
    if x < 1.0:
        return xs
    return longer(xs + xs if k == 3 else xs, k - 1, x * 0.5)


def test_a_list_that_a_loop_filled_stays_one():
    def filled(n, x):
        xs = []
        for k in range(n):
            xs.append(k)  # noqa: PERF402 (what is tested)
        return longer(xs, 3, x)

    assert tapeless.jit(filled)(5, 9.0) == filled(5, 9.0) == [0, 1, 2, 3, 4] * 2


def put_into(xs, k, x):
    if x < 1.0:
        return
    xs[k] = 7
    put_into(xs, k + 1, x * 0.5)


def test_stores_to_a_list_that_a_loop_filled_are_refused():
    def f(n, x):
        xs = []
        for k in range(n):
            xs.append(k)  # noqa: PERF402 (what is tested)
        put_into(xs, 0, x)
        return xs

    with pytest.raises(UnsupportedError, match="stores to a list that a loop filled"):
        tapeless.jit(f)(9, 4.0)
