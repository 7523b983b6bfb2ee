"""Implements dictionaries and sets of known keys, such as texts, where run-time values decide which
of them are there: a truth value for each.

if x > 0: flows["owl", "mouse"] = x     puts in a key that is known, or not
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.prelude.containers.hashed_containers import (
    Keyed,
    Keys,
    Members,
    View,
    hold_lists,
    members,
    pairs,
)
from tapeless.transforms.prelude.containers.linked_lists import mark_moved, refuse

__staged__ = True  # plain code: a staged run enters it

EMPTY = (int, float, complex, bool, str, list)  # whose values may be made before they are needed


def shown_key(key: Any) -> Any:
    """A key as an error holds it: what is no text or number as its text."""
    raise NotImplementedError  # the staged run knows it


def no_value() -> None:
    """The value of a key that is not there."""


def before_first(site: Any, initial: Any) -> Any:
    """What makes the values of keys that are not there: `initial`, or of the kind of those that
    were stored in an earlier staged run."""
    raise NotImplementedError  # the staged run knows it


def note_value(site: Any, value: Any) -> None:
    """Has values of this kind stand for those of keys that are not there."""
    raise NotImplementedError  # the staged run knows it


def at_key(names: Any, site: Any, key: Any, entering: bool, action: Any) -> Any:
    """What `action` does at the place of a key among these names, or at -1; of a key that run-time
    values decide, on the sides of their tests."""
    raise NotImplementedError  # the staged run knows it


def held_at(key: Any, read: Any) -> Any:
    """What `read` gives for a key, or for each of those that run-time values choose from."""
    raise NotImplementedError  # the staged run knows it


def may_be_any(flags: Any) -> Any:
    """Whether one of these truth values is True, or may be."""
    raise NotImplementedError  # the staged run knows it


def truth_under_tests(flag: Any) -> Any:
    """A truth value, or what the tests around say that it is."""
    raise NotImplementedError  # the staged run knows it


def with_mark(flag: Any) -> Any:
    """A truth value of which code under a test of it may ask for what it is."""
    raise NotImplementedError  # the staged run knows it


def require_order(ordered: Any, site: Any) -> None:
    """Has a dictionary made otherwise whose keys came in an order which run-time values decide."""
    raise NotImplementedError  # the staged run knows it


def require_same(now: Any, before: Any) -> None:
    """Refuses a loop that puts keys in, or takes some out, of what it runs over."""
    raise NotImplementedError  # the staged run knows it


class Entry:
    """Whether a key is there, its value, and how many keys had been put in before it."""

    def __init__(self, held: Any) -> None:
        self.there, self.held, self.since = False, held, 0


class OptionalKeys(Keys):
    """What dictionaries and sets have in common; `ordered` is True as long as the keys came in the
    order of the names. One that is `numbered` counts the keys that are put in."""

    def __init__(
        self, kind: Any, site: Any, names: Any, default: Any, numbered: bool = False
    ) -> None:
        self.kind, self.site, self.names, self.numbered = kind, site, names, numbered
        self.entries = tuple([Entry(default()) for _ in names])
        self.count, self.entered, self.ordered = 0, 0, True
        self.running = ()

    def enter(self, at: Any) -> None:
        """Puts in the key at a place, which may be there."""
        entry = self.entries[at]
        if not truth_under_tests(with_mark(entry.there)):
            if self.numbered:
                entry.since = self.entered
                self.entered += 1
            elif may_be_any([later.there for later in self.entries[at + 1 :]]):
                self.ordered = False
            entry.there = True
            self.count += 1

    def leave(self, at: Any) -> None:
        """Takes out the key at a place, which is there."""
        self.entries[at].there = False
        self.count -= 1

    def missing(self, at: Any) -> Any:
        """Whether the key at a place, or at none, is not there."""
        return at < 0 or not truth_under_tests(with_mark(self.entries[at].there))

    def flags(self) -> Any:
        return tuple([entry.there for entry in self.entries])

    def places(self) -> Any:
        """The places of the keys as they came, and then of those that are not there."""
        since = np.array([entry.since for entry in self.entries])
        return np.argsort(np.where(np.array(self.flags()), since, self.entered))

    def each_key(self) -> Any:
        for at in range(len(self.names)):
            if with_mark(self.entries[at].there):
                yield self.names[at]

    def __contains__(self, key: Any) -> Any:
        return at_key(self.names, self.site, key, False, lambda at: not self.missing(at))

    __hash__ = None


class OptionalMembers(OptionalKeys, Members):
    """A set."""

    def __init__(self, kind: Any, site: Any, names: Any) -> None:
        super().__init__(kind, site, names, bool)

    def add(self, key: Any) -> None:
        at_key(self.names, self.site, key, True, self.enter)

    def clear(self) -> None:
        for at in range(len(self.names)):
            if self.entries[at].there:
                self.leave(at)

    def discard(self, key: Any) -> None:
        def drop(at: Any) -> None:
            if not self.missing(at):
                self.leave(at)

        at_key(self.names, self.site, key, False, drop)

    def remove(self, key: Any) -> None:
        def drop(at: Any) -> None:
            if self.missing(at):
                raise KeyError(shown_key(key))
            self.leave(at)

        at_key(self.names, self.site, key, False, drop)

    def copy(self) -> Any:
        copied = OptionalMembers(self.kind, self.site, self.names)
        for at in range(len(self.names)):
            if self.entries[at].there:
                copied.enter(at)
        return copied

    def intersection(self, other: Any) -> Any:
        common = self.copy()
        for at in range(len(self.names)):
            if common.entries[at].there and self.names[at] not in other:
                common.leave(at)
        return common

    def difference(self, other: Any) -> Any:
        rest = self.copy()
        for at in range(len(self.names)):
            if rest.entries[at].there and self.names[at] in other:
                rest.leave(at)
        return rest

    def symmetric_difference(self, other: Any) -> Any:
        rest = self.copy()
        for key in members(other):
            if key in self:
                rest.discard(key)
            else:
                rest.add(key)
        return rest

    def issubset(self, other: Any) -> Any:
        return all(self.missing(at) or self.names[at] in other for at in range(len(self.names)))

    def isdisjoint(self, other: Any) -> Any:
        return all(self.missing(at) or self.names[at] not in other for at in range(len(self.names)))

    def __and__(self, other: Any) -> Any:
        return self.intersection(other)

    def __sub__(self, other: Any) -> Any:
        return self.difference(other)

    def __iand__(self, other: Any) -> Any:
        refuse("&= of a set that data fills", "write it as a new set: a & b")

    def __isub__(self, other: Any) -> Any:
        refuse("-= of a set that data fills", "write it as a new set: a - b")

    def __rsub__(self, other: Any) -> Any:
        refuse("a set that data fills is taken from another", "loop over the other one")

    __rand__ = __and__

    def __iter__(self) -> Any:
        refuse("the order of a set of data is Python's", "run over sorted(...) of it")

    def lists(self) -> Any:
        return [self.names[at] for at in range(len(self.names)) if self.entries[at].there]

    def parts(self) -> Any:
        return (self.flags(),)


class OptionalKeyed(OptionalKeys, Keyed):
    """A dictionary: also one of `collections`."""

    def __init__(
        self, kind: Any, site: Any, names: Any, default: Any, lists: bool, numbered: bool
    ) -> None:
        self.counts = kind.__name__ == "Counter"
        self.default = int if self.counts else default
        self.initial = self.default if self.default in EMPTY else list if lists else no_value
        if numbered and self.initial is no_value:
            self.initial = before_first(site, no_value)
        super().__init__(kind, site, names, self.initial, numbered)

    def take(self, items: Any) -> None:
        for key, value in items:
            self.put(key, value)

    def put(self, key: Any, value: Any) -> None:
        at_key(self.names, self.site, key, True, lambda at: self.store(at, value))

    def store(self, at: Any, value: Any) -> None:
        if isinstance(value, list) and self.initial is list:
            refuse("a list in a dictionary that data fills is replaced", "change its items")
        if self.numbered and self.initial is no_value:
            note_value(self.site, value)
        self.enter(at)
        self.entries[at].held = value

    __setitem__ = put

    def __getitem__(self, key: Any) -> Any:
        if self.counts:
            return self.get(key, 0)

        def make(at: Any) -> None:
            if self.missing(at):
                if self.default is None:
                    raise KeyError(shown_key(key))
                self.enter(at)
                if self.default not in EMPTY:
                    self.entries[at].held = self.default()

        at_key(self.names, self.site, key, self.default is not None, make)
        return self.present(key)

    def present(self, key: Any) -> Any:
        """The value of a key that is there: of several, the list, dictionary or object itself."""
        return held_at(key, lambda key: self.entries[self.names.index(key)].held)

    def get(self, key: Any, default: Any = None) -> Any:
        def read(at: Any) -> Any:
            return default if self.missing(at) else self.entries[at].held

        return at_key(self.names, self.site, key, False, read)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        def make(at: Any) -> None:
            if not self.missing(at):
                return
            if not isinstance(default, list):
                self.store(at, default)
                return
            if self.initial is not list:
                hold_lists(self.site)
            self.enter(at)
            self.entries[at].held.extend(default)
            mark_moved(default)

        at_key(self.names, self.site, key, True, make)
        return self.present(key)

    def __delitem__(self, key: Any) -> None:
        self.pop(key)

    def pop(self, key: Any, *default: Any) -> Any:
        def drop(at: Any) -> Any:
            if self.missing(at):
                if len(default) == 0:
                    raise KeyError(shown_key(key))
                return default[0]
            value = self.entries[at].held
            self.leave(at)
            self.entries[at].held = self.initial()
            return value

        return at_key(self.names, self.site, key, False, drop)

    def clear(self) -> None:
        for at in range(len(self.names)):
            if self.entries[at].there:
                self.leave(at)
                self.entries[at].held = self.initial()

    def popitem(self) -> Any:
        refuse("which key of a dictionary came last depends on data", "pop a key")

    def update(self, *others: Any, **named: Any) -> None:
        for other in (*others, named):
            if self.counts:
                self.tally(other)
            else:
                for key, value in pairs(other):
                    self.put(key, value)

    def copy(self) -> Any:
        if self.initial is list:
            refuse("a copy of a dictionary of lists of data shares them", "copy each list")
        copied = OptionalKeyed(self.kind, self.site, self.names, self.default, False, self.numbered)
        for mine, entry in zip(copied.entries, self.entries, strict=True):
            mine.there, mine.held, mine.since = entry.there, entry.held, entry.since
        copied.count, copied.entered, copied.ordered = self.count, self.entered, self.ordered
        return copied

    def parts(self) -> Any:
        held = tuple([entry.held for entry in self.entries])
        if self.numbered:
            return self.flags(), held, self.places()
        require_order(self.ordered, self.site)
        return self.flags(), held

    def __iter__(self) -> Any:
        return iter(OptionalView(self, "keys"))

    def __reversed__(self) -> Any:
        return reversed(OptionalView(self, "keys"))

    def value(self, at: Any) -> Any:
        return self.entries[at].held

    def item(self, at: Any) -> Any:
        return self.names[at], self.entries[at].held

    def keys(self) -> Any:
        return OptionalView(self, "keys")

    def values(self) -> Any:
        return OptionalView(self, "values")

    def items(self) -> Any:
        return OptionalView(self, "items")


class OptionalView(View):
    """Keys, values or items, as the dictionary has them by then."""

    def in_any_order(self) -> Any:
        """For what does not depend on the order."""
        whole, part = self.whole, self.part()
        before = whole.count
        for at in range(len(whole.names)):
            if with_mark(whole.entries[at].there):
                yield part(at)
                require_same(whole.count, before)

    def in_order(self) -> Any:
        """As the keys came."""
        whole, part = self.whole, self.part()
        before, places = whole.count, whole.places()
        for k in range(whole.count):
            yield part(int(places[k]))
            require_same(whole.count, before)

    def __iter__(self) -> Any:
        if self.whole.numbered:
            return self.in_order()
        require_order(self.whole.ordered, self.whole.site)
        return self.in_any_order()

    def __reversed__(self) -> Any:
        refuse("a dictionary that data fills is run over backwards", "reverse a list of it")

    def lists(self) -> Any:
        return list(iter(self))
