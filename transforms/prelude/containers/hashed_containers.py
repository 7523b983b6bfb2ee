"""Implements dictionaries and sets whose keys depend on run-time values: keys and values in lists,
found by buckets.

counts = {}; counts[k] = counts.get(k, 0) + 1

`heads` has for each bucket the place of the key that came last, `chain` for each key the one
before it in its bucket. A key that is taken out stays in its place, marked.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from tapeless.transforms.prelude.containers.appended_lists import Lists
from tapeless.transforms.prelude.containers.linked_lists import refuse, with_source

__staged__ = True  # plain code: a staged run enters it

FIRST = 8  # buckets
PRIME = 2**31 - 1
SPREAD = 668265263  # odd; the bits above the lowest 20 of a product with it depend on all of them


def bucket(key: Any, count: Any) -> Any:
    """Which of `count` buckets, a power of two, a key is in; keys that are equal are in one."""
    return ((code(key) * SPREAD) >> 20) & (count - 1)


def code(key: Any) -> Any:
    """A number below PRIME; that of 1, 1.0 and True is the same."""
    if isinstance(key, tuple):
        hashed = code(key[0]) if key else np.int64(0)
        for part in key[1:]:
            hashed = (1000003 * hashed + code(part)) % PRIME
        return hashed
    if isinstance(key, np.ndarray):
        raise TypeError("unhashable type: 'numpy.ndarray'")
    if isinstance(key, (float, np.floating)):
        real = float(key)
        if not np.isfinite(real):
            return np.int64(0)
        return (np.int64(real % PRIME) + np.int64((real % 1.0) * 2.0**30)) % PRIME
    return np.int64(key) % PRIME


class Keys:
    """The keys of a dictionary, the members of a set: numbers, or tuples of numbers."""

    def __init__(self, kind: Any, site: Any) -> None:
        self.kind, self.site = kind, site
        self.heads: Any = []
        for _ in range(FIRST):
            self.heads.append(-1)
        self.chain: Any = []
        self.names: Any = []
        self.alive: Any = []
        self.count = 0
        self.running: tuple[Any, ...] = ()  # loops over it, now

    def find(self, key: Any) -> Any:
        """Where a key is; -1 if it is not there."""
        if len(self.names) == 0:
            return -1  # nothing is known of them yet
        at = self.heads[bucket(key, len(self.heads))]
        while at >= 0 and not (self.alive[at] and self.names[at] == key):
            at = self.chain[at]
        return at

    def enter(self, key: Any) -> None:
        """Puts in a key that is not there."""
        if self.running:
            raise RuntimeError("a dictionary or set grows while a loop runs over it")
        if len(self.names) >= len(self.heads):
            self.widen()
        where = bucket(key, len(self.heads))
        self.chain.append(self.heads[where])
        self.heads[where] = len(self.names)
        self.names.append(key)
        self.alive.append(True)
        self.count += 1

    def widen(self) -> None:
        """Four times as many buckets."""
        for _ in range(3 * len(self.heads)):
            self.heads.append(-1)
        for k in range(len(self.heads)):
            self.heads[k] = -1
        for at in range(len(self.names)):
            where = bucket(self.names[at], len(self.heads))
            self.chain[at] = self.heads[where]
            self.heads[where] = at

    def drop(self, at: Any) -> None:
        """Takes a key out."""
        if self.running:
            raise RuntimeError("a dictionary or set shrinks while a loop runs over it")
        self.alive[at] = False
        self.count -= 1

    def clear(self) -> None:
        for at in range(len(self.names)):
            if self.alive[at]:
                self.drop(at)

    def lists(self) -> Any:
        return [self.names[at] for at in self.places()]

    def each_key(self) -> Any:
        """The keys, to be run over once."""
        return self.lists()

    def parts(self) -> Any:
        """Of which the caller's is made."""
        return (self.lists(),)

    def places(self) -> Any:
        """Where those are that are there, in the order in which they came."""
        return [at for at in range(len(self.names)) if self.alive[at]]

    def name(self, at: Any) -> Any:
        return self.names[at]

    def __len__(self) -> Any:
        return self.count

    def __bool__(self) -> Any:
        return self.count > 0

    def __contains__(self, key: Any) -> Any:
        return self.find(key) >= 0

    def refuse_text(self, *args: Any) -> Any:
        refuse("a dictionary or set whose keys depend on data is shown", "show its items")

    __repr__ = __str__ = __format__ = refuse_text
    __hash__ = None  # type: ignore[assignment]


