"""Stages lists of the caller that come as arrays: as lists again, whose elements lie in stacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeless.transforms.frontend.arrays.numpy_scalars import python_number
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply
from tapeless.transforms.frontend.heap.lists import StagedList, from_arrays
from tapeless.transforms.frontend.values.list_elements import was_taken_from
from tapeless.transforms.frontend.values.structure import flatten, require_defined
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.prelude.containers.ragged_lists import GivenLists


class GivenRows(StagedList):
    """A list of lists. The rows that the caller has can be told from new ones as long as it holds
    them where it did."""

    moved = False  # whether it may not

    def __setitem__(self, k: Any, value: Any) -> None:
        self.moved = self.moved or not was_taken_from(self, value, k)
        super().__setitem__(k, value)

    def append(self, value: Any) -> None:
        self.moved = True
        super().append(value)

    def refill(self, values: Any) -> None:
        self.moved = True
        super().refill(values)

    def relog(self, length: Any) -> None:
        self.moved = True
        super().relog(length)

    def pop(self, k: Any = -1) -> Any:
        self.moved = True
        return super().pop(k)


def _number(x: Symbol, python: bool) -> Any:
    """An element of an array, as it was in the list."""
    return python_number(x) if python else x


class Given:
    """One list of the caller's in a staged run.

    columns  arrays of what the elements hold: one of numbers, or of rows, or one for each place in
             tuples
    rows     list or tuple, where elements are such; "lists" of lists of numbers that are not as
             long as one another, "lists of tuples" of such of tuples: the last column holds the
             lengths
    python   which columns hold numbers of Python's
    """

    def __init__(
        self, columns: Sequence[Symbol], rows: type | str | None, python: Sequence[bool]
    ) -> None:
        weak = [*python]
        self.rows = rows
        if isinstance(rows, str):
            *items, counts = columns
            inner = Given(items, tuple if rows == "lists of tuples" else None, weak)
            self.list: Any = GivenLists(inner.list, counts, apply(FUNCTIONS[np.cumsum], counts))
            self.before = []
            return
        if rows is list:
            (table,) = columns
            row = from_arrays(flatten(_number(table[0, 0], weak[0])), [table[0]], weak)
            row.tail.exact = True  # type: ignore[union-attr]
            self.list = from_arrays(require_defined(flatten(row)), [table], kind=GivenRows)
        else:
            numbers = [_number(x[0], own) for x, own in zip(columns, weak, strict=True)]
            spec = flatten(tuple(numbers) if rows is tuple else numbers[0])
            self.list = from_arrays(spec, [*columns], weak)
        assert self.list.tail is not None
        self.list.tail.exact = True
        self.before = self.leaf_values()

    def leaf_values(self) -> list[Any]:
        if isinstance(self.rows, str):
            return []
        tail = self.list.tail
        return [] if tail is None else [symbol.value() for symbol in tail.stacks]

    def has_changed(self) -> bool:
        """Whether the caller has to see something else in the list."""
        now = self.leaf_values()
        same = len(now) == len(self.before)
        return not same or any(a is not b for a, b in zip(now, self.before, strict=True))
