"""Finds which products of matrices come before and after a statement of a block. Libraries make
these; all between two of them can be fused into loops.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

from tapeless.transforms.core.language import (
    Atom,
    Let,
    Statement,
    Type,
    Var,
    blocks,
    free_variables,
    operands,
    outputs,
)
from tapeless.transforms.lowering.schedule.library_products import is_apart
from tapeless.transforms.lowering.schedule.view_indices import is_view


def of_elements(s: Statement) -> TypeGuard[Let]:
    """Whether it makes each element of an array of elements."""
    if not isinstance(s, Let) or not s.op.elementwise or len(s.outs) > 1:
        return False
    kind = s.outs[0].type
    return isinstance(kind, Type) and bool(kind.shape)


def read_by(s: Statement) -> list[Var]:
    """What a statement reads, also inside of it."""
    inner = (a for b in blocks(s) for a in free_variables(b))
    return [*(a for a in operands(s) if isinstance(a, Var)), *inner]


class CallPositions:
    """The statements of a block.

    readers  of each variable, by their places
    kept     arrays that are there anyway: products, and what products and the caller read
    before   by statement: the last product that must come before it
    end      the first product that must come after it
    start    the last product that must come before what it is for
    """

    def __init__(self, body: list[Statement], results: Iterable[Atom]) -> None:
        self.body = body
        self.readers: dict[Atom, list[int]] = {}
        self.defs: dict[Atom, int] = {}
        self.kept: set[Atom] = set()
        self.read = list(map(read_by, body))
        for k, (s, read) in enumerate(zip(body, self.read, strict=True)):
            self.defs |= dict.fromkeys(outputs(s), k)
            for a in dict.fromkeys(read):
                self.readers.setdefault(a, []).append(k)
            if is_apart(s):
                self.kept |= {*outputs(s), *(b for a in read for b in self.bases(a))}
        self.kept.update(b for a in results for b in self.bases(a))
        self.before = [-1] * len(body)
        self.end = [len(body)] * len(body)
        self.start = [-1] * len(body)
        for k in range(len(body)):
            self.before[k] = self.last_before(k)
        for k in reversed(range(len(body))):
            self.end[k] = self.first_after(k)
            self.start[k] = self.first_use(k)

    def bases(self, a: Atom) -> Iterable[Atom]:
        """A value, and what it is a view of."""
        yield a
        s = self.body[self.defs[a]] if a in self.defs else None
        if isinstance(s, Let) and is_view(s):
            yield from self.bases(s.args[0])

    def last_before(self, k: int) -> int:
        positions = [self.defs[a] for a in self.read[k] if a in self.defs]
        return max([d if is_apart(self.body[d]) else self.before[d] for d in positions], default=-1)

    def first_after(self, k: int) -> int:
        if is_apart(self.body[k]):
            return k
        readers = self.readers_of(self.body[k])
        return min((self.end[r] for r in readers), default=len(self.body))

    def first_use(self, k: int) -> int:
        s = self.body[k]
        readers = self.readers_of(s)
        if not of_elements(s) or not readers or not self.kept.isdisjoint(outputs(s)):
            return self.before[k]
        return min(self.start[r] for r in readers)

    def readers_of(self, s: Statement) -> list[int]:
        return [r for v in outputs(s) for r in self.readers.get(v, ())]