class Members(Keys):
    """A set."""

    def add(self, key: Any) -> None:
        if self.find(key) < 0:
            self.enter(key)

    def discard(self, key: Any) -> None:
        at = self.find(key)
        if at >= 0:
            self.drop(at)

    def remove(self, key: Any) -> None:
        at = self.find(key)
        if at < 0:
            raise KeyError(key)
        self.drop(at)

    def update(self, *others: Any) -> None:
        for other in others:
            for key in members(other):
                self.add(key)

    def copy(self) -> Any:
        copied = Members(self.kind, self.site)
        copied.update(self)
        return copied

    def union(self, *others: Any) -> Any:
        joined = self.copy()
        joined.update(*others)
        return joined

    def intersection(self, other: Any) -> Any:
        common = Members(self.kind, self.site)
        for key in members(self):
            if key in other:
                common.add(key)
        return common

    def difference(self, other: Any) -> Any:
        rest = Members(self.kind, self.site)
        for key in members(self):
            if key not in other:
                rest.add(key)
        return rest

    def symmetric_difference(self, other: Any) -> Any:
        rest = self.difference(other)
        for key in members(other):
            if key not in self:
                rest.add(key)
        return rest

    def issubset(self, other: Any) -> Any:
        return all(key in other for key in members(self))

    def issuperset(self, other: Any) -> Any:
        return all(key in self for key in members(other))

    def pop(self) -> Any:
        refuse("which member a set of data gives up is Python's", "take min(...) of it")

    def isdisjoint(self, other: Any) -> Any:
        return not any(key in self for key in members(other))

    def __or__(self, other: Any) -> Any:
        return self.union(other)

    def __and__(self, other: Any) -> Any:
        return self.intersection(other)

    def __sub__(self, other: Any) -> Any:
        return self.difference(other)

    def __xor__(self, other: Any) -> Any:
        return self.symmetric_difference(other)

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    __ror__, __rand__, __rxor__ = __or__, __and__, __xor__

    def __rsub__(self, other: Any) -> Any:
        rest = Members(self.kind, self.site)
        for key in other:
            if key not in self:
                rest.add(key)
        return rest

    def __iand__(self, other: Any) -> Any:
        for at in self.places():
            if self.names[at] not in other:
                self.drop(at)
        return self

    def __isub__(self, other: Any) -> Any:
        for at in self.places():
            if self.names[at] in other:
                self.drop(at)
        return self

    def __le__(self, other: Any) -> Any:
        return self.issubset(other)

    def __ge__(self, other: Any) -> Any:
        return self.issuperset(other)

    def __eq__(self, other: Any) -> Any:
        return len(self) == len(other) and self.issubset(other)

    def __ne__(self, other: Any) -> Any:
        return not self == other

    __hash__ = None

    def __iter__(self) -> Any:
        refuse("the order of a set of data is Python's", "run over sorted(...) of it")


def members(other: Any) -> Any:
    """What is in a set, or in what else Python takes for one."""
    return other.each_key() if isinstance(other, Keys) else other


