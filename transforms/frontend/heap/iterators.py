"""Advances iterators that the program makes once and in order, as Python does.

A loop that is rolled is staged several times, and a side of a branch may not be run at all, so
that an iterator which is older than these is not advanced in them.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapeless.transforms.core.language import Block, has_effect, statements
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.heap.locations import AttributeLocation
from tapeless.transforms.frontend.trace.journals import Location
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import MISSING, Incompatible

MAKERS = ("builtins", "itertools")
ENDLESS = 10_000
KEEP = "make it a list before, and keep the position in it as an integer"
CHANGED = "a list changes before an iterator over it is used up"
MADE = "data says how many items of an iterator are used, and making one "
ITEMS = "make a list of its items before, or write a while loop"
MAKE_A_LIST = "make a list of the iterator before"


class Advancing:
    """An iterator of Python's own or a generator, made by the program.

    left    the loop over it was left where run-time values say so: how far it is, is not known
    runs    of a generator that has not begun: runs it, with a function that gets each item; whether
            that may tell it to end, comes first
    """

    def __init__(self, source: Any, runs: Callable[[bool, Any], None] | None = None) -> None:
        self.source, self.birth, self.left = source, next(trace().serials), False
        self.runs = runs

    @property
    def pushes(self) -> bool:
        """Whether it can be run by a loop over it, as a loop of the program."""
        return self.runs is not None

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        self.ask()
        self.runs = None
        trace().note_advanced(self)
        return next(self.source)

    def push(self, leaves: bool, emit: Any) -> None:
        """Runs a generator that has not begun, to its end or until it is told to end."""
        assert self.runs is not None
        self.ask()
        run, self.runs = self.runs, None
        self.source.close()
        self.left = leaves
        run(leaves, emit)

    def send(self, value: Any) -> Any:
        """Of a generator."""
        self.ask()
        self.runs = None
        trace().note_advanced(self)
        return self.source.send(value)

    def __getattr__(self, name: str) -> Any:
        if name == "source":  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self.source, name)

    def ask(self) -> None:
        """Whether it may be advanced here."""
        if self.left:
            raise UnsupportedError("an iterator is used after a loop over it that data ends", KEEP)
        trace().only_once("advances an iterator that is made outside of it", KEEP, self.birth)

    def rest(self) -> list[Any]:
        """The other items, of which run-time values decide how many are used."""
        with _making_ahead():
            items = [item for _, item in zip(range(ENDLESS), self, strict=False)]
            if len(items) == ENDLESS:
                raise UnsupportedError(
                    "a loop over an iterator without end is ended by data",
                    "count in a while loop, or run over itertools.count()",
                )
        self.left = True
        return items


@contextmanager
def _making_ahead() -> Iterator[None]:
    """Items are made here of which run-time values decide how many are used.

    How far the iterators are that these are taken from (enumerate, generators), and what is in
    the variables that making them sets, is not known then: they must not be used later.
    """
    run = trace()
    before, run.advanced = run.advanced, []
    first = len(run.blocks[-1])
    try:
        with run.watching() as journal:
            yield
    finally:
        advanced, run.advanced = run.advanced, before
    if any(map(has_effect, statements(Block((), tuple(run.blocks[-1][first:]), ())))):
        raise UnsupportedError(f"{MADE}prints, draws random numbers or raises errors", ITEMS)
    for location, _ in journal.changed_locations():
        _forget(location)
    for iterator in advanced:
        run.note_advanced(iterator)
        iterator.left = True


def _forget(location: Location) -> None:
    if not location.refusable:
        raise UnsupportedError(f"{MADE}changes a list, dictionary or array outside of it", ITEMS)
    if location.get() is not MISSING:
        location.set(Incompatible(f"{MADE}sets '{location.name}'", ITEMS))


class Once(ABC):
    """What is run over once, beside Python's own iterators."""

    @abstractmethod
    def rest(self, whole: bool = False) -> Any:
        """What was not taken before; `whole`: it is all taken now."""

    @abstractmethod
    def item(self, *default: Any) -> Any:
        """next(self, *default)"""


class CountIterator:
    """itertools.count, which rolled loops can advance."""

    def __init__(self, start: Any = 0, step: Any = 1) -> None:
        self.count, self.step, self.left = start, step, False
        trace().born(self)

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.left:
            raise UnsupportedError("a count is used after a loop over it beside arrays", KEEP)
        current = self.count
        trace().touch(AttributeLocation(self, "count"))
        self.count = current + self.step
        return current


def advancing(value: Any) -> Any:
    """The result of a call; an iterator as one that knows where it may be advanced."""
    if isinstance(value, itertools.groupby):
        return Advancing((k, Advancing(group)) for k, group in value)
    if type(value) is tuple and any(isinstance(v, Iterator) for v in value):
        return tuple(map(advancing, value))  # of itertools.tee
    native = hasattr(type(value), "__next__") and type(value).__module__ in MAKERS
    return Advancing(value) if native else value


def refuse_outer_iterators(value: Any) -> Any:
    """What is run over; refuses iterators from outside, which other calls would advance too."""
    if isinstance(value, Iterator) and type(value).__module__ in MAKERS:
        raise UnsupportedError(
            "an iterator that is made outside of the function gives other values at each call",
            "make a list of it outside",
        )
    return value
