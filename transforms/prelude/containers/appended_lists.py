"""Implements lists to which lists of run-time length are appended one by one.

groups = []; groups.append(run)      becomes      the items of run, linked as those of `Rows`
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.prelude.containers.linked_lists import Part, Row, Rows, mark_moved, refuse

__staged__ = True  # plain code: a staged run enters it


class Lists(Rows):
    """Lists in a list that gets more of them. Before the first is one that stays empty: what `get`
    gives where there is none."""

    def __init__(self) -> None:
        self.first: Any = [-1]
        self.last: Any = [-1]
        self.counts: Any = [0]
        self.following: Any = []
        self.items: Any = []
        self.replaced = 0
        self.running: tuple[Any, ...] = ()

    def keep(self, place: Any) -> None:
        if place == 0:
            raise RuntimeError("what get(key, []) gives is changed: use setdefault(key, [])")
        super().keep(place)

    def is_same_row(self, place: Any, other: Any) -> Any:
        return place == other

    def begin(self, values: Any) -> None:
        """One more list; its items follow each other."""
        items = list(values)
        self.first.append(len(self.items))
        for item in items:
            self.items.append(item)
            self.following.append(len(self.items))
        self.last.append(len(self.items) - 1)
        self.counts.append(len(items))
        mark_moved(values)

    def __getitem__(self, at: Any) -> Any:
        return Row(self, at + 1)

    def __setitem__(self, at: Any, value: Any) -> None:
        if not isinstance(value, Row):
            self.fill(at + 1, value)
            self.replaced += 1
            mark_moved(value)
        elif value.rows is not self or value.place != at + 1:
            refuse("a list is put in the place of another", "copy it with list(...)")


class Grown(Part):
    """A list of lists, to which more are appended."""

    def __init__(self) -> None:
        super().__init__(Lists(), ())
        self.running: tuple[Any, ...] = ()  # loops over it, now

    def __len__(self) -> Any:
        return len(self.rows.first) - 1

    def __bool__(self) -> Any:
        return len(self) > 0

    def list_at(self, k: Any) -> Any:
        return Row(self.rows, k + 1)

    def __iter__(self) -> Any:
        return map(self.list_at, range(len(self)))

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            refuse("a slice of a list of lists of data", "loop over range(len(...))")
        n = len(self)
        if k < -n or k >= n:
            raise IndexError("list index out of range")
        return Row(self.rows, k + 1 if k >= 0 else n + k + 1)

    def __setitem__(self, k: Any, value: Any) -> None:
        if k >= len(self) or k < -len(self):
            raise IndexError("list assignment index out of range")
        self.rows[k if k >= 0 else len(self) + k] = value

    def append(self, value: Any) -> None:
        if isinstance(value, Row):
            refuse("a row is put in another list, too", "put a copy there: list(...)")
        if self.running:
            raise RuntimeError("a list grows while a loop runs over it: run over a copy")
        self.rows.begin(value)

    def extend(self, values: Any) -> None:
        for value in values:
            self.append(list(value))

    def __iadd__(self, values: Any) -> Any:
        self.extend(values)
        return self

    def parts(self) -> Any:
        lengths: Any = []
        items: Any = []
        for k in range(len(self)):
            row = self[k].copy()
            lengths.append(len(row))
            items.extend(row)
        return lengths, items
