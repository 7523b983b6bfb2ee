"""Swaps the buffers of arrays that become each other in a loop, where they would be copied.

for _ in range(n): b[1:] = a[:-1]; a, b = b, a      is so in a kernel, too
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from tapeless.transforms.core import scalar_form
from tapeless.transforms.core.language import (
    Atom,
    For,
    Let,
    Type,
    Var,
    While,
    blocks,
    outputs,
    statements,
)
from tapeless.transforms.lowering.kernels.scratch import is_tiny
from tapeless.transforms.lowering.kernels.segments import ArraysInStacks
from tapeless.transforms.lowering.schedule.view_indices import is_view
from tapeless.transforms.memory.aliasing import has_memory
from tapeless.transforms.python_text.python_source import to_source


def made_in(s: For | While) -> set[Var]:
    """Variables that every pass of a loop makes anew, or may."""
    return {v for b in blocks(s) for t in statements(b) for v in outputs(t)}


class Exchanged(ArraysInStacks):
    """`lent` are carries that lie in the memory of what the loop gives: they stay there."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.lent: set[Var] = set()
        self.copy_of: dict[Var, Var] = {}  # carries, by what holds their values meanwhile

    def copy_into(self, v: Var, a: Atom) -> None:
        self.over_elements(
            v,
            lambda at: self.set(
                v, at, scalar_form.cast(self.element(a, at), a.type.dtype, v.type.dtype)
            ),
        )

    def over_elements(self, v: Var, write: Callable[[list[Any]], None]) -> None:
        """What `write` writes for the index of each element of an array."""
        bound = self.var_bound.get(v, {})
        self.loops_over(list(v.type.shape), [bound.get(k) for k in range(v.type.ndim)], write)

    def moved_carries(self, s: For | While, carries: Any, after: Any) -> list[tuple[Var, Atom]]:
        """The carries with memory of their own, and what they become."""
        return [
            (p, y)
            for k, (p, y) in enumerate(zip(carries, after, strict=True))
            if isinstance(p.type, Type) and has_memory(p) and not self.memory.in_place(s, k)
        ]

    def exchanged_carries(self, moved: list[tuple[Var, Atom]]) -> dict[Var, Var]:
        """The carries that become each other: whose array each gets."""
        becomes = {p: self.memory.cell(y) for p, y in moved if isinstance(y, Var)}
        while True:
            gets = list(becomes.values())
            remaining = {
                p: q
                for p, q in becomes.items()
                if p is not q and q in becomes and p in gets and gets.count(q) == 1
            }
            remaining = {p: q for p, q in remaining.items() if self.of_a_kind(p.type, q.type)}
            if len(remaining) == len(becomes):
                return remaining
            becomes = remaining

    def of_a_kind(self, a: Type, b: Type) -> bool:
        """Whether arrays have the same dtype and lengths."""
        pairs = zip(a.shape, b.shape, strict=False)
        return a.dtype == b.dtype and a.ndim == b.ndim and all(self.equal(*p) for p in pairs)

    def reallocated_carries(self, s: For | While, moved: list[tuple[Var, Atom]]) -> set[Var]:
        """Carries that will probably get other arrays, for what they become is not made in place:
        no result is to lie in theirs."""
        replaced = set(self.exchanged_carries(moved))
        views = [t for b in blocks(s) for t in statements(b) if isinstance(t, Let) and is_view(t)]
        seen = {self.memory.base(t.args[0]) for t in views}
        inside = made_in(s)
        for p, y in moved:
            source = self.memory.cell(y) if isinstance(y, Var) else None
            if source not in inside:
                continue
            if source is not y or p in seen:  # made by stores, or of neighbours
                replaced |= {p, *self.followers(p, moved)}
        return replaced

    def followers(self, p: Var, moved: list[tuple[Var, Atom]]) -> list[Var]:
        """Who gets the array of a carry, who gets that one's, and so on."""
        chain: list[Var] = []
        while True:
            last = chain[-1] if chain else p
            gets = [r for r, y in moved if isinstance(y, Var) and self.memory.cell(y) is last]
            if len(gets) != 1 or gets[0] in (p, *chain):
                return chain
            chain += gets

    def buffer_rings(self, s: For | While, moved: list[tuple[Var, Atom]]) -> list[list[Var]]:
        """Rings of an array that a pass has made, which a carry gets, those who get that one's, and
        so on; the last leaves its array for the next pass to make."""
        rings, inside = [], made_in(s)
        sources = [self.memory.cell(y) if isinstance(y, Var) else None for _, y in moved]
        for (p, y), source in zip(moved, sources, strict=True):
            if source is None or source not in inside or sources.count(source) > 1:
                continue
            if source not in self.home or self.into.get(y) is p:  # type: ignore[arg-type]
                continue
            ring = [*self.followers(p, moved)[::-1], p, source]
            if self.may_swap(ring):
                rings.append(ring)
        return rings

    def exchange(self, gets: dict[Var, Var], rings: list[list[Var]]) -> None:
        """Gives carries each other's arrays: when all else is set that reads them."""
        pending = dict(gets)
        for ring in rings:
            self.swap(ring)
        while pending:
            ring = [next(iter(pending))]
            while (q := pending.pop(ring[-1])) is not ring[0]:
                ring.append(q)
            if self.may_swap(ring):
                self.swap(ring)
            else:
                self.exchange_elements(ring)

    def swap(self, ring: list[Var]) -> None:
        names = [self.home[p].name for p in ring]
        self.put(f"{', '.join(names)} = {', '.join([*names[1:], names[0]])}")

    def may_swap(self, ring: list[Var]) -> bool:
        """Whether names may exchange their arrays: the kernel's own, and large ones, for those of a
        few numbers may be in registers."""
        kinds = {self.params[v]: kind for v, kind in self.scratch.items() if v in self.params}
        homes = [self.home[p] for p in ring]
        first = kinds.get(homes[0].name)
        return (
            first is not None
            and not is_tiny(first)
            and self.lent.isdisjoint(ring)
            and len({h.name for h in homes}) == len(homes)
            and all(h.axes == homes[0].axes and h.name in kinds for h in homes)
            and all(self.of_a_kind(kinds[h.name], first) for h in homes)
            and not any(k in self.var_bound.get(ring[0], {}) for k in homes[0].axes)  # of a row
        )

    def exchange_elements(self, ring: list[Var]) -> None:
        first, last = ring[0], ring[-1]

        def rotate_elements(at: list[ast.expr]) -> None:
            name = self.names.new(first.name or self.names.nameless)
            self.put(f"{name} = {to_source(self.element(first, at))}")
            for p, q in pairwise(ring):
                self.set(p, at, self.element(q, at))
            self.set(last, at, ast.Name(name, ast.Load()))

        self.over_elements(first, rotate_elements)
