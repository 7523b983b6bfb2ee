"""Stages deques of the user's program: lists that also change at their front, and may be full."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np

from tapeless.transforms.frontend.arrays.symbols import Symbol, apply
from tapeless.transforms.frontend.control_flow.branches import branch
from tapeless.transforms.frontend.heap.list_columns import to_columns
from tapeless.transforms.frontend.heap.lists import StagedList, from_arrays
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import flatten
from tapeless.transforms.ops.function_table import FUNCTIONS


class StagedDeque(StagedList):
    """A deque; with a `tail`, its elements lie in stacks, as those of lists do."""

    maxlen: int | None = None
    stands_for = deque

    def with_items(self, items: Iterable[Any]) -> StagedDeque:
        return StagedDeque(items).set_maxlen(self.maxlen)

    def set_maxlen(self, n: int | None) -> StagedDeque:
        self.maxlen, self.traits = n, () if n is None else (("maxlen", n),)
        return self

    def of_python(self, items: list[Any]) -> Any:
        return deque(items, self.maxlen)

    def append(self, value: Any) -> None:
        if self.maxlen != 0:
            self.make_room(0)
            super().append(value)

    def appendleft(self, value: Any) -> None:
        if self.maxlen == 0:
            return
        self.make_room(-1)
        if self.tail is None:
            list.insert(self, 0, value)
            return
        to_columns(first := trace().born(StagedList([value])), self.tail.spec)
        first.extend(StagedList.copy(self))
        self.refill(first)

    def make_room(self, end: int) -> None:
        """Drops the element at one end if the deque is full."""
        if self.maxlen is None:
            return
        full = self.length() >= self.maxlen
        if isinstance(full, Symbol):
            branch(full, lambda: self.drop(end), lambda: None)
        elif full:
            self.drop(end)

    def drop(self, end: int) -> None:
        StagedList.pop(self, end)

    def pop(self) -> Any:  # type: ignore[override]
        return self.pop_from(-1)

    def popleft(self) -> Any:
        return self.pop_from(0)

    def pop_from(self, end: int) -> Any:
        if self.tail is None and not len(self):
            raise IndexError("pop from an empty deque")
        return StagedList.pop(self, end)

    def extendleft(self, values: Any) -> None:
        for v in values:
            self.appendleft(v)

    def rotate(self, n: Any = 1) -> None:
        if self.tail is None:
            items = deque(list.__iter__(self))
            items.rotate(n)
            list.__setitem__(self, slice(None), items)
            return
        turned = [apply(FUNCTIONS[np.roll], a, n, axis=0) for a in self.arrays()]
        self.refill(self.rows(turned))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            raise TypeError("sequence index must be integer, not 'slice'")
        return super().__getitem__(key)

    def __add__(self, other: Any) -> Any:
        result = self.copy()
        result.extend(other)
        return result

    def sort(self, **kwargs: Any) -> None:
        raise AttributeError("'collections.deque' object has no attribute 'sort'")


StagedDeque.__name__ = "deque"  # as errors of Python say it


def new_deque(hooks: Any, items: Any = (), maxlen: Any = None) -> StagedDeque:
    """deque(items, maxlen)"""
    queue: StagedDeque = trace().born(StagedDeque())
    queue.set_maxlen(None if maxlen is None else int(maxlen))
    if isinstance(items, Symbol):
        items = from_arrays(flatten(items[0]), [items])
    queue.extend(items)
    return queue
