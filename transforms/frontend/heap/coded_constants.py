"""Keeps texts, members of enumerations and older objects in lists that loops fill, by number.

names.append("stop" if x > 0 else "go")      becomes      names.append(0 if x > 0 else 1)

What is read is one of those that were put in, so that a loop is staged again once a pass puts in
one that no pass did before.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply
from tapeless.transforms.frontend.trace.run_state import Containers
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.choices import Either, has_identity
from tapeless.transforms.frontend.values.structure import MISSING, EnumCoded, Structure, flatten
from tapeless.transforms.frontend.values.text import ChosenText, Text
from tapeless.transforms.ops.function_table import FUNCTIONS

CONSTANTS = (str, bytes, enum.Enum, type(None))
MOST = 32  # that one column may hold


class Coded(EnumCoded):
    """The kind of a spec for one of several constants in a list: its key is what these are, its
    child the number of the one."""

    @staticmethod
    def build(spec: Structure, children: list[Any]) -> Any:
        return spec.keys[0].constant_of(children[0])


class ColumnConstants:
    """The numbers of the constants that one place in the elements of a list may have. Numbers are
    those of the staged run, so that lists of one kind fit together."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.alone = False  # whether elements have nothing else, whose reading checks the index
        self.read_in: tuple[int, ...] | None = None  # the loops in which its only one was read
        trace().containers.columns_of_constants.append(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnConstants)

    def __hash__(self) -> int:
        return hash(ColumnConstants)

    def add(self, numbers: list[int]) -> None:
        """Notes what the column may have from here on."""
        new = [n for n in numbers if n not in self.numbers]
        if new and self.read_in is not None and self.read_in != _loops():
            raise _unchecked_index()
        if new and (trace().calls.recursions or len(self.numbers) + len(new) > MOST):
            raise UnsupportedError(
                f"a list gets another text or object in a function that calls itself, or more than "
                f"{MOST} of them, as run-time values say",
                "number them, and keep the numbers in the list",
            )
        self.numbers += new

    def options(self) -> list[Any]:
        """The constants that the column may have."""
        return [trace().containers.constants[n] for n in self.numbers]

    def constant_of(self, number: Any) -> Any:
        """The constant of a number."""
        constants = trace().containers.constants
        if not isinstance(number, Symbol):
            return constants[int(number)]
        if self.alone and len(self.numbers) == 1:
            self.read_in = _loops()
            if not self.read_in:
                raise _unchecked_index()
        options = [(n, constants[n]) for n in self.numbers]
        kind = ChosenText if all(isinstance(c, str) for _, c in options) else Either
        *others, (_, selected) = options
        for n, constant in reversed(others):
            selected = kind(number == n, constant, selected)
        if others:
            trace().containers.coded[id(selected)] = (selected, number)
        return selected

    def number_of(self, value: Any, shown: bool = False) -> Any:
        """The number of a constant that is put into the list; `shown`: it will be later."""
        selected, number = trace().containers.coded.get(id(value), (None, None))
        numbers = [*map(_number, constants_in(value))]
        self.add(numbers)
        if selected is value and number is not None:
            return number
        if shown or not isinstance(value, (ChosenText, Either)):
            return np.int64(numbers[0])
        yes, no = self.number_of(value.yes), self.number_of(value.no)
        return apply(FUNCTIONS[np.where], value.test, yes, no)

    def number_if_known(self, item: Any) -> Any:
        """The number of an item that a list is asked for; None of what it cannot have."""
        if isinstance(item, (ChosenText, Either)):
            numbers = [self.number_if_known(part) for part in (item.yes, item.no)]
            if all(n is None for n in numbers):
                return None
            yes, no = (np.int64(-1) if n is None else n for n in numbers)
            return apply(FUNCTIONS[np.where], item.test, yes, no)
        n = _number(item) if isinstance(item, CONSTANTS) or has_identity(item) else -1
        return np.int64(n) if n in self.numbers else None


def _loops() -> tuple[int, ...]:
    """When the outermost loop began that is staged now."""
    return tuple(trace().loops.started[:1])


def _unchecked_index() -> UnsupportedError:
    return UnsupportedError("a list of one text or object is read at a run-time index")


def refuse_unchecked(containers: Containers) -> None:
    """Refuses to read lists of one constant alone: no code would ask whether the index is there."""
    for column in containers.columns_of_constants:
        if column.read_in is not None and len(column.numbers) == 1:
            raise _unchecked_index()


def constants_in(value: Any) -> Iterator[Any]:
    """The constants, of which it is one."""
    if isinstance(value, (ChosenText, Either)):
        yield from constants_in(value.yes)
        yield from constants_in(value.no)
    else:
        yield value


def _number(constant: Any) -> int:
    """The number of a constant in this staged run."""
    constants = trace().containers.constants
    for n, other in enumerate(constants):
        if other is constant or (isinstance(constant, CONSTANTS) and _are_equal(other, constant)):
            return n
    constants.append(constant)
    return len(constants) - 1


