"""Finds what a loop reads of the arrays that it carries, and what it stores into them, so that
reads and stores can be moved.

for i in range(n): x[i] = f(x[i + 1 :])      reads x[i + 1 :] and stores x[i], whatever f does
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Var,
    blocks,
    outputs,
)
from tapeless.transforms.core.uses import nested_reads
from tapeless.transforms.lowering.distribution.parts import ArrayPart
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, index, update

PartOf = Callable[[Let], ArrayPart | None]


def defined_in(loop: For) -> set[Var]:
    """The variables of a loop, and of the blocks inside of it."""
    return set(_defined_variables(loop.body))


def _defined_variables(block: Block) -> list[Var]:
    variables = list(block.params)
    for s in block.body:
        variables += outputs(s)
        for b in blocks(s):
            variables += _defined_variables(b)
    return variables


class CarriedArray:
    """An array that a loop changes by stores into parts of it only.

    carry     its place among the carries
    versions  the variables that it is during a pass
    reads, stores, sums  the parts that are read, stored and added to; None: any
    """

    def __init__(self, loop: For, carry: int, part_of: PartOf) -> None:
        self.carry, self.part_of = carry, part_of
        self.versions = {loop.carries[carry]}
        self.reads: list[ArrayPart | None] = []
        self.stores: list[ArrayPart | None] = []
        self.sums: list[ArrayPart | None] = []
        self._follow(loop.body)
        self._escape(a for k, a in enumerate(loop.yields) if k != carry)

    def _follow(self, block: Block) -> None:
        """Notes what a block does to the versions, and those that it makes of them."""
        for s in block.body:
            if isinstance(s, Let):
                self._let(s)
            elif isinstance(s, For):
                self._loop(s)
            elif isinstance(s, If):
                self._branch(s)
            else:
                self._escape(nested_reads(s))

    def _let(self, s: Let) -> None:
        if s.op in (index, update, add_at) and s.args[0] in self.versions:
            parts = {index: self.reads, update: self.stores, add_at: self.sums}[s.op]
            parts.append(self.part_of(s))
            self._escape(s.args[1:])
            if s.op is not index:
                self.versions.update(s.outs)
        else:
            self._escape(s.args)

    def _escape(self, atoms: Iterable[Atom]) -> None:
        """Notes that all of the array is read where it is among these."""
        if any(a in self.versions for a in atoms):
            self.reads.append(None)

    def _loop(self, loop: For) -> None:
        carried = [k for k, a in enumerate(loop.inits) if a in self.versions]
        self.versions.update(loop.carries[k] for k in carried)
        self._follow(loop.body)
        if all(loop.yields[k] in self.versions for k in carried):
            self.versions.update(loop.outs[k] for k in carried)
        else:
            self.reads.append(None)
        self._escape(a for k, a in enumerate(loop.yields) if k not in carried)

    def _branch(self, branch: If) -> None:
        sides = branch.then, branch.orelse
        for side in sides:
            self._follow(side)
        for k, out in enumerate(branch.outs):
            results = [side.results[k] for side in sides]
            if all(a in self.versions for a in results):
                self.versions.add(out)
            else:
                self._escape(results)


def carried_arrays(loop: For, part_of: PartOf) -> list[CarriedArray]:
    """The arrays that a loop carries and changes in parts.

    part_of  finds the part that a statement reads or stores
    """
    arrays = [CarriedArray(loop, k, part_of) for k in range(len(loop.carries))]
    return [a for a in arrays if loop.yields[a.carry] in a.versions]
