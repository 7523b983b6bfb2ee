"""Computes may-alias sets: the arrays that the variables of a rolled loop may share memory with.

for _ in range(n): b[1:] = a[:-1]; a, b = b, a      a and b stay apart, whichever is which
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from tapeless.transforms.core.language import Var
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.heap.list_columns import may_be_list
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import Structure

Place = tuple[Any, int]  # a location and which of its leaves


@dataclass(eq=False)
class Common:
    """Memory that a pass leaves under two names; which memory that is differs from pass to pass.
    It is as old as its loop: a loop around takes it for made in a pass of its own."""

    birth: int


class Aliases:
    """Which arrays the variables of a rolled loop may share memory with at the start of a pass:
    those that they stand for before the loop, and those that a pass leaves in them."""

    def __init__(self) -> None:
        self.birth, self.began = next(trace().serials), 0
        self.attempts: list[tuple[int, int]] = []  # when passes that were staged began and ended
        self.outer: dict[Place, set[Any]] = {}  # memory older than the loop
        self.common: dict[frozenset[Any], Common] = {}  # of two places, or of a place and a list
        self.place: dict[Var, Place] = {}
        self.cells: dict[Place, Any] = {}
        self.frozen: set[Place] = set()  # may be a view that NumPy does not let be overwritten
        self.left: dict[Place, set[Any]] = {}  # the memory that the last pass left there
        self.first: dict[Place, Symbol] = {}  # what is there before the loop
        self.together: set[frozenset[Place]] = set()  # pairs that some pass leaves in one memory
        self.outs: dict[Place, Any] = {}  # the cells after the loop
        # the lists older than a pass that passes leave, by their tails; those that one made
        self.lists: dict[Place, dict[int, Symbol]] = {}
        self.new_lists: dict[Place, Symbol] = {}
        self.unread: set[Any] = set()  # locations that no pass reads as one before has left them

    def start(self, key: Any, entry: Structure, params: list[Var]) -> None:
        for k, (value, param) in enumerate(zip(entry.leaf_values(), params, strict=True)):
            self.place[param] = (key, k)
            if isinstance(value, Symbol) and value.mutable:
                memory = value.memory()
                self.outer.setdefault((key, k), set()).update(memory)
                self.first.setdefault((key, k), value)
                self.note_frozen((key, k), value)

    def note_frozen(self, place: Place, value: Symbol) -> None:
        if value.frozen:
            self.frozen.add(place)

    def install(self, param: Var, symbol: Symbol) -> None:
        """At the start of a pass."""
        place = self.place.get(param)
        if place is not None:
            self.enter(place, symbol)
            if place[0] not in self.unread:
                trace().memory.share(symbol.cell, self.outer.get(place, ()))

    def enter(self, place: Place, symbol: Symbol) -> None:
        self.cells[place] = symbol.cell
        symbol.read_only = place in self.frozen
        for source in self.lists.get(place, {}).values():
            may_be_list(symbol, source)
        if place in self.new_lists:
            may_be_list(symbol, self.new_lists[place])

    def settle(self, out: Var, symbol: Symbol, before: Symbol, certain: bool) -> None:
        """After the loop, where `before` was there ahead of it, or is new; `certain`: the loop
        makes a pass, so that there is what a pass leaves."""
        place = self.place.get(out)
        if place is None:
            trace().memory.share(symbol.cell, before.memory())
            return
        self.enter(place, symbol)
        if not certain or place not in self.left:
            trace().memory.share(symbol.cell, before.memory() | self.outer.get(place, set()))
        trace().memory.share(symbol.cell, self.left.get(place, ()))
        self.outs[place] = symbol.cell
        self.keep_apart(self.outs)

    def keep_apart(self, cells: dict[Place, Any]) -> None:
        """Tells of cells that might share memory that they do not: they are apart before the loop,
        and no pass leaves them in one memory."""
        for pair in _sharing(
            {place: trace().memory.memories_of(cell) for place, cell in cells.items()}
        ):
            if pair not in self.together and self.are_apart(self.first, *pair):
                trace().memory.keep_apart(*(cells[place] for place in pair))

    def are_apart(self, values: dict[Place, Symbol], p: Place, q: Place) -> bool:
        a, b = values.get(p), values.get(q)
        return a is not None and b is not None and not may_overlap(a, b)

    def leave(self, param: Var, out: Var) -> None:
        if param in self.place:
            self.place[out] = self.place[param]

    def link(self) -> None:
        self.keep_apart(self.cells)
        for pair, memory in self.common.items():
            for each in pair:
                if isinstance(each, tuple) and each[0] in self.unread:
                    continue
                if each in self.cells:
                    trace().memory.share(self.cells[each], {memory})
                elif not isinstance(each, tuple):
                    trace().memory.hold(each, {memory})

    def end(self, finals: dict[Any, Structure]) -> bool:
        """Notes what a pass left; True if that is news."""
        before = self.fact_count()
        inner: dict[Any, set[Any]] = {}
        finals_of: dict[Place, Symbol] = {}
        for key, final in finals.items():
            for k, value in enumerate(final.leaf_values()):
                if (key, k) in self.cells and isinstance(value, Symbol) and value.mutable:
                    finals_of[key, k] = value
                    memory = {m for m in value.memory() if not self.is_of_an_attempt(m.birth)}
                    older = {m for m in memory if m.birth < self.began}
                    self.outer.setdefault((key, k), set()).update(older)
                    inner[key, k] = memory - older
                    self.left[key, k] = memory
                    self.note_frozen((key, k), value)
                    if value.listing is not None and _is_older(value.listing, self.began):
                        self.lists.setdefault((key, k), {})[id(value.listing)] = value
                    elif value.listing is not None:
                        self.new_lists[key, k] = value
        lists = {c: columns for c, columns in trace().memory.held.items() if c.birth < self.began}
        pairs = [*combinations(inner.items(), 2)]
        pairs += [(p, c) for p in inner.items() for c in lists.items()]
        for (p, mine), (q, others) in pairs:
            if mine & others and not self.are_apart(finals_of, p, q):
                self.common.setdefault(frozenset((p, q)), Common(self.birth))
        for pair in _sharing({place: value.memory() for place, value in finals_of.items()}):
            if self.are_apart(self.first, *pair) and not self.are_apart(finals_of, *pair):
                self.together.add(pair)
        self.together |= _sharing({place: _stacks(value) for place, value in finals_of.items()})
        self.attempts.append((self.began, next(trace().serials)))
        return self.fact_count() > before

    def is_of_an_attempt(self, birth: int) -> bool:
        """Whether what was born then was made by a pass that has been staged again since."""
        return any(began <= birth < ended for began, ended in self.attempts)

    def fact_count(self) -> int:
        return (
            sum(map(len, self.outer.values()))
            + len(self.common)
            + len(self.frozen)
            + sum(map(len, self.lists.values()))
            + len(self.new_lists)
            + len(self.together)
        )


def _sharing(memories: dict[Place, set[Any]]) -> set[frozenset[Place]]:
    """The pairs of places that may have memory in common."""
    places: dict[Any, list[Place]] = {}
    for place, memory in memories.items():
        for m in memory:
            places.setdefault(m, []).append(place)
    return {frozenset(pair) for each in places.values() for pair in combinations(each, 2)}


def _stacks(value: Symbol) -> set[Any]:
    """The stacks of the lists that an array stands for, or may stand for."""
    own = {stack.cell for stack in value.listing.stacks} if value.listing is not None else set()
    return own | (value.memory() & trace().memory.either.keys())


def _is_older(columns: Any, began: int) -> bool:
    """Whether a list was there before a pass."""
    return all(stack.cell.birth < began for stack in columns.stacks)


def may_overlap(a: Symbol, b: Symbol) -> bool:
    """Whether two arrays may have an element in common: rows of an array have none."""
    first, second = (x if x.parent is None else x.parent for x in (a, b))
    if first.cell is None or second.cell is None:
        return bool(a.memory() & b.memory())
    if first.cell is not second.cell:
        return not trace().memory.are_apart(first.cell, second.cell)
    i, j = _row(a), _row(b)
    return i is None or j is None or i == j or (i < 0) is not (j < 0)


def _row(a: Symbol) -> int | None:
    """The row of the array that a view is a part of; None if it is not in one."""
    key = a.chain[0][2].get("key", ()) if a.chain else ()
    return key[0] if key and isinstance(key[0], int) else None
