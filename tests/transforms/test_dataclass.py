"""Dataclasses whose methods are closures behave like those of the standard library."""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import field

import pytest

from tapeless.transforms.dataclass import dataclass as ours

MAKERS = pytest.mark.parametrize("make", [ours, dataclasses.dataclass])


@ours(frozen=True)
class Point:
    x: float
    y: float = 0.0


@ours
class Tally:
    counts: dict = field(default_factory=dict)
    note: str = field(default="", repr=False, compare=False)


@MAKERS
def test_objects(make):
    @make(frozen=True)
    class Pair:
        """Two numbers."""

        a: int
        b: int = 2

    assert Pair(1) == Pair(1, 2) == Pair(b=2, a=1)
    assert Pair(1) != Pair(1, 3)
    assert Pair(1) != (1, 2)
    assert hash(Pair(1)) == hash(Pair(1, 2)) == hash((1, 2))
    assert repr(Pair(1)).endswith("Pair(a=1, b=2)")
    assert dataclasses.replace(Pair(1), b=5) == Pair(1, 5)
    assert dataclasses.astuple(Pair(1)) == (1, 2)
    assert [f.name for f in dataclasses.fields(Pair)] == ["a", "b"]
    assert list(inspect.signature(Pair).parameters) == ["a", "b"]
    match Pair(3, 4):
        case Pair(a, b):
            assert (a, b) == (3, 4)
    for change in (lambda p: setattr(p, "a", 5), lambda p: delattr(p, "a")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change(Pair(1))
    for wrong in ((), (1, 2, 3)):
        with pytest.raises(TypeError, match="argument"):
            Pair(*wrong)


@MAKERS
def test_mutable_objects(make):
    @make
    class Bag:
        items: list = field(default_factory=list)
        note: str = field(default="", repr=False, compare=False)
        size: int = 0

        def __post_init__(self):
            self.size = len(self.items)

    a, b = Bag(), Bag()
    a.items.append(1)
    assert b.items == []
    assert a != b
    assert Bag([1], "x") == Bag([1], "y")
    assert Bag([1]).size == 1
    assert repr(Bag([1])).endswith("Bag(items=[1], size=1)")
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)
    a.items.append(a)
    assert "..." in repr(a)


@MAKERS
def test_inheritance(make):
    @make(frozen=True)
    class Shape:
        name: str

        def __repr__(self):
            return "a shape"

    @make(frozen=True)
    class Circle(Shape):
        radius: float = 1.0

    class Disc(Circle):
        def __init__(self, radius):
            super().__init__("disc", radius)

    assert (Disc(2.0).name, Disc(2.0).radius) == ("disc", 2.0)
    assert Circle("round").radius == 1.0
    assert repr(Shape("x")) == "a shape"
    assert repr(Circle("x")).endswith("Circle(name='x', radius=1.0)")
    assert Shape("x") != Circle("x")
    Disc(2.0).__dict__["cached"] = 1
    Disc(2.0).other = 1  # no field, and no dataclass
    with pytest.raises(dataclasses.FrozenInstanceError):
        Disc(2.0).name = "y"


@MAKERS
def test_own_methods_stay(make):
    @make(frozen=True)
    class Word:
        text: str

        def __eq__(self, other):
            return self.text.lower() == other.text.lower()

    @make(frozen=True, eq=False)
    class Node:
        text: str

    assert Word("A") == Word("a")
    assert hash(Word("A")) == hash(("A",))
    assert Node("a") != Node("a")
    assert len({Node("a"), Node("a")}) == 2


@pytest.mark.parametrize("value", [Point(1.0), Tally({"a": 1})])
def test_copies_and_pickles(value):
    assert copy.deepcopy(value) == copy.copy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value
