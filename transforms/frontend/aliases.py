"""Which arrays the variables of a rolled loop may share memory with."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from tapeless.transforms.core.language import (
    Var,
)
from tapeless.transforms.frontend.symbols import Symbol
from tapeless.transforms.frontend.trace import trace
from tapeless.transforms.frontend.values import (
    Spec,
)


class Aliases:
    """Which arrays the variables of a rolled loop may share memory with at the start of a pass:
    those that they stand for before the loop, and those that a pass leaves in them."""

    def __init__(self) -> None:
        self.began = 0
        self.outer: dict[Any, set[Any]] = {}  # of (location, leaf): cells older than the loop
        self.pairs: set[frozenset[Any]] = set()  # leaves that a pass leaves in the same memory
        self.entered: dict[Any, dict[Any, None]] = {}  # leaves by the memory they have at first
        self.place: dict[Var, Any] = {}
        self.cells: dict[Any, Any] = {}

    def start(self, key: Any, entry: Spec, params: list[Var]) -> None:
        for k, (value, param) in enumerate(zip(_leaf_values(entry), params, strict=True)):
            self.place[param] = (key, k)
            if isinstance(value, Symbol) and value.mutable:
                base = value.base_cell()
                self.outer.setdefault((key, k), set()).add(base)
                mates = self.entered.setdefault(base, {})
                self.pairs |= {frozenset(((key, k), mate)) for mate in mates if mate != (key, k)}
                mates[key, k] = None

    def install(self, param: Var, symbol: Symbol) -> None:
        place = self.place.get(param)
        if place is not None:
            self.cells[place] = symbol.cell
            for cell in self.outer.get(place, ()):
                trace().link(symbol.cell, cell)

    def leave(self, param: Var, out: Var) -> None:
        if param in self.place:
            self.place[out] = self.place[param]

    def link(self) -> None:
        for pair in self.pairs:
            if all(place in self.cells for place in pair):
                trace().link(*(self.cells[place] for place in pair))

    def end(self, finals: dict[Any, Spec]) -> bool:
        """Notes what a pass left; True if that is news."""
        before = sum(map(len, self.outer.values())) + len(self.pairs)
        bases: dict[Any, list[Any]] = {}
        for key, final in finals.items():
            for k, value in enumerate(_leaf_values(final)):
                if (key, k) in self.cells and isinstance(value, Symbol) and value.mutable:
                    base = value.base_cell()
                    bases.setdefault(base, []).append((key, k))
                    near = {base} if base.birth < self.began else trace().links.get(base, set())
                    self.outer.setdefault((key, k), set()).update(
                        c for c in near if c.birth < self.began
                    )
        self.pairs |= {frozenset(pair) for v in bases.values() for pair in combinations(v, 2)}
        return sum(map(len, self.outer.values())) + len(self.pairs) > before


def _leaf_values(spec: Spec) -> Iterator[Any]:
    if spec.kind == "leaf":
        yield spec.value
    for c in spec.children:
        yield from _leaf_values(c)
