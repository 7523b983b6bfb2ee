"""sorted(), list.sort(), and methods of lists, where the program decides what is equal or less."""

# ruff: noqa: PERF401, PERF402 (lists that loops append to are what is tested)

import functools
import re
from collections import deque
from dataclasses import dataclass
from operator import attrgetter, itemgetter

import numpy as np
import pytest

import tapeless
from tapeless.transforms.errors import TapelessError
from tests.corpus.differences import gradient

X = np.array([5.0, 1.0, 4.0, 3.0, 2.0, 6.0])


@dataclass
class Item:
    weight: float
    name: str = ""

    @property
    def rest(self):
        return self.weight % 3


@dataclass(order=True)
class Ranked:
    rank: float
    number: int


def by_tuples(x):
    found = []
    for v in x:
        found.append(v)
    return np.array(sorted(found, key=lambda v: (v % 3, v)))


def of_array_by_tuples(x):
    return np.array(sorted(x, key=lambda v: (v % 3, -v), reverse=True))


def pairs(x):
    found = []
    for k in range(len(x)):
        found.append((x[k] % 3, k))
    found.sort(reverse=True)
    return found[0], found[1], found[-1]


def objects(x):
    items = [Item(v) for v in x]
    found = sorted(items, key=attrgetter("rest"))
    return found[0].weight, found[2].weight, found[5].weight


def ordered_objects(x):
    items = sorted(Ranked(x[k] % 3, k) for k in range(4))
    return [item.number for item in items]


def integers_stay_integers(x):
    found = sorted([(3, x[0]), (1, x[1]), (2, x[2])], key=lambda pair: pair[1])
    return [number for number, _ in found]


