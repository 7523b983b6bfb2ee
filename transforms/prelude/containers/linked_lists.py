"""Implements lists of lists of which run-time values say which one grows, as linked lists in
arrays.

cells = [[] for _ in range(n)]; cells[k].append(v)

All items are in one list, in the order in which they were appended. Of each row the arrays know the
first item, the last one and how many there are; `following` is the place of the next one in a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__staged__ = True  # plain code: a staged run enters it


def refuse(problem: str, hint: str) -> None:
    """Refuses the program, with its line; the staged run knows it."""
    raise AttributeError(f"{problem}: {hint}")


def mark_moved(items: Any) -> None:
    """A list is put in another, which keeps its items: under its own name it is out of date."""
    raise NotImplementedError  # the staged run knows it


def with_source(items: Any, whole: Any, place: Any) -> Any:
    """A list that is run over in the place of what it was taken from."""
    return items  # the staged run remembers it


class Rows:
    """Lists in a list (or in lists of lists, by the lengths of these), empty at first."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape
        self.first = np.full(shape, -1)
        self.last = np.full(shape, -1)
        self.counts = np.zeros(shape, dtype=int)
        self.following: Any = []
        self.items: Any = []
        self.replaced = 0  # how often a row was
        self.running: tuple[Any, ...] = ()  # the rows that loops run over now

    def append(self, place: Any, item: Any) -> None:
        self.keep(place)
        self.put(place, item)

    def keep(self, place: Any) -> None:
        """Refuses to change a row that a loop runs over."""
        for busy in self.running:
            if self.is_same_row(busy, place):
                raise RuntimeError("a list changes while a loop runs over it: run over a copy")

    def is_same_row(self, place: Any, other: Any) -> Any:
        pairs = zip(place, other, self.shape, strict=True)
        return all((j - k) % n == 0 for j, k, n in pairs)

    def fill(self, place: Any, items: Any) -> None:
        """Gives a row other items."""
        items = list(items)
        self.clear(place)
        for item in items:
            self.put(place, item)

    def put(self, place: Any, item: Any) -> None:
        here = len(self.items)
        self.items.append(item)
        self.following.append(-1)
        if self.counts[place] > 0:
            self.following[self.last[place]] = here
        else:
            self.first[place] = here
        self.last[place] = here
        self.counts[place] += 1

    def clear(self, place: Any) -> None:
        self.counts[place] = 0

    def row(self, place: Any) -> Any:
        """The items of a row, as a list of its own."""
        items: Any = []
        if len(self.items) > 0:  # else nothing is known of them yet
            at = self.first[place]
            for _ in range(self.counts[place]):
                items.append(self.items[at])
                at = self.following[at]
        return items

    def end(self, place: Any) -> Any:
        """The last item of a row."""
        if len(self.items) == 0 or self.counts[place] == 0:
            raise IndexError("list index out of range")
        return self.items[self.last[place]]


class Part:
    """The list of lists, or what lists of lists of lists give at an index."""

    def __init__(self, rows: Any, place: Any) -> None:
        self.rows, self.place = rows, place

    def __len__(self) -> Any:
        return self.rows.shape[len(self.place)]

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            refuse(
                "a slice of a list of lists of which data says which one grows",
                "loop over range(len(...))",
            )
        place = (*self.place, k)
        return (Row if len(place) == len(self.rows.shape) else Part)(self.rows, place)

    def __setitem__(self, k: Any, value: Any) -> None:
        row = self[k]
        if not isinstance(row, Row):
            refuse(
                "a list of lists of which data says which one grows is replaced",
                "store to its rows",
            )
        if isinstance(value, Row):
            if value.rows is not self.rows or value.place != row.place:
                refuse("a row is put in the place of another", "copy it with list(...)")
        else:
            self.rows.fill(row.current_place(), value)
            self.rows.replaced += 1
            mark_moved(value)

    def __iter__(self) -> Any:
        return map(self.__getitem__, range(len(self)))

    def __getattr__(self, name: str) -> Any:
        refuse(
            f".{name} of a list of lists of which data says which one grows",
            "loop over its rows",
        )

    def __repr__(self) -> str:
        return repr(self.lists())

    def lists(self) -> Any:
        return [self[k].lists() for k in range(len(self))]


def extreme_row(f: Any, rows: Any, key: Any) -> Any:
    """max or min of the lists."""
    return rows[f(range(len(rows)), key=lambda k: key(rows[k]))]


class Row:
    """One of the lists."""

    def __init__(self, rows: Any, place: Any) -> None:
        self.rows, self.place, self.began = rows, place, rows.replaced

    def current_place(self) -> Any:
        """Where it is; an error if that may hold another list by now."""
        if self.began != self.rows.replaced:
            raise RuntimeError("a list that was replaced in another is used: copy it before")
        return self.place

    def append(self, item: Any) -> None:
        self.rows.append(self.current_place(), item)

    def extend(self, items: Any) -> None:
        for item in list(items):
            self.append(item)

    def clear(self) -> None:
        self.rows.keep(self.current_place())
        self.rows.clear(self.current_place())

    def copy(self) -> Any:
        return self.rows.row(self.current_place())

    lists = copy

    def become(self, items: Any) -> None:
        self.rows.keep(self.current_place())
        self.rows.fill(self.current_place(), items)

    def insert(self, k: Any, item: Any) -> None:
        items = self.copy()
        items.insert(k, item)
        self.become(items)

    def pop(self, k: Any = -1) -> Any:
        items = self.copy()
        item = items.pop(k)
        self.become(items)
        return item

    def remove(self, item: Any) -> None:
        items = self.copy()
        items.remove(item)
        self.become(items)

    def reverse(self) -> None:
        self.become(self.copy()[::-1])

    def sort(self, key: Any = None, reverse: bool = False) -> None:
        self.become(sorted(self.copy(), key=key, reverse=reverse))

    def index(self, item: Any) -> Any:
        return self.copy().index(item)

    def count(self, item: Any) -> Any:
        return self.copy().count(item)

    def __len__(self) -> Any:
        return int(self.rows.counts[self.current_place()])

    def __bool__(self) -> Any:
        return bool(self.rows.counts[self.current_place()] > 0)

    def __iter__(self) -> Any:
        return iter(with_source(self.copy(), self.rows, self.place))

    def __reversed__(self) -> Any:
        return reversed(with_source(self.copy(), self.rows, self.place))

    def __contains__(self, item: Any) -> Any:
        return item in self.copy()

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, int) and k == -1:
            return self.rows.end(self.current_place())
        return self.copy()[k]

    def __setitem__(self, k: Any, item: Any) -> None:
        items = self.copy()
        items[k] = item
        self.become(items)

    def __delitem__(self, k: Any) -> None:
        items = self.copy()
        del items[k]
        self.become(items)

    def __iadd__(self, items: Any) -> Any:
        self.extend(items)
        return self

    def __add__(self, items: Any) -> Any:
        return self.copy() + list(items)

    def __radd__(self, items: Any) -> Any:
        return list(items) + self.copy()

    def __mul__(self, n: Any) -> Any:
        return self.copy() * n

    def __imul__(self, n: Any) -> Any:
        self.become(self.copy() * n)
        return self

    def __eq__(self, other: Any) -> Any:
        return self.copy() == (other.copy() if isinstance(other, Row) else other)

    def __ne__(self, other: Any) -> Any:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __array__(self) -> Any:
        return np.array(self.copy())

    def __repr__(self) -> str:
        return repr(self.copy())
