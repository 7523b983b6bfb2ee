"""Copies, and outer containers of all kinds: what they hold is read at each call."""

import copy
import dataclasses
import types
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple

import numpy as np
import pytest

import tapeless

Pair = namedtuple("Pair", "w k")
NAMES = "a,b"


class Attributes(dict):
    __getattr__ = dict.__getitem__


@dataclasses.dataclass
class Settings:
    w: np.ndarray
    k: float


def items():
    return {"w": np.array([1.0, 2.0]), "k": 2.0}


def change(outer):
    outer["w"], outer["k"] = np.array([3.0, 4.0]), 5.0


def change_attributes(outer):
    outer.w, outer.k = np.array([3.0, 4.0]), 5.0


def change_elements(outer):
    outer[0], outer[1] = np.array([3.0, 4.0]), 5.0


def by_key(outer):
    return outer["w"], outer["k"]


def by_attribute(outer):
    return outer.w, outer.k


def by_values(outer):
    w, k = outer.values()
    return w, k


def by_unpacking(outer):
    w, k = outer
    return w, k


CASES = {
    "OrderedDict": (lambda: OrderedDict(items()), change, by_key),
    "OrderedDict.values": (lambda: OrderedDict(items()), change, by_values),
    "defaultdict": (lambda: defaultdict(list, items()), change, by_key),
    "Counter": (lambda: Counter(items()), change, by_key),
    "subclass": (lambda: Attributes(items()), change, by_key),
    "subclass, by attribute": (lambda: Attributes(items()), change, by_attribute),
    "ChainMap": (lambda: ChainMap({}, items()), change, by_key),
    "deque": (lambda: deque(items().values()), change_elements, by_unpacking),
    "vars": (
        lambda: types.SimpleNamespace(**items()),
        change_attributes,
        lambda o: by_key(vars(o)),
    ),
    "copy.copy": (
        lambda: Settings(**items()),
        change_attributes,
        lambda o: by_attribute(copy.copy(o)),
    ),
    "copy.deepcopy": (
        lambda: Settings(**items()),
        change_attributes,
        lambda o: by_attribute(copy.deepcopy(o)),
    ),
    "dataclasses.replace": (
        lambda: Settings(**items()),
        change_attributes,
        lambda o: (dataclasses.replace(o, k=0.0).w, dataclasses.replace(o, w=0.0).k),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_an_outer_object_holds_is_read_at_each_call(name):
    make, changed, read = CASES[name]
    outer = make()

    def f(x):
        w, k = read(outer)
        return np.sum(w * x) * k

    slope = tapeless.grad(f)
    np.testing.assert_allclose(slope(np.ones(2)), [2.0, 4.0])
    changed(outer)
    np.testing.assert_allclose(slope(np.ones(2)), [15.0, 20.0])


@pytest.mark.parametrize("read", [by_attribute, by_unpacking, lambda o: (o[0], o[1])])
def test_an_outer_named_tuple_is_read_at_each_call(read):
    outer = Pair(**items())
    slope = tapeless.grad(lambda x: np.sum(read(outer)[0] * x) * read(outer)[1])
    np.testing.assert_allclose(slope(np.ones(2)), [2.0, 4.0])
    outer.w[0] = 7.0
    np.testing.assert_allclose(slope(np.ones(2)), [14.0, 4.0])
    outer = Pair(np.zeros(2), 3.0)
    np.testing.assert_allclose(slope(np.ones(2)), [0.0, 0.0])


def test_an_outer_set_is_read_and_changed_at_each_call():
    seen = {1.0}

    def f(x):
        total = sum(seen)
        seen.add(5.0)
        return x * total

    slope = tapeless.grad(f)
    assert (slope(1.0), slope(1.0)) == (1.0, 6.0)
    assert seen == {1.0, 5.0}


def outer_copy(x):
    made = {"a": [1.0]}.copy()
    made["a"], made["b"] = x, 2 * x
    return made["a"] * made["b"]


def deep_copy(x):
    made = copy.deepcopy({"a": [1.0]})
    made["a"].append(x * x)
    return made["a"][1]


def attributes_by_name(x):
    made = types.SimpleNamespace()
    made.__dict__.update(a=x)
    vars(made)["b"] = x
    return made.a * made.b


def words(x):
    made = NAMES.split(",")
    made.append(x * x)
    return made[2]


@pytest.mark.parametrize("f", [outer_copy, deep_copy, attributes_by_name, words])
def test_containers_that_python_makes_are_not_from_outside(f):
    x = np.array([1.5, 2.0])
    np.testing.assert_allclose(tapeless.vmap(f)(x), [f(v) for v in x])
    np.testing.assert_allclose(
        tapeless.vmap(tapeless.grad(f))(x), 2 * np.array([f(v) for v in x]) / x
    )


def test_a_copy_of_an_array_is_an_array_of_its_own():
    def f(w):
        shallow, deep = copy.copy(w), copy.deepcopy({"w": [w]})
        w *= 2.0
        shallow[0] = 3.0
        return np.sum(shallow * w * deep["w"][0])

    # 3 * 2a * a + b * 2b * b
    np.testing.assert_allclose(tapeless.grad(f)(np.array([1.0, 2.0])), [12.0, 24.0])


class Held:
    def __init__(self, items):
        self.items = items


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, list])
@pytest.mark.parametrize("x", [0.4, -0.6])
def test_a_list_whose_length_data_decides(copied, x):
    def f(x):
        held = Held([x, 2 * x, 3.0])
        if x > 0:
            held.items, held.items = held.items, held.items
        else:
            held.items.pop(0)
        own = copied(held.items)
        own.append(np.tanh(x))
        own[0] = 3.0
        return sum(own) + held.items[0]

    assert tapeless.jit(f)(x) == pytest.approx(f(x))
    slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    assert tapeless.grad(f)(x) == pytest.approx(slope, rel=1e-6)