def ties_of_names(x):
    return sorted([0, 1, 2], key=lambda k: (x[k] // 10, "bca"[k]))


def sorted_by_written_rows(x):
    return np.array(sorted(x.reshape(3, 2), key=lambda row: -row[0]))


@pytest.mark.parametrize(
    "function",
    [
        by_tuples,
        of_array_by_tuples,
        pairs,
        objects,
        ordered_objects,
        integers_stay_integers,
        ties_of_names,
        sorted_by_written_rows,
    ],
)
def test_sorted_as_python_does(function):
    np.testing.assert_equal(tapeless.jit(function)(X), function(X))
    assert type(tapeless.jit(function)(X)) is type(function(X))


def by_number(r):
    ranked = sorted(zip(r, NAMES, strict=True), key=lambda item: -item[0])
    return ranked[0][0] * (2.0 if ranked[0][1] == "b" else 1.0) - ranked[1][0]


def whole_pairs(r):
    return sorted(zip(r, NAMES, strict=True), reverse=True)[0][0] ** 2


def items_of_a_dict(r):
    return sum(
        k * v
        for k, (_, v) in enumerate(sorted(dict(zip(NAMES, r, strict=True)).items(), key=VALUE))
    )


NAMES, VALUE = ["a", "b", "c"], itemgetter(1)


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("function", [by_number, whole_pairs, items_of_a_dict])
def test_texts_beside_numbers_are_in_the_order_of_the_call(function):
    rows = np.array([[0.3, 0.1, 0.2], [0.1, 0.5, 0.2], [0.3, 0.2, 0.25]])
    wanted = [function(r) for r in rows]
    np.testing.assert_allclose([tapeless.jit(function)(r) for r in rows], wanted, rtol=1e-14)
    np.testing.assert_allclose(tapeless.vmap(function)(rows), wanted, rtol=1e-14)
    for r in rows:
        np.testing.assert_allclose(tapeless.grad(function)(r), gradient(function, r), rtol=1e-6)


def test_texts_in_a_run_time_order_are_results():
    def names(x):
        return sorted([Item(x[0], "a"), Item(x[1], "b")], key=lambda item: item.weight)[0].name

    compiled = tapeless.jit(names)
    assert [compiled(x) for x in (X, X[::-1])] == [names(x) for x in (X, X[::-1])]


def methods(x, k):
    found = []
    for v in x:
        found.append(v)
    found.insert(k, 10.0)
    found.insert(0, 11.0)
    found.insert(-1, 12.0)
    taken = found.pop(2), found.pop(-3)
    del found[1]
    found.remove(10.0)
    return np.array(found), taken, found.index(12.0), found.count(6.0)


def in_tuples(a, b, c):
    return (a, b, c).count(0.0), [a, b, c].index(b), (c, b, a).index(a)


def of_deques(a, b):
    numbers = deque([a, b, 2.0])
    return numbers.count(2.0), numbers.index(b)


def moved(a, b, c):
    numbers = [a, b, c]
    numbers.insert(1, numbers.pop(numbers.index(min(numbers))))
    return numbers[0], numbers[1], numbers[2]


@pytest.mark.parametrize(("function", "args"), [(methods, (X, 3)), (methods, (X, -3))])
def test_methods_of_lists_that_a_loop_filled(function, args):
    np.testing.assert_equal(tapeless.jit(function)(*args), function(*args))


@pytest.mark.parametrize("numbers", [(3.0, 1.0, 2.0), (0.0, 0.0, 5.0)])
def test_methods_of_lists_of_data(numbers):
    assert tapeless.jit(in_tuples)(*numbers) == in_tuples(*numbers)
    assert tapeless.jit(moved)(*numbers) == moved(*numbers)
    assert tapeless.jit(of_deques)(*numbers[1:]) == of_deques(*numbers[1:])


@pytest.mark.parametrize("method", ["index", "remove"])
def test_what_is_not_in_a_list_raises_as_in_python(method):
    def missing(a, b):
        return getattr([a, b], method)(3.0)

    with pytest.raises(ValueError, match="in list") as of_python:
        missing(1.0, 2.0)
    with pytest.raises(ValueError, match=re.escape(str(of_python.value))):
        tapeless.jit(missing)(1.0, 2.0)


def by_comparison(x):
    return sorted(x, key=functools.cmp_to_key(lambda a, b: a - b))


def pairs_by_comparison(x):
    pairs = list(zip(x, x[::-1], strict=True))
    pairs.sort(key=functools.cmp_to_key(lambda p, q: -1 if p[0] * q[1] > p[1] * q[0] else 1))
    return [p[0] for p in pairs]


@pytest.mark.parametrize("function", [by_comparison, pairs_by_comparison])
def test_comparisons_of_two_at_a_time_are_traced(function):
    x = np.array([3.0, 1.0, 2.0, 1.0])
    with pytest.raises(TapelessError, match="whether this is true"):
        tapeless.jit(function)(x)
    with tapeless.strict(False), pytest.warns(tapeless.PerformanceWarning):
        assert tapeless.jit(function)(x) == function(x)


@dataclass
class Member:
    value: float
    score: float = 0.0


def sorted_lists(x):
    pairs = [[x, 0.0], [2 * x - 1, 0.0], [0.5 * x, 0.0]]
    for _ in range(3):
        for pair in pairs:
            pair[1] = -((pair[0] - 0.3) ** 2)
        pairs = sorted(pairs, key=lambda pair: pair[1])
        pairs[0][0] += 0.1 * pairs[1][0]
    return pairs[0][0] + 2 * pairs[1][0]


def sorted_dicts(x):
    entries = [{"value": x}, {"value": 2 * x - 1}, {"value": 0.5 * x}]
    for _ in range(3):
        for entry in entries:
            entry["score"] = -((entry["value"] - 0.3) ** 2)
        entries.sort(key=lambda entry: entry["score"], reverse=True)
        entries[0]["value"] += 0.1 * entries[1]["value"]
    return entries[0]["value"] + 2 * entries[1]["value"]


def sorted_records(x):
    members = [Member(x), Member(2 * x - 1), Member(0.5 * x)]
    for _ in range(3):
        for member in members:
            member.score = -((member.value - 0.3) ** 2)
        members.sort(key=lambda member: member.score)
        members = [*members[1:], Member(1.1 * members[0].value + members[1].value)]
    return members[0].value + 2 * members[1].score


def sorted_tuples_of_lists(x):
    entries = [(k, [x * k, 0.0]) for k in range(3)]
    for _ in range(3):
        for number, pair in entries:
            pair[1] = -((pair[0] - 0.3) ** 2) * number
        entries = sorted(entries, key=lambda entry: entry[1][1])
        entries[0][1][0] += x
    return entries[0][0] + 2 * entries[1][1][1] + entries[0][1][0]


@pytest.mark.parametrize(
    "f",
    [sorted_lists, sorted_dicts, sorted_records, sorted_tuples_of_lists],
    ids=lambda f: f.__name__,
)
@pytest.mark.filterwarnings("ignore::tapeless.PerformanceWarning")
def test_containers_that_change_after_they_were_sorted(f):
    with tapeless.strict(False):
        for x in (0.7, 2.1):
            assert tapeless.jit(f)(x) == pytest.approx(f(x), rel=1e-12)
            slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
            assert tapeless.grad(f)(x) == pytest.approx(slope, rel=1e-6)