class Keyed(Keys):
    """A dictionary: also one of `collections`."""

    def __init__(self, kind: Any, site: Any, default: Any, lists: bool) -> None:
        super().__init__(kind, site)
        self.default = default
        self.counts = kind.__name__ == "Counter"
        self.held: Any = Lists() if lists else []

    def take(self, items: Any) -> None:
        """Pairs that nobody else has."""
        for key, value in items:
            self.put(key, list(value) if isinstance(self.held, Lists) else value)

    def put(self, key: Any, value: Any) -> None:
        if isinstance(value, list) and not isinstance(self.held, Lists):
            hold_lists(self.site)
        at = self.find(key)
        if at >= 0:
            self.held[at] = value
        else:
            self.enter(key)
            if isinstance(self.held, Lists):
                self.held.begin(value)
            else:
                self.held.append(value)

    __setitem__ = put

    def __getitem__(self, key: Any) -> Any:
        at = self.find(key)
        if self.counts:
            return self.held[at] if at >= 0 else 0
        if at < 0:
            at = self.make(key)
        return self.held[at]

    def reach(self, key: Any) -> Any:
        """Where the value of a key is that is changed in place."""
        at = self.find(key)
        return self.make(key) if at < 0 else at

    def make(self, key: Any) -> Any:
        """Where the value is that a key gets which is not there."""
        if self.counts:
            self.put(key, 0)
        elif self.default is None:
            raise KeyError(key)
        else:
            self.put(key, self.default())
        return len(self.names) - 1

    def get(self, key: Any, default: Any = None) -> Any:
        at = self.find(key)
        if isinstance(self.held, Lists) and isinstance(default, (list, tuple)):
            if len(default) > 0:
                refuse("get(key, default) of a list that is not empty", "use if and in")
            return self.held[at]
        if at < 0:
            return default
        return self.held[at]

    def setdefault(self, key: Any, default: Any = None) -> Any:
        at = self.find(key)
        if at < 0:
            self.put(key, default)
            at = len(self.names) - 1
        return self.held[at]

    def __delitem__(self, key: Any) -> None:
        at = self.find(key)
        if at < 0:
            raise KeyError(key)
        self.drop(at)

    def pop(self, key: Any, *default: Any) -> Any:
        at = self.find(key)
        if at < 0:
            if len(default) == 0:
                raise KeyError(key)
            return default[0]
        self.drop(at)
        return self.held[at]

    def popitem(self) -> Any:
        if self.count == 0:
            raise KeyError("popitem(): dictionary is empty")
        at = self.places()[-1]
        self.drop(at)
        return self.names[at], self.held[at]

    def update(self, *others: Any, **named: Any) -> None:
        if named:
            refuse("names and data as keys of one dictionary", "use two")
        for other in others:
            if self.counts:
                self.tally(other)
            else:
                for key, value in pairs(other):
                    self.put(key, value)

    def tally(self, items: Any) -> None:
        """What a `Counter` does with items: a mapping says how many there are of each."""
        if isinstance(items, (dict, Keyed)):
            for key, n in pairs(items):
                self.put(key, self[key] + n)
        else:
            for key in members(items):
                self.put(key, self[key] + 1)

    def most_common(self, n: Any = None) -> Any:
        pairs_by_count = sorted(self.items(), key=lambda item: item[1], reverse=True)
        return pairs_by_count if n is None else pairs_by_count[:n]

    def total(self) -> Any:
        return sum(self.values())

    def copy(self) -> Any:
        if isinstance(self.held, Lists):
            refuse("a copy of a dictionary of lists of data shares them", "copy each list")
        copied = Keyed(self.kind, self.site, self.default, False)
        for at in self.places():
            copied.put(self.names[at], self.held[at])
        return copied

    def __or__(self, other: Any) -> Any:
        if self.counts:
            self.refuse_arithmetic()
        joined = self.copy()
        joined.update(other)
        return joined

    def __ior__(self, other: Any) -> Any:
        if self.counts:
            self.refuse_arithmetic()
        self.update(other)
        return self

    def refuse_arithmetic(self, *args: Any) -> Any:
        if self.counts:
            refuse("counts of data are added, subtracted or compared as a whole", "use a loop")
        raise TypeError("unsupported operand type(s) of dict")

    __add__ = __radd__ = __iadd__ = __sub__ = __rsub__ = __isub__ = refuse_arithmetic
    __and__ = __rand__ = __iand__ = __pos__ = __neg__ = refuse_arithmetic
    __lt__ = __le__ = __gt__ = __ge__ = refuse_arithmetic

    def parts(self) -> Any:
        if not isinstance(self.held, Lists):
            return self.lists(), [self.held[at] for at in self.places()]
        lengths, items = [], []
        for at in self.places():
            row = self.held[at].copy()
            lengths.append(len(row))
            items.extend(row)
        return self.lists(), lengths, items

    def value(self, at: Any) -> Any:
        return self.held[at]

    def item(self, at: Any) -> Any:
        return self.names[at], self.held[at]

    def __iter__(self) -> Any:
        return map(self.name, with_source(self.places(), self, 0))

    def __reversed__(self) -> Any:
        return map(self.name, self.places()[::-1])

    def keys(self) -> Any:
        return View(self, "keys")

    def values(self) -> Any:
        return View(self, "values")

    def items(self) -> Any:
        return View(self, "items")

    def __eq__(self, other: Any) -> Any:
        if self.counts:  # what is not there counts as nothing
            here = all(other[key] == n for key, n in self.items())
            return here and all(self[key] == n for key, n in other.items())
        if len(self) != len(other):
            return False
        if self.kind is OrderedDict and kind_of(other) is OrderedDict:
            return list(self.items()) == list(other.items())
        return all(key in other and other[key] == value for key, value in self.items())

    def __ne__(self, other: Any) -> Any:
        return not self == other

    __hash__ = None

    def __getattr__(self, name: str) -> Any:
        refuse(f".{name} of a dictionary whose keys depend on data", "write it out")


def with_keys(keys: Any, value: Any) -> Any:
    return [(key, value) for key in members(keys)]


def kind_of(other: Any) -> Any:
    return other.kind if isinstance(other, Keyed) else type(other)


def pairs(other: Any) -> Any:
    """Keys with their values, of a mapping or of pairs."""
    return other.items() if isinstance(other, (dict, Keyed)) else other


def hold_lists(site: Any) -> None:
    """A dictionary gets a list: it is made anew, as one of lists."""
    raise NotImplementedError  # the staged run knows it


class View:
    """Keys, values or items, as the dictionary has them by then."""

    def __init__(self, whole: Any, what: str) -> None:
        self.whole, self.what = whole, what

    def part(self) -> Any:
        """What there is of the key at a place."""
        if self.what == "keys":
            return self.whole.name
        return self.whole.value if self.what == "values" else self.whole.item

    def __iter__(self) -> Any:
        return map(self.part(), with_source(self.whole.places(), self.whole, 0))

    def __reversed__(self) -> Any:
        return map(self.part(), self.whole.places()[::-1])

    def lists(self) -> Any:
        part = self.part()
        return [part(at) for at in self.whole.places()]

    def __len__(self) -> Any:
        return self.whole.count

    def __bool__(self) -> Any:
        return self.whole.count > 0

    def __contains__(self, item: Any) -> Any:
        return item in self.whole if self.what == "keys" else item in self.lists()
