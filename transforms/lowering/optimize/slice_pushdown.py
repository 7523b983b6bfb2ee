"""Pushes slices into what is computed: the part is computed, instead of all of the value.

t = 2 * x; y = t[1:]      becomes      y = 2 * x[1:]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tapeless.transforms.core.builder import Builder, atom_of_size, current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let, Statement, Var
from tapeless.transforms.lowering.schedule.dependences import Dependences, is_array
from tapeless.transforms.lowering.schedule.loop_nests import CONSTANTS, takes_long
from tapeless.transforms.lowering.schedule.view_indices import is_view
from tapeless.transforms.ops.primitives.shapes import cast, cast_to
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index

MANY = 32  # operations that are done again rather than kept in memory


class Unsliced(Exception):  # noqa: N818 (a result, not an error)
    """The statements stay as they are."""


class Sliced:
    """Parts that are read where the last of `stores` was, one of the statements of a block."""

    def __init__(
        self, memory: Dependences, body: tuple[Statement, ...], stores: list[Let], builder: Builder
    ) -> None:
        self.memory, self.body, self.builder = memory, body, builder
        self.places = {id(s): k for k, s in enumerate(body)}
        self.first, self.last = (self.places[id(s)] for s in (stores[0], stores[-1]))
        self.stored = {memory.base(stores[0].args[0])}
        self.again: set[Let] = set()
        self.made: dict[Any, Atom] = {}

    def decide(self, values: list[Var]) -> None:
        """Which statements are done again for each part: none if that takes long, or needs more
        values in memory than there are."""
        distinct = list(dict.fromkeys(v for v in values if v.type.shape))
        again: dict[Let, None] = {}
        leaves: dict[Var, None] = {}
        for v in distinct:
            self.walk(v, again, leaves)
        kept = {base for v in leaves if (base := self.memory.base(v)) is not None}
        computed = [v for v in kept if self.needs_memory(v)]
        start = min((self.places[id(s)] for s in again), default=self.first)
        if len(again) > MANY or len(computed) > len(distinct) or not self.holds(kept, start):
            again = {}
            kept = {base for v in distinct if (base := self.memory.base(v)) is not None}
            if not self.holds(kept, self.first):
                raise Unsliced
        self.again = set(again)

    def walk(self, v: Var, again: dict[Let, None], leaves: dict[Var, None]) -> None:
        s = self.memory.defs.get(v)
        if not (isinstance(s, Let) and id(s) in self.places and _cheap(s)):
            leaves[v] = None
        elif s not in again:
            again[s] = None
            for a in s.args:
                if is_array(a):
                    self.walk(a, again, leaves)  # type: ignore[arg-type]

    def needs_memory(self, v: Var) -> bool:
        """Whether memory is needed to read a value at any place."""
        s = self.memory.defs.get(v)
        return isinstance(s, Let) and id(s) in self.places and s.op not in CONSTANTS

    def holds(self, kept: set[Var], start: int) -> bool:
        """Whether memory stays as it is until the last store, which does not change it either."""
        if kept & self.stored:
            return False
        written: set[Any] = set()
        for s in self.body[start : self.last]:
            written |= self.memory.writes(s)
        return not kept & written

    def part(self, v: Atom, axis: int, start: Size, stop: Size) -> Atom:
        """v[..., start:stop, ...]"""
        n = v.type.shape[axis]
        if start == 0 and stop == n:
            return v
        key = (v, axis, start, stop)
        if key not in self.made:
            s = self.memory.defs.get(v)  # type: ignore[arg-type]
            if isinstance(s, Let) and s in self.again:
                self.made[key] = self.computed_part(s, axis, start, stop)
            else:
                rest: list[Atom] = []
                entries = key_of(axis, start, stop, n, rest)
                self.made[key] = index(v, *rest, key=entries)
        return self.made[key]

    def computed_part(self, s: Let, axis: int, start: Size, stop: Size) -> Any:
        before, self.builder.origin = self.builder.origin, s.origin
        args = list(self.parts(s.args, axis - s.outs[0].type.ndim, start, stop))
        part_result: Any = s.op(*args, **s.params)
        self.builder.origin = before
        return cast_to(part_result, s.outs[0].type.dtype)

    def parts(self, args: Iterable[Atom], axis: int, start: Size, stop: Size) -> Iterator[Atom]:
        """The parts of operands, along an axis that is counted from the last."""
        for a in args:
            at = axis + a.type.ndim
            yield self.part(a, at, start, stop) if varies_along(a, at) else a


def varies_along(a: Atom, axis: int) -> bool:
    """Whether a value has elements along an axis."""
    return axis >= 0 and bool(a.type.shape) and a.type.shape[axis] != 1


def _cheap(s: Let) -> bool:
    plain = s.op.elementwise or s.op is cast
    return plain and not is_view(s) and not takes_long(s)


def key_of(axis: int, start: Size, stop: Size, n: Size, rest: list[Atom]) -> tuple[Any, ...]:
    """The key of start:stop along an axis; sizes that have to be computed go to `rest`."""

    def bound(size: Size) -> Any:
        if isinstance(size, int):
            return size
        if isinstance(size - n, int) and current().not_negative(size):
            return size - n
        rest.append(atom_of_size(size))
        return Slot(len(rest) - 1)

    ends = slice(None if start == 0 else bound(start), None if stop == n else bound(stop))
    return (*(slice(None),) * axis, ends)
