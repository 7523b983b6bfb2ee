"""Calls of classes with types in brackets: generic classes, and containers under typing's names."""

import collections
import typing

import pytest

import tapeless

T = typing.TypeVar("T")


class Largest(typing.Generic[T]):
    def __init__(self, first: T):
        self.items: list[T] = [first]
        self.top = 2 * first if first > 0 else first

    def add(self, x: T) -> None:
        self.items.append(x)
        if x > self.top:
            self.top = x


def generic(x):
    largest = Largest[float](x)
    largest.add(3 * x)
    return largest.top + largest.items[0] ** 2


def knows_its_types(x):
    return Largest[float](x).top * (Largest[float](x).__orig_class__ == Largest[float])


def ordered(x):
    entries = typing.OrderedDict()
    for name in "ab":
        entries[name] = x * (len(entries) + 1)
    return entries["b"] * entries["a"]


def with_defaults(x):
    lists = collections.defaultdict[str, list](list)
    for k in range(3):
        lists["powers"].append(x**k)
    lists["all"].append(x)
    return sum(lists["powers"]) * len(lists)


def listed(x):
    values = list[float]((x, x))
    for _ in range(4):
        values.append(values[-1] + values[-2])
    return values[-1] * x


def last_two(x):
    values = typing.Deque[float](maxlen=2)  # noqa: UP006 (that is it)
    for k in range(5):
        values.append(x**k)
    return values[0] + values[-1]


FUNCTIONS = [generic, knows_its_types, ordered, with_defaults, listed, last_two]


@pytest.mark.parametrize("x", [2.0, -1.5])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_class_in_front_of_the_brackets_is_called(f, x):
    with tapeless.strict(True):
        assert tapeless.jit(f)(x) == pytest.approx(f(x), rel=1e-12)
        slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        assert tapeless.grad(f)(x) == pytest.approx(slope, rel=1e-6)


def test_the_dict_is_a_result():
    def f(x):
        entries = typing.OrderedDict[str, float](a=x)
        entries["b"] = 2 * x
        return entries

    result = tapeless.jit(f)(1.5)
    assert result == {"a": 1.5, "b": 3.0}
    assert type(result) is collections.OrderedDict


def test_names_that_are_only_for_hints_are_not_called():
    with pytest.raises(TypeError, match="Dict cannot be instantiated"):
        tapeless.jit(lambda x: typing.Dict[str, float](a=x)["a"])(1.0)  # noqa: UP006 (that is it)
