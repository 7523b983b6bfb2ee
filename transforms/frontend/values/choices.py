"""Represents one of two functions or objects, or one or None, by a test on run-time values.

f = np.sin if x > 0 else np.cos     stays two, and     f(y)     is a branch that calls one
"""

from __future__ import annotations

import functools
import types
from collections import deque
from dataclasses import is_dataclass
from typing import Any, NoReturn

from tapeless.transforms.core.builder import NeedStatic
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.provenance import LIBRARIES
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.attribute_names import attributes, has_attributes
from tapeless.transforms.frontend.values.text import ChosenText, Text
from tapeless.transforms.frontend.values.uneven_contents import (
    FlaggedContents,
    UnevenContents,
    contents_of,
    flagged_contents,
    set_contents,
)


def note_test(test: Any) -> None:
    """Code on the sides of a test may ask from now on what it is there."""
    means, flag = trace().flags.means, test.value()
    for mark, value in ((flag, True), ((flag, False), False)):
        means[flag, value] = means.get((flag, value), frozenset()) | {mark}


def value_under_tests(test: Any) -> bool | None:
    """What the tests around this say that a test gives; None if they do not."""
    t, flag = trace(), test.value()
    for mark, value in ((flag, True), ((flag, False), False)):
        if any(block is t.flags.checked.get(mark) for block in t.blocks):
            return value
    return None


@dataclass(frozen=True, eq=False, repr=False)
class Either:
    """What is done to it is done on each side of the test; what needs one of them is refused."""

    test: Any
    yes: Any
    no: Any

    def __post_init__(self) -> None:
        note_test(self.test)

    def decided_option(self) -> tuple[Any] | None:
        """The one that it is, where a test around this says so."""
        value = value_under_tests(self.test)
        return None if value is None else (self.yes if value else self.no,)

    def options(self) -> list[Any]:
        """All that it may be."""
        parts = (self.yes, self.no)
        return [x for p in parts for x in (p.options() if isinstance(p, Either) else [p])]

    def may_be(self, value: Any) -> bool:
        """Whether it may be this very value."""
        return any(option is value for option in self.options())

    def presence_conditions(self) -> frozenset[Any]:
        """What is true, as tests around it say it, where this is not None."""
        test = self.test.value()
        options = [
            (flag, option)
            for flag, option in ((test, self.yes), ((test, False), self.no))
            if option is not None
        ]
        if len(options) != 1:
            return frozenset()
        ((flag, option),) = options
        return frozenset({flag}) | (
            option.presence_conditions() if isinstance(option, Either) else frozenset()
        )

    def need(self, *_: Any) -> NoReturn:
        raise NeedStatic(
            self.test.value(),
            "Python needs to know which of two things this is",
            "ask whether it is None, call it, read its attributes, or use if and else",
        )

    __bool__ = __len__ = __iter__ = __hash__ = __eq__ = __getitem__ = need
    as_atom = need
    __add__ = __radd__ = __mul__ = __rmul__ = __lt__ = __gt__ = __le__ = __ge__ = need
    __contains__ = __index__ = __float__ = __format__ = __str__ = need

    def __repr__(self) -> str:
        return "<one of two, known when the program runs>"


def as_either(value: Any) -> Any:
    """Text that run-time values decide, as one of two."""
    if not isinstance(value, ChosenText):
        return value
    return Either(value.test, as_either(value.yes), as_either(value.no))


def is_one_of_texts(value: Any) -> bool:
    """Whether run-time values decide which of some texts it is, and it is known what these say."""
    return isinstance(value, ChosenText) and value.is_of_known()


def fit(a: Any, b: Any) -> bool:
    """Whether a variable may be either: functions and objects, or one thing and None."""
    if a is None or b is None:
        other = b if a is None else a
        return _has_parts(other) or isinstance(other, (tuple, list, dict))
    return _has_parts(a) and _has_parts(b)


