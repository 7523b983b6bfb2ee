"""Finds what a loop stores into the arrays that it carries, so that reading them can be moved.

for i in range(n): x[i] = f(x[i + 1 :])      stores x[i], whatever f does
"""

from __future__ import annotations

from collections.abc import Callable

from tapeless.transforms.core.language import Block, For, If, Let, Var, blocks, outputs
from tapeless.transforms.lowering.distribution.parts import Part
from tapeless.transforms.ops.primitives.slices_and_gathers import add_at, update


def defined_in(loop: For) -> set[Var]:
    """The variables of a loop, and of the blocks inside of it."""
    return set(_defined(loop.body))


def _defined(block: Block) -> list[Var]:
    variables = list(block.params)
    for s in block.body:
        variables += outputs(s)
        for b in blocks(s):
            variables += _defined(b)
    return variables


class CarriedArray:
    """An array that a loop changes by stores into parts of it only.

    versions  the variables that it is during a pass
    stores    the parts that are stored
    """

    def __init__(self, carry: Var, part_of: Callable[[Let], Part | None]) -> None:
        self.versions = {carry}
        self.stores: list[Part | None] = []
        self.part_of = part_of

    def follow(self, block: Block) -> None:
        """Notes the versions that a block makes of those that there are."""
        for s in block.body:
            if isinstance(s, Let):
                if s.op in (update, add_at) and s.args[0] in self.versions:
                    self.versions.update(s.outs)
                    self.stores.append(self.part_of(s))
            elif isinstance(s, For):
                self._loop(s)
            elif isinstance(s, If):
                self._branch(s)

    def _loop(self, loop: For) -> None:
        carried = [k for k, a in enumerate(loop.inits) if a in self.versions]
        self.versions.update(loop.carries[k] for k in carried)
        self.follow(loop.body)
        if all(loop.yields[k] in self.versions for k in carried):
            self.versions.update(loop.outs[k] for k in carried)

    def _branch(self, branch: If) -> None:
        sides = branch.then, branch.orelse
        for side in sides:
            self.follow(side)
        for k, out in enumerate(branch.outs):
            if all(side.results[k] in self.versions for side in sides):
                self.versions.add(out)


def carried_arrays(
    loop: For, part_of: Callable[[Let], Part | None]
) -> list[tuple[int, CarriedArray]]:
    """The arrays that a loop carries and changes in parts, each with its place among the carries.

    part_of  finds the part that a statement stores
    """
    arrays: list[tuple[int, CarriedArray]] = []
    for k, (carry, result) in enumerate(zip(loop.carries, loop.yields, strict=True)):
        array = CarriedArray(carry, part_of)
        array.follow(loop.body)
        if result in array.versions:
            arrays.append((k, array))
    return arrays
