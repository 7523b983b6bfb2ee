"""Undoes what a staged run overwrites: journals keep what locations held before a block.

a side of a test sets x, a.k and items[0]      becomes      a journal of three locations and what
                                                            they held, which the other side finds
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Location:
    """What Python code can overwrite: a variable, a list, an attribute, the value of an array."""

    key: tuple[Any, ...]
    birth: int = 0
    name: str = ""
    owner: str = ""  # of an attribute: the class of the object
    refusable: bool = False  # it may hold why it must not be read

    def get(self) -> Any:
        raise NotImplementedError

    def set(self, value: Any) -> None:
        raise NotImplementedError

    def holds(self, old: Any) -> bool:
        """Whether it has what it had, the very same."""
        return is_identical(self.get(), old)

    def stem(self) -> str:
        """What names of values in it begin with: the variable that it is, or that holds it."""
        return self.name

    def rely(self, old: Any) -> None:
        """The program relies on it that this is there before a call: it leaves it as it was."""


def is_identical(a: Any, b: Any) -> bool:
    """Whether nobody can tell two values apart."""
    return a is b or (type(a) is type(b) and type(a) in (bool, int, str) and a == b)


class Journal:
    """The locations that one block overwrote, with what they held before."""

    def __init__(self, serial: int) -> None:
        self.serial = serial
        self.old: dict[tuple[Any, ...], tuple[Location, Any]] = {}

    def note(self, location: Location) -> None:
        """Keeps what an older location holds, the first time that it is overwritten."""
        if location.key not in self.old and location.birth <= self.serial:
            self.old[location.key] = (location, location.get())

    def changed_locations(self) -> list[tuple[Location, Any]]:
        """Those that hold something else now: a stack from which is taken what was put on it is
        as it was. That the others are so before a call is relied on, for nothing is written."""
        changed = []
        for loc, old in self.old.values():
            if loc.holds(old):
                loc.rely(old)
            else:
                changed.append((loc, old))
        return changed


class Journals:
    """The journals of the blocks that are open, and the ages of objects: a block undoes stores to
    what is older than it is.

    journals  one for each open block, the innermost last
    watchers  others, which note the same stores
    serials   the numbers by which ages are compared
    births    the numbers of mutable objects that the program made, by their ids
    """

    def __init__(self) -> None:
        self.journals: list[Journal] = [Journal(0)]
        self.watchers: list[Journal] = []
        self.serials = itertools.count(1)
        self.births: dict[int, tuple[int, Any]] = {}

    def touch(self, location: Location) -> None:
        """Must be called before a location is overwritten."""
        self.journals[-1].note(location)
        for journal in self.watchers:
            journal.note(location)

    def wrote(self, key: Any) -> bool:
        """Whether the program itself put there what a location holds."""
        return any(key in journal.old for journal in self.journals)

    @contextmanager
    def watching(self) -> Iterator[Journal]:
        """Writes inside to what is older are journalled once more."""
        journal = Journal(next(self.serials))
        self.watchers.append(journal)
        try:
            yield journal
        finally:
            self.watchers.remove(journal)

    @contextmanager
    def recording(self) -> Iterator[Journal]:
        """Writes inside are journalled; the caller may roll them back, an error does so here."""
        journal = Journal(next(self.serials))
        self.journals.append(journal)
        try:
            yield journal
        except BaseException:
            self.rollback(journal)
            raise
        finally:
            self.journals.pop()

    @contextmanager
    def undone_by_errors(self) -> Iterator[None]:
        """Writes inside are journalled with those around; an error undoes them, and only them."""
        journal = self.journals[-1]
        before, journal.old = journal.old, {}
        try:
            yield
        except BaseException:
            self.rollback(journal)
            journal.old.clear()
            raise
        finally:
            journal.old = before | {k: v for k, v in journal.old.items() if k not in before}

    @staticmethod
    def rollback(journal: Journal) -> None:
        for location, old in reversed(journal.old.values()):
            location.set(old)

    def born(self, obj: Any) -> Any:
        """Remembers that a mutable object was made now, by the program."""
        self.births[id(obj)] = (next(self.serials), obj)
        return obj

    def made_ahead(self, obj: Any) -> Any:
        """Remembers a mutable object of the program that is older than all of its blocks."""
        self.births[id(obj)] = (1, obj)
        return obj

    def as_old(self, part: Any, older: Any) -> Any:
        """A part that an object was made with."""
        self.births.setdefault(id(part), (self.birth(older), part))
        return part

    def birth(self, obj: Any) -> int:
        return self.births.get(id(obj), (0, None))[0]

    def is_done_again(self, birth: int) -> bool:
        """Whether statements are staged again, or may not be run, that something is older than."""
        return len(self.journals) > 1 and self.journals[-1].serial >= birth
