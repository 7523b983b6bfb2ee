"""Knows which arrays and lists may share memory, and which are out of date since a store.

b = a if t else c          b may be in the memory of a or of c
a[0] = 1.0                 b is out of date: reading it is refused, or it is carried by reference

Memory is named by the cells that were made apart from all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tapeless.transforms.core.language import Origin
from tapeless.transforms.frontend.trace.lent_arrays import Loans


class MemoryOrders:
    """In which order arrays lie in memory, where that matters.

    chosen     new arrays in an order that the user chose: that, or the array whose order they have
    asked      of what loops carry: those whose order was asked for
    pending    by memory: the orders of inputs that stores rely on
    relied_on  orders of inputs that the program relies on
    """

    def __init__(self) -> None:
        self.chosen: dict[Any, tuple[str, Any]] = {}
        self.asked: set[Any] = set()
        self.pending: dict[Any, set[Any]] = {}
        self.relied_on: set[Any] = set()


class SharedMemory:
    """Which cells may share memory.

    stale        what must not be read, and why
    overwritten  memory that a store may have changed
    held         the memory that lists hold on to
    loans        arrays that were taken from lists
    sides        gives the tests around what is staged now, and which side of each
    origin       gives the user's line that is staged now
    """

    def __init__(
        self,
        orders: MemoryOrders,
        sides: Callable[[], list[tuple[int, int]]],
        origin: Callable[[], Origin | None],
    ) -> None:
        self.stale: dict[Any, str] = {}
        self.overwritten: set[Any] = set()
        self.held: dict[Any, set[Any]] = {}
        self.loans = Loans()
        self.orders, self.sides, self.origin = orders, sides, origin
        self._memories: dict[Any, set[Any]] = {}  # of cells that may be in the memory of others
        self._sharers: dict[Any, set[Any]] = {}  # the cells that may be in a memory, or hold it
        self.apart: dict[Any, set[Any]] = {}  # cells that share none of it with another after all
        self.either: dict[Any, set[Any]] = {}  # of lists: what may be one of them at run time

    def memories_of(self, cell: Any) -> set[Any]:
        """What may be the memory of a cell."""
        return self._memories.get(cell) or {cell}

    def share(self, cell: Any, memory: Iterable[Any]) -> None:
        """`cell` may also be in this memory."""
        mine = self._memories.setdefault(cell, {cell})
        mine.update(memory)
        for m in mine:
            self._sharers.setdefault(m, set()).add(cell)

    def link(self, value: Any, source: Any) -> None:
        """`value` may be what `source` is."""
        if value is not source:
            self.share(value, self.memories_of(source))

    def are_apart(self, a: Any, b: Any) -> bool:
        """Whether two cells share no memory."""
        return b in self.apart.get(a, ()) or not self.memories_of(a) & self.memories_of(b)

    def keep_apart(self, a: Any, b: Any) -> None:
        """Two cells that seem to share memory do not."""
        self.apart.setdefault(a, set()).add(b)
        self.apart.setdefault(b, set()).add(a)

    # -- lists

    def hold(self, holder: Any, memory: Iterable[Any]) -> None:
        """A list has elements in this memory: it shows what is stored there."""
        mine = self.held.setdefault(holder, {holder})
        mine.update(memory)
        for m in memory:
            self.loans.sides.setdefault((holder, m), set()).add(tuple(self.sides()))
        for m in mine:
            self._sharers.setdefault(m, set()).add(holder)

    def holding(self, holder: Any) -> set[Any]:
        """The memory that the elements of a list may be in."""
        return self.held.setdefault(holder, {holder})

    def apart_by_tests(self, holder: Any, memory: Any) -> bool:
        """Whether a list got this on the other side of a test."""
        now = {(test, 1 - side) for test, side in self.sides()}
        return all(
            not now.isdisjoint(path) for path in self.loans.sides.get((holder, memory), [()])
        )

    def may_be(self, value: Any, holders: Iterable[Any]) -> None:
        """An array stands for one of several lists."""
        self.share(value, holders)
        for holder in holders:
            self.either.setdefault(holder, set()).add(value)

    # -- stores

    def stored_to(self, cell: Any) -> None:
        """A store changed an array: what may be in its memory is out of date."""
        memory = self.memories_of(cell)
        self.overwritten |= memory
        for m in {cell, *memory}:
            self.orders.relied_on |= self.orders.pending.get(m, set())
        others = {other for m in memory for other in (m, *self._sharers.get(m, ()))}
        for other in others - self.apart.get(cell, set()) - {cell}:
            self.stale[other] = self.blame(cell)

    def changed_list(self, holder: Any) -> None:
        """What may be this list, by run-time values, is out of date."""
        for other in self.either.get(holder, ()):
            self.stale[other] = self.blame(holder)

    def changed_inside(self, holder: Any) -> None:
        """An element of a list was changed in place: so was what the list holds."""
        for m in self.holding(holder) - {holder}:
            for other in {m, *self._sharers.get(m, ())} - {holder}:
                self.stale[other] = self.blame(holder)

    def rely(self, orders: set[Any], memory: Iterable[Any]) -> None:
        """What a store to one of these cells means depends on the orders of inputs."""
        for cell in memory if orders else ():
            for m in (cell, *self.memories_of(cell)):
                self.orders.pending.setdefault(m, set()).update(orders)

    def blame(self, cell: Any) -> str:
        """What was overwritten where, as errors say it."""
        name, origin = getattr(cell.atom, "name", ""), self.origin()
        line = f", which line {origin.line} overwrites" if origin else ""
        return f"may share memory with {repr(name) if name else 'an array'}{line}"
