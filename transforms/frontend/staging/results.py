"""Describes what a program returns so that each call makes it anew: containers, lists whose length
depends on run-time values, and objects of users' classes that the function made.
"""

from __future__ import annotations

import dataclasses
import itertools
from array import array
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol, wrap
from tapeless.transforms.frontend.builtins.lists_of_lists import as_lists
from tapeless.transforms.frontend.control_flow.loop_ranges import Sequence
from tapeless.transforms.frontend.heap.list_columns import Columns
from tapeless.transforms.frontend.heap.lists import StagedList, as_list
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.provenance import is_library_class, makes_plain_objects
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.attribute_names import attributes
from tapeless.transforms.frontend.values.choices import Either
from tapeless.transforms.frontend.values.container_aliases import require_current
from tapeless.transforms.frontend.values.structure import (
    FRONTEND_MODULES,
    Structure,
    flatten,
    refuse_unreturnable,
)
from tapeless.transforms.frontend.values.text import ChosenText, Text
from tapeless.transforms.frontend.values.uneven_contents import (
    contents_of,
    for_each_length,
    with_lengths,
)
from tapeless.transforms.prelude.containers.appended_lists import Grown
from tapeless.transforms.prelude.containers.filtered_lists import FilteredList
from tapeless.transforms.prelude.containers.hashed_containers import Keyed, Keys
from tapeless.transforms.prelude.containers.known_keys import Found
from tapeless.transforms.prelude.containers.optional_keys import OptionalKeys
from tapeless.transforms.prelude.containers.ragged_lists import GivenLists


@dataclass(frozen=True)
class FilledList:
    """A list that loops filled: what its elements are like, and which of their numbers are
    Python's. The leaves of all elements are arrays."""

    like: Any
    element: Structure
    weak: tuple[bool, ...]
    uneven: bool = False  # whether they are lists of arrays, as elements are not equally long


@dataclass(frozen=True)
class OfData:
    """A dictionary or set from what `Keys.parts` gives: lists of its keys and of its values, or of
    how long its lists are and of what is in them."""

    kind: type
    default: Any

    def container(self, *columns: Any) -> Any:
        if self.kind is list:
            return _in_lists(*columns)
        keys, *columns = columns  # type: ignore[assignment]
        if not columns:
            return self.kind(keys)
        *lengths, values = columns
        if lengths:
            values = _in_lists(lengths[0], values)
        pairs = dict(zip(keys, values, strict=True))
        return self.kind(self.default, pairs) if self.kind is defaultdict else self.kind(pairs)


@dataclass(frozen=True)
class OfKnownKeys(OfData):
    """A dictionary or set from what `OptionalKeys.parts` gives: which of the names are there,
    the values of all, and perhaps their places in order."""

    names: tuple[Any, ...]

    def container(self, *columns: Any) -> Any:
        alive, held, places = (*columns, None, None)[:3]
        there = [at for at in (range(len(alive)) if places is None else places) if alive[at]]
        if held is None:
            return self.kind(self.names[at] for at in there)
        pairs = {self.names[at]: held[at] for at in there}
        return self.kind(self.default, pairs) if self.kind is defaultdict else self.kind(pairs)


def _in_lists(lengths: Any, items: Any) -> list[list[Any]]:
    remaining = iter(items)
    return [list(itertools.islice(remaining, n)) for n in lengths]


class OneOfTwo:
    """The kind of what data chooses: a test, and a value for either outcome."""


@dataclass(frozen=True)
class NthObject:
    """The n-th object that a call makes."""

    number: int


