"""Source text of random functions over mutable objects that share one another.

A function takes a float x, a vector v of three numbers and a number of passes n. It makes lists,
dicts, objects and arrays, puts them into one another, gives them further names, by data too, and
changes them through any of these. What it returns depends on all of them, and on which are one.

The type of an object is "number", "array", "box", or a pair: ("list", type of its items) or
("dict", type of its values). A list is never empty, a dict has the keys "a" and "b".
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

Type = str | tuple[str, "Type"]

NUMBER, ARRAY, BOX = "number", "array", "box"
NUMBERS: Type = ("list", NUMBER)
TYPES: list[Type] = [
    ARRAY, ARRAY, BOX, BOX, NUMBERS, NUMBERS, ("dict", NUMBER), ("list", ARRAY), ("list", BOX),
    ("list", NUMBERS), ("dict", ARRAY), ("dict", NUMBERS), ("dict", BOX),
    ("list", ("dict", NUMBER)),
]  # fmt: skip

HEADER = """import copy

import numpy as np


class Box:
    def __init__(self, number, array, items):
        self.number = number
        self.array = array
        self.items = items

    def push(self, a):
        self.items.append(np.tanh(a))
        self.number = self.items[0]
        return self

    def swap(self, other):
        self.items, other.items = other.items, self.items


def bump(items, a):
    items[0] = np.sin(items[0] + a)
    items.append(0.5 * a)
    return items


def fill(array, a):
    array[1:] *= np.cos(a)
    array[0] = np.tanh(a)
    return array


def of_box(box):
    return box.number + np.sum(box.array) + sum((k + 1) * e for k, e in enumerate(box.items))
