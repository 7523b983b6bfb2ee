"""Rewrites library calls on small arrays inside of loops as loops and routines.

for t: x = solve(a, x)      becomes      for t: w = [a | x]; eliminate_in_place(w); ...

A call would leave compiled code at each pass, which takes longer than the work. The program is then
for calls with such sizes only. Where there is no library, all calls are loops, of any size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import Builder, atom, building
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Statement,
    Type,
    Var,
    statements,
    with_blocks,
)
from tapeless.transforms.lowering.rewrite.array_routines import is_routine, searched
from tapeless.transforms.lowering.rewrite.complex_products import COMPLEX
from tapeless.transforms.lowering.rewrite.concatenate import NotTaken
from tapeless.transforms.lowering.rewrite.masks_to_indices import (
    MASKED,
    Masks,
    is_mask,
    length_of_mask,
    positions,
    seeks_places,
)
from tapeless.transforms.lowering.rewrite.small_solves import SOLVING
from tapeless.transforms.lowering.rewrite.sorting import ORDERING, SEARCHING
from tapeless.transforms.lowering.rewrite.surviving_stores import STORING
from tapeless.transforms.lowering.target import CPU, Target
from tapeless.transforms.ops.numpy.indexing import nonzero
from tapeless.transforms.ops.primitives.axis_lengths import axis_size
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.shapes import copy
from tapeless.transforms.optimize.simplify import simplify

CALLS = {**SOLVING, **ORDERING, **STORING, nonzero: positions, axis_size: length_of_mask}
FORMULAS = {**CALLS, **MASKED}
Relation = tuple[str, Size, Size]


class Small:
    """`relied` are relations of sizes that the program is for; `relations` hold in any call.

    hints   sizes in the call that the program is made for
    target  what runs the program
    """

    def __init__(self, hints: Mapping[dims.Symbol, int], target: Target = CPU) -> None:
        self.hints, self.target = hints, target
        self.relied: list[Relation] = []
        self.masks = Masks()
        self.views: set[Var] = set()

    @property
    def relations(self) -> list[Relation]:
        return self.masks.relations

    def require_small(self, limit: int, work: Size) -> None:
        """Raises NotTaken if a library is faster: there is more work than that in this call, or
        that is not known."""
        if not self.target.library:
            return
        work_now = dims.evaluate(work, self.hints)
        fits = work_now is not None and work_now <= limit
        if work_now is not None and not isinstance(work, int):
            self.relied.append((">=", limit, work) if fits else (">=", work, limit + 1))
        if not fits:
            raise NotTaken

    def require_not_large(self, limit: int, work: Size) -> None:
        """Raises NotTaken where it is known that a library is faster: it cannot be called where
        only the program knows how much work there is."""
        if dims.evaluate(work, self.hints) is not None:
            self.require_small(limit, work)

    def require_as_many(self, n: Size, least: Size) -> None:
        """Raises NotTaken where this call has not as many of something as of another, or that is
        not known."""
        numbers = [dims.evaluate(size, self.hints) for size in (n, least)]
        if None in numbers:
            raise NotTaken
        fits = numbers[0] >= numbers[1]  # type: ignore[operator]
        self.relied.append((">=", n, least) if fits else (">=", least, n + 1))
        if not fits:
            raise NotTaken

    def whole_array(self, a: Atom) -> Any:
        """What routines read: the array itself, or a copy of a part of one."""
        return copy(a) if a in self.views else a

    def run(self, block: Block) -> Block:
        top = bool(self.target.library)
        lets = (s for s in statements(block) if isinstance(s, Let) and s.op.view)
        self.views = {v for s in lets for v in s.outs}
        if not any(
            isinstance(t, Let) and self.formula(t, top and t is s)
            for s in block.body
            for t in _statements_in(s)
        ):
            return block
        return simplify(replace(block, body=tuple(self.body(block.body, top))))

    def inner(self, block: Block) -> Block:
        with self.masks.scope():
            return replace(block, body=tuple(self.body(block.body, False)))

    def body(self, body: tuple[Statement, ...], top: bool) -> Iterator[Statement]:
        for s in body:
            if isinstance(s, Let) and (formula := self.formula(s, top)):
                yield from self.let(s, formula)
            else:
                yield with_blocks(s, self.inner)

    def formula(self, s: Let, top: bool) -> Any:
        """What makes simpler operations of a statement; at the top, of few ones."""
        if not top:
            return _formula(s)
        takes_all = self.target.library == "NumPy" and all(map(_real, (*s.args, *s.outs)))
        return SEARCHING.get(s.op) if takes_all else None

    def let(self, s: Let, formula: Any) -> Iterator[Statement]:
        b = Builder()
        b.origin = s.origin
        try:
            with building(b):
                results = formula(self, s.outs, *s.args, **s.params)
                results = results if isinstance(results, tuple) else (results,)
                for v, a in zip(s.outs, results, strict=True):
                    if a is not v:
                        b.let((v,), identity, (atom(a),), {})
        except NotTaken:
            yield s
        else:
            yield from b.blocks[0]


def _statements_in(s: Statement) -> Iterator[Statement]:
    yield from statements(Block((), (s,), ()))


def _formula(s: Let) -> Any:
    """What makes simpler operations of a statement, if anything does."""
    if s.op in COMPLEX and all(a.type.dtype == s.outs[0].type.dtype for a in s.args):
        return COMPLEX[s.op] if s.outs[0].type.dtype.kind == "c" else None
    formula = FORMULAS.get(s.op)
    if formula is None or not all(map(_real, (*s.args, *s.outs))):
        return None
    return formula if s.op in CALLS or any(map(is_mask, s.args[1:])) else None


def _real(a: Any) -> bool:
    return isinstance(a.type, Type) and a.type.dtype.kind in "biuf"


def takes(s: Let) -> bool:
    """Whether the operation is one of those that become routines where they are small."""
    return bool(_formula(s))


def left_over(block: Block) -> bool:
    """Whether a driver holds what only kernels can do, or do in good time."""
    return any(
        seeks_places(s) or (isinstance(s, Let) and (is_routine(s) or s.op is searched))
        for s in statements(block)
    )