class Outgoing:
    """Takes apart what one call gives back; an object that is met twice stays one object."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}

    def spec(self, value: Any) -> Structure:
        """What a value is made of."""
        if isinstance(value, (Keys, Grown)):
            return self.of_data(value)
        if isinstance(value, FilteredList):
            trace().decisions.as_lengths(value.site)
        if hasattr(type(value), "__stays_inside__"):
            refuse_unreturnable(Structure("static", value))
        if isinstance(value, Sequence):
            raise UnsupportedError(
                "a range whose numbers depend on data is returned or stored", "make a list of it"
            )
        of_tuples = isinstance(value, StagedList) and value.stands_for is tuple
        if isinstance(value, (GivenLists, Found)) or of_tuples:
            raise UnsupportedError(
                "a container that data picks, or one of the caller's, is returned or stored",
                "return a copy of what it holds",
            )
        if (contents := contents_of(value)) is not None:
            of_items = type(value)
            return self.spec(for_each_length(with_lengths(contents), _choose, of_items))
        value = as_lists(value)
        if isinstance(value, Text) and trace().tracing:
            value = value.text_in_call()
        if (columns := _filled_arrays(value)) is not None:
            return columns
        if (two := _two(value)) is not None:
            return Structure(OneOfTwo, None, ("test", "yes", "no"), tuple(map(self.spec, two)))
        if _made_here(value):
            return self.object(value)
        return _own(flatten(value, self.spec))

    def of_data(self, value: Keys | Grown) -> Structure:
        """A dictionary or set whose keys depend on data, or a list of lists."""
        kind = value.kind if isinstance(value, Keys) else list
        default = value.default if isinstance(value, Keyed) else None
        marker = OfData(kind, default)
        if isinstance(value, OptionalKeys):
            marker = OfKnownKeys(kind, default, value.names)
        specs = [self.spec(part) for part in trace().enter(type(value).parts, value)]
        return Structure(kind, marker, tuple(range(len(specs))), tuple(specs))

    def object(self, value: Any) -> Structure:
        """An object of the function: its attributes."""
        if id(value) in self.numbers:
            return Structure("again", NthObject(self.numbers[id(value)]))
        reference = NthObject(self.numbers.setdefault(id(value), len(self.numbers)))
        names = attributes(value)
        return Structure(
            type(value), reference, names, tuple(self.spec(getattr(value, n)) for n in names)
        )


def _choose(test: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Either:
    return Either(test, yes(), no())


def _two(value: Any) -> tuple[Any, Any, Any] | None:
    """A test and what the value is where it is true and false; None for what is one value."""
    if isinstance(value, (ChosenText, Either)) and not (callable(value.yes) or callable(value.no)):
        return value.test, value.yes, value.no
    absence = value.undefined if isinstance(value, Symbol) else None
    if absence is None or not absence.none or absence.flag is None:
        return None
    return wrap(absence.flag), Symbol(value.present()), None


def _filled_arrays(value: Any) -> Structure | None:
    """The arrays of a list that a loop filled; None of other values."""
    value = as_list(value)
    require_current(value)
    tail = own_attribute(value, "tail") if isinstance(value, list) else None
    if not isinstance(tail, Columns):
        return None
    columns = zip(value.arrays(), tail.stacks, tail.uneven(), strict=True)
    return _rows(value, tail, tuple(flatten(s if is_nested else a) for a, s, is_nested in columns))


def _rows(value: Any, tail: Any, columns: tuple[Structure, ...]) -> Structure:
    refuse_unreturnable(tail.spec)
    weak = tuple(t.weak for t in tail.items)
    rows = FilledList(value, _with_lists(tail.spec), weak, tail.is_uneven())
    return Structure(type(value), rows, ("rows",), columns)


def _with_lists(spec: Structure) -> Structure:
    """What an element is made of, where arrays stand for lists in it."""
    if spec.kind == "leaf":
        tail = own_attribute(spec.value, "listing")
        return spec if tail is None else _rows(StagedList(), tail, (spec,))
    return dataclasses.replace(spec, children=tuple(map(_with_lists, spec.children)))


def _made_here(value: Any) -> bool:
    """Whether it is an object of a user's class, which the function made."""
    cls = type(value)
    if is_library_class(cls) or cls.__module__.startswith(FRONTEND_MODULES):
        return False
    return bool(trace().birth(value)) and makes_plain_objects(cls)


def _own(spec: Structure) -> Structure:
    """A container that is no tree is one of its own in each call."""
    mine = spec.kind == "static" and isinstance(spec.value, (set, bytearray, array))
    return Structure("copied", spec.value) if mine and trace().birth(spec.value) else spec