def _has_parts(value: Any) -> bool:
    """Whether it is a function, or an object of a user's class."""
    if isinstance(value, (Symbol, type(None))):
        return False
    if isinstance(value, (str, Text)):  # beside None
        return True
    own = (type(value).__module__ or "").partition(".")[0] not in LIBRARIES
    return (
        isinstance(value, Either)
        or callable(value)
        or is_dataclass(value)
        or (own and not isinstance(value, (tuple, list, dict, set)) and has_attributes(value))
    )


def has_identity(value: Any) -> bool:
    """Whether a change of it is seen through each of its names: a container, or an object."""
    if isinstance(value, (str, Text)):
        return False
    return isinstance(value, (list, dict, set, deque)) or _has_parts(value)


class Carrying:
    """Takes what one side of a branch made out of it; `leaf` does so with a symbol."""

    def __init__(self, began: int, leaf: Any) -> None:
        self.began, self.leaf = began, leaf
        self.memo: dict[int, tuple[Any, Any]] = {}

    def value(self, x: Any) -> Any:
        if isinstance(x, Symbol):
            return self.leaf(x)
        if id(x) not in self.memo:
            self.memo[id(x)] = (x, x)  # where it holds itself
            self.memo[id(x)] = (x, self.carry(x))
        return self.memo[id(x)][1]

    def carry(self, x: Any) -> Any:
        if isinstance(x, (Either, ChosenText)):
            parts = [self.value(v) for v in (x.test, x.yes, x.no)]
            same = parts[0] is x.test and parts[1] is x.yes and parts[2] is x.no
            return x if same else type(x)(*parts)
        if isinstance(x, Text):
            return x.with_values(self.value)
        if isinstance(x, tuple):
            parts = [self.value(v) for v in x]
            return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
        if isinstance(x, functools.partial):
            keywords = {k: self.value(v) for k, v in x.keywords.items()}
            return functools.partial(self.value(x.func), *map(self.value, x.args), **keywords)
        if isinstance(x, types.MethodType):
            self.value(x.__self__)
        elif isinstance(x, types.FunctionType):
            self.function(x)
        elif trace().birth(x) > self.began:
            self.contents(x)
        return x

    def function(self, f: types.FunctionType) -> None:
        """What a function made on the side closes over."""
        for content in map(_cell_contents, f.__closure__ or ()):
            if trace().birth(content) > self.began:
                self.value(content)
        defaults = f.__defaults__ or ()
        new_defaults = tuple(map(self.value, defaults))
        if any(
            a is not b for a, b in zip(defaults, new_defaults, strict=True)
        ):  # not of outer functions
            f.__defaults__ = new_defaults

    def contents(self, x: Any) -> None:
        """Of a container or object that nobody had before the branch."""
        if isinstance(x, dict):
            for key in x:
                x[key] = self.value(x[key])
        elif isinstance(x, list):
            list.__setitem__(x, slice(None), [self.value(v) for v in list.__iter__(x)])
            if (flagged := flagged_contents(x)) is not None:
                items, flags = (
                    tuple(map(self.value, part)) for part in (flagged.items, flagged.flags)
                )
                set_contents(x, FlaggedContents(items, flags))
            elif isinstance(uneven := contents_of(x), UnevenContents):
                items = tuple(map(self.value, uneven.items))
                length = self.value(uneven.length)
                set_contents(x, UnevenContents(items, length, uneven.lengths))
            if (columns := own_attribute(x, "tail")) is not None:
                columns.leave_block([self.value(stack) for stack in columns.stacks])
        elif isinstance(x, deque):
            for k, v in enumerate(x):
                x[k] = self.value(v)
        elif isinstance(x, type):
            for name, value in [*vars(x).items()]:
                if (new := self.value(value)) is not value:
                    setattr(x, name, new)
        else:
            for name in attributes(x):
                object.__setattr__(x, name, self.value(getattr(x, name)))
            self.value(type(x))


def _cell_contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that is not set yet
        return None