def _are_equal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(a == b)


def numbers_of_one_kind(*values: Any) -> list[Any] | None:
    """The numbers by which values of lists are told apart that are equal only if they are one
    object; None of others."""
    numbers = []
    for value in values:
        classes: set[Any] = {*map(type, constants_in(value))}
        if not all(cls.__eq__ is object.__eq__ for cls in classes):
            return None
        selected, number = trace().containers.coded.get(id(value), (None, None))
        if isinstance(value, Either) and selected is not value:
            return None
        numbers.append(number if isinstance(value, Either) else np.int64(_number(value)))
    return numbers


def rank_of(text: Any, order: list[str]) -> Any:
    """The place of a text among those that it can be, and others, in their order."""
    selected, number = trace().containers.coded.get(id(text), (None, None))
    if selected is text and number is not None:
        constants = trace().containers.constants
        ranks = [order.index(c) if c in order else 0 for c in constants]
        return apply(FUNCTIONS[np.take], np.array(ranks), number)
    if not isinstance(text, ChosenText):
        return order.index(text)
    yes, no = rank_of(text.yes, order), rank_of(text.no, order)
    return apply(FUNCTIONS[np.where], text.test, yes, no)


def is_codable(spec: Structure, holder: Any) -> bool:
    """Whether it is a constant, or one of several, that lasts as long as `holder`."""
    if spec.kind is Coded:
        return True
    if spec.kind != "static" and spec.kind is not ChosenText and spec.kind is not Either:
        return False
    return all(_lasts(constant, holder) for constant in constants_in(spec.value))


def _lasts(constant: Any, holder: Any) -> bool:
    if isinstance(constant, CONSTANTS):
        return True
    if constant is MISSING or isinstance(constant, (Symbol, Text)) or not has_identity(constant):
        return False
    t = trace()
    age = t.birth(holder)
    inner = [journal.serial for journal in t.journals if journal.serial > age]
    return not inner or t.birth(constant) < inner[0]


def differ_in_constants(a: Structure, b: Structure) -> bool:
    """Whether two elements differ in texts, members of enumerations or objects alone, so that
    numbers could tell which they have."""
    if _is_constant(a) and _is_constant(b):
        return True
    if a.kind == "leaf" and b.kind == "leaf":
        return True
    pairs = zip(a.children, b.children, strict=False)
    return (
        a.kind is b.kind and a.keys == b.keys and all(differ_in_constants(x, y) for x, y in pairs)
    )


def _is_constant(spec: Structure) -> bool:
    return spec.kind in ("static", ChosenText, Either, Coded)


def with_codes(
    spec: Structure, holder: Any, like: Structure | None = None, shown: bool = False
) -> Structure:
    """The structure of an element with numbers in the place of its constants; of one that is put
    into a list that has others already, where `like` has. `shown`: it only shows what will come."""
    if spec.kind is Coded:
        if like is not None and like.kind is Coded:
            like.keys[0].add(spec.keys[0].numbers)
        return spec
    if like is None or like.kind is Coded:
        if is_codable(spec, holder):
            column = ColumnConstants() if like is None else like.keys[0]
            number = column.number_of(spec.value, shown)
            return Structure(Coded, spec.value, (column,), (flatten(number),))
        if like is not None:
            return spec
    if spec.kind in ("leaf", "static"):
        return spec
    likes = [None] * len(spec.children) if like is None else like.children
    if len(likes) != len(spec.children):
        return spec
    pairs = zip(spec.children, likes, strict=True)
    children = tuple(with_codes(c, holder, x, shown) for c, x in pairs)
    return dataclasses.replace(spec, children=children)


def note_alone(spec: Structure) -> None:
    """Tells the columns of an element that has no other ones."""
    columns = [*_columns_in(spec)]
    if len(columns) == len([*spec.leaves()]):
        for column in columns:
            column.alone = True


def _columns_in(spec: Structure) -> Iterator[ColumnConstants]:
    if spec.kind is Coded:
        yield spec.keys[0]
    else:
        for child in spec.children:
            yield from _columns_in(child)


def has_codes(spec: Structure) -> bool:
    return spec.kind is Coded or any(map(has_codes, spec.children))


def legend_of_columns(containers: Containers) -> list[str]:
    """What the numbers of the program stand for."""
    columns = [c.numbers for c in containers.columns_of_constants]
    used = {n for numbers in columns for n in numbers if len(numbers) > 1}
    stand = ", ".join(f"{n} for {option_text(containers.constants[n])}" for n in sorted(used))
    return [f"In lists: {stand}."] if used else []


def option_text(option: Any) -> str:
    """A constant as the emitted text shows it."""
    if has_identity(option):
        kind = type(option).__name__.removeprefix("Staged").lower()
        return f"the {kind} {getattr(option, 'name', '')}".rstrip()
    return str(option) if isinstance(option, enum.Enum) else repr(option)
