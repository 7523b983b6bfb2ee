"""What functions return: lists whose length data decides, and objects that they make."""

# ruff: noqa: PERF401, C416, RUF005 (lists that loops append to are what is tested)

from collections import deque
from dataclasses import dataclass

import numpy as np
import pytest

import tapeless

X = np.array([5.0, 1.0, 4.0, 3.0, 2.0, 6.0])


class Registered:
    """With such a class there is, results are looked through for its objects."""


tapeless.tree.register_pytree_node(Registered, lambda r: ((), None), lambda _, __: Registered())


@dataclass
class Filled:
    numbers: list
    count: int


class Node:
    def __init__(self, value, after=None):
        self.value, self.after, self.seen = value, after, [value]


def primes(n):
    found = []
    for k in range(2, n):
        if all(k % p for p in found):
            found.append(k)
    return found


def kept(x):
    found = []
    for k in range(len(x)):
        if x[k] > 2.5:
            found.append((k, x[k], [x[k] * 2, 1]))
    return {"found": found, "nothing": [v for v in x if v > 100]}


def in_objects(x):
    found = Filled([], 0)
    for v in x:
        if v > 1:
            found.numbers.append(v)
            found.count += 1
    return found


def rows(x):
    return [row * 2 for row in x.reshape(3, 2) if row[0] > 4.5]


def last_three(x):
    found = deque(maxlen=3)
    for v in x:
        if v > 1:
            found.append(v)
    return found


def kinds(value):
    """A value with the types of all that is in it."""
    if isinstance(value, Filled):
        return Filled, kinds(value.numbers), value.count
    if isinstance(value, np.ndarray):
        return value.dtype, value.tolist()
    if isinstance(value, dict):
        return dict, [(k, kinds(v)) for k, v in value.items()]
    return type(value), [*map(kinds, value)] if isinstance(value, (list, tuple, deque)) else value


def heads(x):
    found = []
    for i in range(1, len(x)):
        found.append(x[:i] * 2)
    return found


def halves(x):
    found, rest = [], x
    while np.sum(rest) > 2 and len(rest) > 1:
        k = len(rest) // 2
        found.append((rest[:k], k, rest[0]))
        rest = rest[k:] * 0.9
    return {"parts": found, "rest": rest}


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (primes, (30,)),
        (kept, (X,)),
        (in_objects, (X,)),
        (rows, (X,)),
        (last_three, (X,)),
        (heads, (X,)),
        (halves, (X,)),
    ],
)
def test_lists_of_as_many_elements_as_data_says(function, args):
    assert kinds(tapeless.jit(function)(*args)) == kinds(function(*args))


def test_they_are_staged_once_for_all_lengths():
    fast = tapeless.jit(primes)
    texts = {(len(fast(n)), fast.source()) for n in (10, 20, 50)}
    assert [n for n, _ in sorted(texts)] == [4, 8, 15]
    assert len({text for _, text in texts}) == 1


def chain(x):
    first = Node(x)
    first.after = Node(x * 2, first)
    return first, {"again": first}


def test_objects_are_made_anew_and_hold_what_they_held():
    fast = tapeless.jit(chain)
    one, two = fast(2.0), fast(3.0)
    assert (one[0].value, one[0].after.value, two[0].value) == (2.0, 4.0, 3.0)
    assert one[0].after.after is one[0] is one[1]["again"]
    assert one[0] is not two[0]
    assert type(one[0].seen) is list


def test_objects_without_data_are_not_shared_by_calls():
    fast = tapeless.jit(lambda: (Node(1), {1, 2}))
    (one, numbers), (two, others) = fast(), fast()
    one.seen.append(3)
    numbers.add(3)
    assert two.seen == [1]
    assert others == {1, 2}


def test_objects_stored_outside_are_the_ones_returned():
    found = []

    def stores(x):
        found.append(Node(x))
        return found[-1]

    made = tapeless.jit(stores)(2.0)
    assert found == [made]
    assert made.value == 2.0


@dataclass
class Link:
    value: float
    after: "Link | None" = None


def ring(x):
    first = Link(x)
    first.after = Link(x * 2, first)
    total, here = 0.0, first
    for _ in range(3):
        total = total * 0.5 + here.value
        here = here.after
    return total


def test_loops_over_objects_that_hold_themselves_are_unrolled():
    assert tapeless.jit(ring)(3.0) == ring(3.0)
    assert tapeless.grad(ring)(3.0) == pytest.approx(ring(1.0))


def scaled(x, n):
    halves = []
    for k in range(n):
        halves.append(k * 0.5)
    return x * halves[2], x * sum(halves), x * max(halves), x * sorted(halves)[1]


def mixed(x, n):
    found = [0] * n
    for k in range(n):
        found[k] = 1 if k == 2 else x[0] * k
    return x * found[1]


def test_numbers_of_python_in_lists_do_not_decide_dtypes():
    x = np.ones(3, np.float32)
    assert [a.dtype for a in tapeless.jit(scaled)(x, 5)] == [a.dtype for a in scaled(x, 5)]
    assert tapeless.jit(mixed)(x, 4).dtype == mixed(x, 4).dtype


def fractions(x, room):
    taken = [0] * len(x)
    for i in sorted(range(len(x)), key=lambda i: -x[i]):
        if x[i] <= room:
            taken[i] = 1
            room -= x[i]
        else:
            taken[i] = room / x[i]
            break
    return taken


def test_a_list_of_integers_may_get_floats():
    assert tapeless.jit(fractions)(X, 13.0) == fractions(X, 13.0)


def truths(x, n):
    kinds = all(i < n for i in range(9)) is True, any(v > n for v in x) is False
    return kinds, (3.0 in x) is True


def test_all_and_any_are_truth_values_of_python():
    assert tapeless.jit(truths)(X, 9) == truths(X, 9)


def chosen(x, c):
    found = [v for v in x if v > c] if c > 2 else [v * 2 for v in x]
    return found, found + [1.0], found.count(4.0), isinstance(found, list)


def carried(x, n):
    found = [v for v in x]
    for k in range(n):
        found = [v for v in found if v > k]
    return found, [0.5] + found


@pytest.mark.parametrize(
    ("function", "args"), [(chosen, (X, 3.0)), (chosen, (X, 1.0)), (carried, (X, 3))]
)
def test_lists_that_data_chooses_or_a_loop_carries_are_lists(function, args):
    assert tapeless.jit(function)(*args) == function(*args)


@pytest.mark.parametrize("c", [3.0, 1.0])
def test_they_are_changed(c):
    def appended(x, c):
        found = [v for v in x if v > 3] if c > 2 else [v * 2 for v in x]
        found.append(1.0)
        return len(found), found

    assert tapeless.jit(appended)(X, c) == appended(X, c)
