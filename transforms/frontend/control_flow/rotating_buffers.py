"""Counts the passes of loops that exchange arrays between variables, where others see the arrays
too, such as the caller whose arguments are overwritten: the count says who has what at the end.

for _ in range(n): new[1:] = u[:-1]; u, new = new, u      u is new's array if n is odd
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import Atom, Var
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.errors import AliasError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.branch_side import appending_to
from tapeless.transforms.frontend.control_flow.emit_loop import LoopEmitter, StagedPass
from tapeless.transforms.frontend.heap.alias_sets import Aliases
from tapeless.transforms.frontend.heap.references import (
    GuardedRef,
    ViewRef,
    by_value,
    choose_atoms,
    root_of,
)
from tapeless.transforms.frontend.trace.cells import CellLocation
from tapeless.transforms.frontend.trace.journals import Location
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import Structure
from tapeless.transforms.ops.primitives.arithmetic import add, mod
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal

LONGEST = 4  # variables that exchange their arrays with one another


class Rotating:
    """The variables of one loop that do so, with what each stands for before it."""

    def __init__(self) -> None:
        self.symbols: dict[Any, Symbol] = {}  # by location
        self.rings: list[list[Any]] = []  # each gets the array of the next
        self.turns: list[Var] = []  # for each ring: how often they did, after the loop

    def spec(self, key: Any, spec: Structure) -> Structure:
        """In a pass they are arrays of their own."""
        return by_value(spec) if key in self.symbols and spec.kind is ViewRef else spec

    def meet(
        self, entries: dict[Any, Structure], finals: dict[Any, tuple[Location, Structure]]
    ) -> bool:
        """Notes variables that have exchanged what they stand for; True if that is news."""
        before = {k: s for k, s in entries.items() if s.kind is ViewRef}
        after = {k: finals[k][1] if k in finals else s for k, s in before.items()}
        unchanged_roots = {k for k in before if before[k].keys[1] == () == _steps(after[k])}
        had = {k: before[k].keys[0] for k in unchanged_roots}
        cells = [s.keys[0] for s in before.values()]
        others = {
            after[k].keys[0]
            for k in before
            if k not in unchanged_roots and after[k].kind is ViewRef
        }
        gets = {k: after[k].keys[0] for k in unchanged_roots}
        news = {k for k in unchanged_roots if had[k] is not gets[k]}
        alone = all(cells.count(had[k]) == 1 and had[k] not in others for k in news)
        exchanged = {had[k] for k in news} == {gets[k] for k in news}
        if not (news and alone and exchanged and len({gets[k] for k in news}) == len(news)):
            return False
        self.symbols |= {k: _root(before[k]) for k in news}
        return True

    def find(self, staged: StagedPass, aliases: Aliases) -> None:
        """Who gets whose array in each pass."""
        places = {aliases.cells.get((k, 0)): k for k in self.symbols}
        gets: dict[Any, Any] = {}
        for k in self.symbols:
            value = staged.final(k).value
            is_root = isinstance(value, Symbol) and not value.chain
            gets[k] = places.get(root_of(value).cell) if is_root else None
        if None in gets.values() or len({*gets.values()}) < len(gets):
            raise AliasError("arrays are exchanged in some passes only", "copy one of them")
        while gets:
            ring = [next(iter(gets))]
            while (k := gets.pop(ring[-1])) is not ring[0]:
                ring.append(k)
            if len(ring) > LONGEST:
                raise AliasError("many arrays are exchanged in a loop", "keep them in one array")
            self.rings.append(ring)

    def count(self, staged: StagedPass, emitter: LoopEmitter) -> None:
        """Makes the loop count its passes."""
        for ring in self.rings:
            turn, out = Var(INT, "turn"), Var(INT, "turn")
            with appending_to(staged.statements):
                after = mod(add(turn, 1), len(ring))
            emitter.carry(turn, atom(0), after, out)
            self.turns.append(out)

    def place(
        self, staged: StagedPass, emitter: LoopEmitter, locations: dict[Any, Location]
    ) -> None:
        """After the loop: every array has what the variable holds that has it now, and variables
        stand for the arrays."""
        t = trace()
        outs = dict(zip(emitter.carries, emitter.outs, strict=True))
        for ring, turn in zip(self.rings, self.turns, strict=True):
            n = len(ring)
            outputs = [outs[staged.params[k][0]] for k in ring]
            for j, k in enumerate(ring):
                cell = self.symbols[k].cell
                assert cell is not None
                t.touch(CellLocation(cell))
                cell.atom = _by_turn(turn, [outputs[(j - passed) % n] for passed in range(n)])
                t.memory.stale.pop(cell, None)
            for j, k in enumerate(ring):
                options = [self.symbols[ring[(j + passed) % n]] for passed in range(n)]
                t.touch(locations[k])
                locations[k].set(_one_by_turn(turn, options))


def _root(spec: Structure) -> Symbol:
    """The array that a reference stands for."""
    root = root_of(spec.value)
    assert isinstance(root, Symbol)
    return root


def _steps(spec: Structure) -> Any:
    """The steps from the array to the part that a reference stands for."""
    return spec.keys[1] if spec.kind is ViewRef else None


def _by_turn(turn: Var, values: list[Atom]) -> Atom:
    """The value for the number of turns."""
    selected = values[-1]
    for passed in reversed(range(len(values) - 1)):
        sides = [lambda: [values[passed]], lambda: [selected]]  # noqa: B023  # called at once
        (selected,) = choose_atoms(equal(turn, passed), *sides)
    return selected


def _one_by_turn(turn: Var, symbols: list[Symbol]) -> Symbol:
    """The array that it is after so many turns."""
    selected = symbols[-1]
    for passed in reversed(range(len(symbols) - 1)):
        selected = GuardedRef(turn, (symbols[passed], selected), passed)
    return selected
