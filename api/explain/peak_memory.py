"""Estimates the most memory that the arrays of a program take at once.

a = x * 2; b = a + 1; c = b * b      has two arrays at once: a is let go when b has been made
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from tapeless.explain.formulas import largest
from tapeless.explain.known_numbers import KnownNumbers
from tapeless.transformations.compilation.cost_analysis import elements
from tapeless.transforms.core.language import (
    Block,
    Effect,
    Let,
    Statement,
    Type,
    Var,
    blocks,
    operands,
    outputs,
)
from tapeless.transforms.memory.aliasing import uses
from tapeless.transforms.ops.primitives.identities import identity

Sizes = Callable[[Statement], int]  # of what a statement takes while it runs, beside its results


class PeakMemory:
    """Goes over the statements of a driver, or of a program in array form, in their order.

    numbers  the lengths in the call
    during   the bytes that a statement takes while it runs, beside its results
    """

    def __init__(self, numbers: KnownNumbers, during: Sizes) -> None:
        self.numbers, self.during = numbers, during
        self.owner: dict[Var, Var] = {}  # of values that are parts of others, or the same

    def peak_of(self, block: Block) -> int:
        """The most bytes at once, without the parameters."""
        return self.block(block, set())[0]

    def block(self, block: Block, later: set[Var]) -> tuple[int, int]:
        """The most bytes that a block makes at once, and those of what it leaves: `later` is read
        after it."""
        last = self.last_uses(block)
        alive: dict[Var, int] = {}
        total, peak = 0, 0
        kept = {self.owner_of(a) for a in block.results if isinstance(a, Var)} | later
        for k, s in enumerate(block.body):
            of_blocks = (self.block(b, set())[0] for b in blocks(s))
            during = self.during(s)
            peak = largest(peak, total + during + functools.reduce(largest, of_blocks, 0))
            results = self.allocations(s)
            alive |= results
            total += sum(results.values())
            peak = largest(peak, total + during)
            for v in [v for v in alive if last.get(v, k) <= k and v not in kept]:
                total -= alive.pop(v)
        return peak, total

    def last_uses(self, block: Block) -> dict[Var, int]:
        """For each value, the number of the last statement that reads its memory."""
        last: dict[Var, int] = {}
        for k, s in enumerate(block.body):
            self.note(s)
            last |= dict.fromkeys(map(self.owner_of, (*uses(s), *outputs(s))), k)
        return last

    def note(self, s: Statement) -> None:
        """Notes which results have the memory of operands."""
        args = [a for a in operands(s) if isinstance(a, Var)]
        match s:
            case Let() if args and (s.op.view or s.op.inplace or s.op is identity):
                self.owner |= dict.fromkeys(s.outs, args[0])
            case Let() | Effect():
                pass
            case _:
                inits = getattr(s, "inits", ())
                pairs = zip(s.outs, inits, strict=False)
                self.owner |= {v: a for v, a in pairs if isinstance(a, Var)}

    def owner_of(self, v: Var) -> Var:
        """The value whose memory another one is in."""
        while v in self.owner:
            v = self.owner[v]
        return v

    def allocations(self, s: Statement) -> dict[Var, int]:
        """The arrays that a statement makes, with their bytes."""
        arrays = (v for v in outputs(s) if isinstance(v.type, Type) and v not in self.owner)
        return {v: self.size(v.type) for v in arrays if v.type.shape}

    def size(self, kind: Type) -> int:
        return elements(kind, self.numbers.length) * kind.dtype.itemsize