"""


@dataclass
class Settings:
    """What kinds of statements a program has."""

    statements: int = 6  # at most, in a block
    depth: int = 2  # of loops and branches
    data: bool = True  # whether tests and indices depend on data


class HeapWriter:
    """Writes one program by a random generator."""

    def __init__(self, generator: random.Random, settings: Settings | None = None) -> None:
        self.random = generator
        self.settings = settings or Settings()
        self.count = 0
        self.names: dict[str, Type] = {"x": NUMBER, "v": ARRAY}
        self.indices: list[str] = []
        self.loops = 0

    def program(self) -> str:
        lines = ["v = v.copy()"]
        for _ in range(3):
            lines += self.new()
        lines += self.block(0)
        lines += [f"return {self.digest()}"]
        return HEADER + "\n\ndef f(x, v, n):\n" + "".join(f"    {line}\n" for line in lines)

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def choose(self, choices: list) -> object:
        return self.random.choice(choices)

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Names that are made inside are gone behind it."""
        names, indices = dict(self.names), list(self.indices)
        yield
        self.names, self.indices = names, indices

    # -- what is read

    def digest(self) -> str:
        terms = [self.number_of(name, kind) for name, kind in self.names.items()]
        alike = [
            (a, b)
            for a in self.names
            for b in self.names
            if a < b and self.names[a] == self.names[b] != NUMBER
        ]
        for a, b in self.random.sample(alike, min(3, len(alike))):
            terms.append(f"(1.0 if {a} is {b} else 0.5)")
        return " + ".join(f"{1 + k / 7:.2f} * {term}" for k, term in enumerate(terms))

    def number_of(self, place: str, kind: Type) -> str:
        """A number in which all that an object holds counts."""
        if kind == NUMBER:
            return place
        if kind == ARRAY:
            return f"({place} @ np.array([1.0, 2.0, 3.0]))"
        if kind == BOX:
            return f"of_box({place})"
        k, e = self.fresh("k"), self.fresh("e")
        if kind[0] == "list":
            inside = self.number_of(e, kind[1])
            return f"sum((1.0 + 0.3 * {k}) * {inside} for {k}, {e} in enumerate({place}))"
        first, second = (self.number_of(f"{place}[{key!r}]", kind[1]) for key in "ab")
        return f"{first} * {second}"

    def places(self, kind: Type) -> list[str]:
        """Expressions for objects of a type that are there: names, items and attributes."""
        places = []
        for name, other in self.names.items():
            places += self.inside(name, other, kind)
        return places

    def inside(self, place: str, other: Type, kind: Type) -> list[str]:
        if other == kind:
            return [place]
        if other == BOX:
            parts = [("number", NUMBER), ("array", ARRAY), ("items", NUMBERS)]
            return [p for name, t in parts for p in self.inside(f"{place}.{name}", t, kind)]
        if other == ARRAY:
            return [f"{place}[{self.choose(['0', '1', '-1', *self.indices])}]"] * (kind == NUMBER)
        if isinstance(other, tuple):
            key = self.index(place) if other[0] == "list" else self.choose(["'a'", "'b'"])
            return self.inside(f"{place}[{key}]", other[1], kind)
        return []

    def index(self, place: str) -> str:
        """An index of a list that has at least one item."""
        ways = ["0", "0", "-1", f"n % len({place})"]
        ways += [f"{i} % len({place})" for i in self.indices]
        if self.settings.data:
            ways += [f"int(5 * abs({self.simple()})) % len({place})"]
        return self.choose(ways)

    def simple(self) -> str:
        return self.choose(["x", "v[0]", "v[1]", "v[-1]"])

    def number(self) -> str:
        """A bounded number."""
        a, b = self.choose(self.places(NUMBER)), self.choose(self.places(NUMBER))
        ways = [
            f"np.tanh({a})",
            f"np.sin({a} + {b})",
            f"np.cos({a}) * x",
            f"0.5 * np.sin({a} * {b})",
        ]
        some = self.places(NUMBERS)
        if some:
            ways += [f"np.tanh(sum({self.choose(some)}))", f"0.1 * len({self.choose(some)}) * x"]
        return self.choose(ways)

    def condition(self) -> str:
        ways = ["n > 2", "n > 5"]
        kind = self.choose(TYPES)
        places = self.places(kind)
        if len(places) > 1:
            ways += [f"{self.choose(places)} is {self.choose(places)}"]
        some = self.places(NUMBERS)
        if some:
            ways += [f"len({self.choose(some)}) > 2"]
        ways += [f"{i} == 1" for i in self.indices]
        if self.settings.data:
            a = self.choose(self.places(NUMBER))
            ways += [f"{a} > 0.1", f"{a} < {self.simple()}", f"{self.simple()} > 0.0"] * 2
        return self.choose(ways)

    def value(self, kind: Type, depth: int = 2) -> str:
        """An object of a type: one that is there, or a new one."""
        if kind == NUMBER:
            return self.number()
        places = self.places(kind)
        if places and self.chance(45):
            return self.choose(places)
        return self.made(kind, depth)

    def made(self, kind: Type, depth: int = 2) -> str:
        """A new object."""
        places = self.places(kind)
        if kind == ARRAY:
            source = self.choose(self.places(ARRAY))
            ways = [f"np.tanh({source})", f"{source}.copy()", f"{source} * {self.number()}"]
            return self.choose([*ways, f"np.array([{self.number()}, {self.number()}, x])"])
        if places and self.chance(40):
            return self.copied(self.choose(places), kind)
        if kind == BOX:
            items = self.value(NUMBERS, depth - 1) if depth else "[x]"
            return f"Box({self.number()}, {self.value(ARRAY)}, {items})"
        first, second = (self.value(kind[1], depth - 1) for _ in range(2))
        if kind[0] == "dict":
            return f"{{'a': {first}, 'b': {second}}}"
        ways = [f"[{first}, {second}]", f"[{first}]", f"[{first} for _ in range(2)]",
                f"[{first}] * 2" if kind[1] == NUMBER else f"[{second}, {first}]"]  # fmt: skip
        if kind == NUMBERS:
            ways += [f"list({self.choose(self.places(ARRAY))})"]
        return self.choose(ways)

    def copied(self, place: str, kind: Type) -> str:
        ways = [f"copy.deepcopy({place})", f"copy.copy({place})"]
        if kind != BOX:
            ways += [f"{place}.copy()", f"{kind[0]}({place})"]
        if kind[0] == "list":
            ways += [f"{place}[:]", f"{place}[::-1]", f"{place} + {place}[:1]"]
        if kind == NUMBERS:
            ways += [f"sorted({place})", f"[np.sin(e) for e in {place}]"]
        return self.choose(ways)

    # -- statements

    def block(self, depth: int) -> list[str]:
        lines = []
        for _ in range(self.random.randint(1, self.settings.statements)):
            lines += self.statement(depth)
        return lines

    def statement(self, depth: int) -> list[str]:
        kinds = [self.new] * 2 + [self.alias] * 3 + [self.store] * 5 + [self.method] * 4
        kinds += [self.call] * 2 + [self.swap, self.augment, self.augment]
        if depth < self.settings.depth:
            kinds += [lambda: self.branch(depth)] * 3 + [lambda: self.loop(depth)] * 3
        if self.loops:
            kinds += [self.leave]
        return self.choose(kinds)()

    def new(self) -> list[str]:
        kind = self.choose(TYPES)
        value = self.made(kind)
        name = self.fresh("array" if kind == ARRAY else "box" if kind == BOX else kind[0])
        self.names[name] = kind
        return [f"{name} = {value}"]

    def alias(self) -> list[str]:
        """Another name, or another object for a name; by a test, too."""
        kind = self.choose(TYPES)
        places = self.places(kind)
        if not places:
            return self.new()
        value = self.choose(places)
        if self.chance(50):
            value = f"{value} if {self.condition()} else {self.value(kind)}"
        mine = [name for name, other in self.names.items() if other == kind]
        name = self.choose(mine) if mine and self.chance(50) else self.fresh("same")
        self.names[name] = kind
        return [f"{name} = {value}"]

    def holders(self) -> list[tuple[str, Type]]:
        """The containers and boxes that are there, with their types."""
        return [
            (place, kind)
            for kind in dict.fromkeys(TYPES)
            for place in self.places(kind)
            if kind != ARRAY
        ]

    def store(self) -> list[str]:
        place, kind = self.choose(self.holders() or [("v", ARRAY)])
        if kind == ARRAY:
            return [f"{place}[{self.choose(['0', '-1', '1:'])}] = {self.number()}"]
        if kind == BOX:
            name, other = self.choose([("number", NUMBER), ("array", ARRAY), ("items", NUMBERS)])
            return [f"{place}.{name} = {self.value(other)}"]
        key = self.index(place) if kind[0] == "list" else self.choose(["'a'", "'b'"])
        return [f"{place}[{key}] = {self.value(kind[1])}"]

    def augment(self) -> list[str]:
        array, numbers = self.choose(self.places(ARRAY)), self.places(NUMBERS)
        ways = [f"{array} *= {self.number()}", f"{array}[0] += {self.number()}",
                f"{array}[1:] = {self.choose(self.places(ARRAY))}[:-1] * x"]  # fmt: skip
        if numbers:
            place = self.choose(numbers)
            ways += [
                f"{place}[{self.index(place)}] *= {self.number()}",
                f"{place} += [{self.number()}]",
            ]
        return [self.choose(ways)]

    def method(self) -> list[str]:
        lists = [(p, k) for p, k in self.holders() if k[0] == "list"]
        if not lists:
            return self.store()
        place, kind = self.choose(lists)
        value = self.value(kind[1])
        longer = f"if len({place}) > 1:"
        ways = [[f"{place}.append({value})"], [f"{place}.append({value})"],
                [f"{place}.insert(0, {value})"], [f"{place}.extend([{value}])"],
                [f"{place}.reverse()"], [longer, f"    {place}.pop()"],
                [longer, f"    {place}.pop(0)"], [longer, f"    del {place}[0]"],
                [f"{place}[0], {place}[-1] = {place}[-1], {place}[0]"]]  # fmt: skip
        if kind == NUMBERS:
            ways += [[f"{place}.sort()"]]
        return self.choose(ways)

    def call(self) -> list[str]:
        boxes, numbers = self.places(BOX), self.places(NUMBERS)
        ways = [[f"fill({self.choose(self.places(ARRAY))}, {self.number()})"]]
        if numbers:
            name = self.fresh("same")
            ways += [[f"bump({self.choose(numbers)}, {self.number()})"]] * 2
            ways += [[f"{name} = bump({self.choose(numbers)}, {self.number()})"]]
        if boxes:
            ways += [[f"{self.choose(boxes)}.push({self.number()})"],
                     [f"{self.choose(boxes)}.swap({self.choose(boxes)})"]]  # fmt: skip
        lines = self.choose(ways)
        if lines[0].startswith("same"):
            self.names[lines[0].split(" ")[0]] = NUMBERS
        return lines

    def swap(self) -> list[str]:
        kind = self.choose(list(self.names.values()))
        places = self.places(kind)
        a, b = self.choose(places), self.choose(places)
        return [f"{a}, {b} = {b}, {a}"] if a != b else self.store()

    def branch(self, depth: int) -> list[str]:
        lines = [f"if {self.condition()}:", *self.nested(depth)]
        return [*lines, "else:", *self.nested(depth)] if self.chance(50) else lines

    def nested(self, depth: int) -> list[str]:
        with self.scope():
            return ["    " + line for line in self.block(depth + 1)]

    def loop(self, depth: int) -> list[str]:
        with self.scope():
            self.loops += 1
            i, item = self.fresh("i"), self.fresh("item")
            lists = [(p, k) for p, k in self.holders() if k[0] == "list"]
            ways = [f"for {i} in range(n):", f"for {i} in range(3):", f"for {i} in range(len(v)):"]
            head, first = self.choose(ways), []
            if lists and self.chance(35):
                place, kind = self.choose(lists)
                head = f"for {item} in {place}[:3]:"
                self.names[item] = kind[1]
            elif self.settings.data and self.chance(20):
                i = self.fresh("passes")
                head, first = (
                    f"while {i} < 3 and {self.choose(self.places(NUMBER))} < 0.7:",
                    [f"{i} = 0"],
                )
            else:
                self.indices.append(i)
            inside = ["    " + line for line in self.block(depth + 1)]
            self.loops -= 1
        return [*first, head, *([f"    {i} += 1"] if first else []), *inside]

    def leave(self) -> list[str]:
        return [f"if {self.condition()}:", f"    {self.choose(['break', 'continue'])}"]
