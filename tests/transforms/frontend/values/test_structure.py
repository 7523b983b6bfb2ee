"""Python values with symbols in them: taken apart, put together, joined."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

from tapeless.transforms.core.builder import building
from tapeless.transforms.core.language import Literal, StackType, Type, Var
from tapeless.transforms.errors import StructureError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.trace.decisions import Decisions
from tapeless.transforms.frontend.trace.trace import Trace
from tapeless.transforms.frontend.values.join import convert, join, join_types
from tapeless.transforms.frontend.values.structure import (
    MISSING,
    flatten,
    has_symbols,
    unflatten,
)

Point = namedtuple("Point", "x y")
FLOAT = Type(np.dtype(float))


@dataclass
class Pair:
    left: object
    right: object


@dataclass(frozen=True)
class Frozen:
    inside: object


@pytest.fixture(autouse=True)
def run():
    with building(Trace(Decisions())) as t:
        yield t


def symbol(kind=FLOAT):
    return Symbol(Var(kind, "s"))


def rebuilt(spec):
    """A new value of the same structure, from new leaves and old static parts."""
    if spec.kind == "leaf":
        return -spec.value
    if spec.kind == "static":
        return spec.value
    return unflatten(spec, [rebuilt(c) for c in spec.children])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.5, -1.5),
        ((1, [2.0, {"k": 3}]), (-1, [-2.0, {"k": -3}])),
        (Point(1, 2), Point(-1, -2)),
        (Pair(1, (2, "text")), Pair(-1, (-2, "text"))),
        (Frozen(1.0), Frozen(-1.0)),
        ({"b": 1, "a": 2}, {"b": -1, "a": -2}),
        ((), ()),
        ([], []),
        (None, None),
    ],
)
def test_apart_and_together(value, expected):
    made = rebuilt(flatten(value))
    assert made == expected
    assert type(made) is type(expected)
    if isinstance(value, dict):
        assert list(made) == list(value)


def test_leaves_in_order():
    s = symbol()
    spec = flatten({"b": [1, s], "a": (2.0, None, np.float32(3))})
    found = list(spec.leaves())
    assert found[1] is s.cell.atom
    assert [a.value for a in found if isinstance(a, Literal)] == [1, 2.0, 3]


def test_what_did_not_change_stays_the_same_object():
    inner, s = [1, 2], symbol()
    value = (inner, s)
    spec = flatten(value)
    assert unflatten(spec, [inner, s]) is value


def first(a, b):
    return (a.value, b.value)


def test_values_of_one_structure_are_joined_leaf_by_leaf():
    a, b = flatten((1, [2.0], "s")), flatten((3, [4.0], "s"))
    assert join(a, b, first) == ((1, 3), [(2.0, 4.0)], "s")


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ((1, 2), (1, 2, 3), "built differently"),
        ([1], (1,), "built differently"),
        ({"a": 1}, {"b": 1}, "built differently"),
        (None, 1.0, "built differently"),
        ("one", "two", "differ"),
        (MISSING, 1.0, "undefined"),
        (Point(1, 2), (1, 2), "built differently"),
    ],
)
def test_values_of_different_structure_are_refused(a, b, message):
    with pytest.raises(StructureError, match=message):
        join(flatten(a), flatten(b), first)


def kind(code, shape=(), weak=False):
    return Type(np.dtype(code), shape, weak)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (kind("f8"), kind("f8"), kind("f8")),
        (kind("i8", (), True), kind("f8", (), True), kind("f8", (), True)),
        (kind("f8", (), True), kind("f4"), kind("f4")),  # a Python float adapts (NEP 50)
        (kind("i8", (), True), kind("f4"), kind("f4")),
        (kind("f8", (), True), kind("i4"), kind("f8")),
        (kind("f8", (), True), kind("f8"), kind("f8")),
        (kind("f8", (3,)), kind("f8", (3,)), kind("f8", (3,))),
    ],
)
def test_joined_types(a, b, expected):
    assert join_types(a, b) == join_types(b, a) == expected


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (kind("?"), kind("f8"), "truth value"),
        (kind("f8"), kind("f8", (3,)), "different numbers of axes"),
        (kind("f8", (3,)), kind("f4", (3,)), "different dtypes"),
        (kind("f4"), kind("f8"), "rounded differently"),
        (kind("f8", (1,)), kind("f8", (3,)), "an axis of length one becomes"),
        (StackType(FLOAT), FLOAT, "differ"),
    ],
)
def test_types_that_do_not_join(a, b, message):
    for x, y in ((a, b), (b, a)):
        with pytest.raises(StructureError, match=message):
            join_types(x, y)


def test_sizes_that_differ_become_a_new_size(run):
    own = set()
    joined = join_types(kind("f8", (3,)), kind("f8", (5,)), own)
    assert joined.shape[0] in run.joined
    assert join_types(joined, kind("f8", (7,)), own) == joined
    assert join_types(joined, kind("f8", (7,)), set()) != joined  # it may be another loop's
    assert join_types(joined, kind("f8", (7,))) != joined  # or another variable's


@pytest.mark.parametrize(
    ("value", "to", "expected"),
    [
        (Literal(1, kind("i8", (), True)), kind("f8", (), True), 1.0),
        (Literal(1, kind("i8", (), True)), kind("f4"), np.float32(1)),
    ],
)
def test_constants_are_converted_at_once(run, value, to, expected):
    made = convert(value, to)
    assert made == Literal(expected, to)
    assert run.blocks == [[]]
    same = Literal(2.0, kind("f8"))
    assert convert(same, kind("f8")) is same


@pytest.mark.parametrize("wrap", [list, tuple, set, lambda s: {"k": s[0]}, lambda s: [[s[0]]]])
def test_symbols_are_found_in_containers(wrap):
    assert has_symbols(wrap([1.0])) is False
    if wrap is not set:
        assert has_symbols(wrap([symbol()]))
    assert has_symbols(slice(None, symbol()))
