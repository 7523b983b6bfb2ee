"""Turns stores to parts that overlap into one store to each part of its own: nothing is added to
memory.

z = zeros(n); z[:-1] = a; z[1:] += b
    becomes      z = empty(n); z[1:-1] = a[1:] + b[:-1]; z[:1] = a[:1]; z[-1:] = b[-1:]
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import building
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Literal,
    Statement,
    Var,
    blocks,
    operands,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.size_inequalities import Facts, Relation, Relied, not_negative
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.optimize.diagonal_matrices import use_bands
from tapeless.transforms.lowering.optimize.driver_views import measures
from tapeless.transforms.lowering.optimize.part_ranges import Range, Ranges, Target, differing
from tapeless.transforms.lowering.optimize.privatize_buffers import privatize_buffers
from tapeless.transforms.lowering.optimize.slice_pushdown import (
    Sliced,
    Unsliced,
    key_of,
    varies_along,
)
from tapeless.transforms.lowering.schedule.dependences import Dependences
from tapeless.transforms.lowering.sizes.size_equalities import Sizes
from tapeless.transforms.ops.primitives import new_arrays
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.shapes import cast_to, copy
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, add_at, index, update
from tapeless.transforms.optimize.dead_code import dead_code

SHORT = 4  # elements that are set to zero by themselves

Known = tuple[int, Mapping[Range, Atom]]  # the axis and the values of parts


@dataclass
class Chain:
    """Stores one after another to one array, that differ along one axis at most."""

    stores: list[Let]
    targets: list[Target]
    axes: set[int] = field(default_factory=set)

    def takes(self, target: Target) -> bool:
        return len(self.axes | differing(self.targets[0], target)) < 2

    def append(self, s: Let, target: Target) -> None:
        self.axes |= differing(self.targets[0], target)
        self.stores.append(s)
        self.targets.append(target)


def stores_to_gathers(
    block: Block, sizes: Sizes, hints: Mapping[dims.Symbol, int], facts: Facts
) -> tuple[Block, list[Relation]]:
    """The block, and what it relies on of the sizes of this call: (">=", a, b). That is added to
    the facts."""
    if measures(block):
        return block, []
    block = dead_code(privatize_buffers(block))
    memory = Dependences()
    memory.learn(block)
    ranges = Ranges(memory, sizes, hints, facts)
    diagonal = use_bands(block, ranges)
    if diagonal is not block:
        block = dead_code(diagonal)
        memory = Dependences()
        memory.learn(block)
    run = Gathering(memory, sizes, hints, facts, _uses(block))
    rewritten = run.block(block)
    return (dead_code(rewritten) if run.changed else block), ranges.relied + run.relied


def _uses(block: Block) -> Counter[Any]:
    counts: Counter[Any] = Counter(block.results)
    for s in statements(block):
        counts.update(operands(s))
        counts.update(a for b in blocks(s) for a in b.results)
    return counts


class Gathering(Ranges):
    """One program. `uses` says how often each value is read."""

    def __init__(
        self,
        memory: Dependences,
        sizes: Sizes,
        hints: Mapping[dims.Symbol, int],
        facts: Facts,
        uses: Mapping[Any, int],
    ) -> None:
        super().__init__(memory, sizes, hints, facts)
        self.uses = uses
        self.changed = False
        self.known: dict[Var, Known] = {}

    def block(self, block: Block) -> Block:
        replacements = self.gathers_of(block.body)
        self.changed |= bool(replacements)
        body = (
            with_blocks(t, self.block) for s in block.body for t in replacements.get(id(s), [s])
        )
        return replace(block, body=tuple(body))

    def gathers_of(self, body: tuple[Statement, ...]) -> dict[int, list[Statement]]:
        """What takes the places of statements."""
        replacements: dict[int, list[Statement]] = {}
        places = {id(s): k for k, s in enumerate(body)}
        for chain in sorted(self.chains(body), key=lambda c: places[id(c.stores[-1])]):
            try:
                replacements |= Joined(self, chain, body).run()
            except Unsliced:
                continue
        return replacements

    def chains(self, body: Iterable[Statement]) -> list[Chain]:
        open_: dict[Var, Chain] = {}
        chains: list[Chain] = []
        for s in body:
            if not (isinstance(s, Let) and s.op in (update, add_at)):
                continue
            target = self.target(s, 2)
            base = s.args[0]
            if target is None or not isinstance(base, Var):
                continue
            chain = open_.get(base) if self.uses.get(base, 0) == 1 else None
            if chain is not None and chain.takes(target):
                chain.append(s, target)
            else:
                chain = Chain([s], [target])
                chains.append(chain)
            open_[s.outs[0]] = chain
        return chains

    def parts_of(self, v: Atom) -> Known | None:
        """The parts of an array that nothing else reads, if they have been found."""
        while self.uses.get(v, 0) == 1 and isinstance(v, Var):
            if v in self.known:
                return self.known[v]
            s = self.memory.defs.get(v)
            if not (isinstance(s, Let) and (s.op is copy or _is_whole_read(s))):
                return None
            v = s.args[0]
        return None


class Joined:
    """The stores of one chain as stores to parts that do not overlap."""

    def __init__(self, of: Gathering, chain: Chain, body: tuple[Statement, ...]) -> None:
        self.of, self.chain, self.body = of, chain, body
        self.first, self.last = chain.stores[0], chain.stores[-1]
        spread = [k for k, e in enumerate(chain.targets[0]) if isinstance(e, tuple)]
        if not spread:
            raise Unsliced
        self.axis = next(iter(chain.axes), spread[0])
        self.rank = len(spread)
        self.at = spread.index(self.axis)  # of the part
        self.target = self.last.outs[0]
        self.size = of.canon(self.target.type.shape[self.axis])
        self.values: dict[Range, Atom] = {}

    def run(self) -> dict[int, list[Statement]]:
        self.equate()
        ranges = [t[self.axis] for t in self.chain.targets]
        inner = [
            r[0] + e
            for s, r in zip(self.chain.stores, ranges, strict=True)
            for part in self.values_of_parts(s.args[1], r)
            for e in part
        ]
        parts = self.of.ranges_between(e for r in (*ranges, (0, self.size), inner) for e in r)
        if not parts:
            raise Unsliced  # there are no elements
        ends = [*(a for a, _ in parts), parts[-1][1]]
        if (ends[0], ends[-1]) != (0, self.size):
            raise Unsliced  # a part that ends after the last element
        stores_by_range = {
            part: [
                (s, r)
                for s, r in zip(self.chain.stores, ranges, strict=True)
                if ends.index(r[0]) <= ends.index(part[0]) < ends.index(r[1])
            ]
            for part in parts
        }
        fresh = self.fresh(stores_by_range)
        if not fresh and not any(len(stores) > 1 for stores in stores_by_range.values()):
            raise Unsliced
        return self.replacements(stores_by_range, fresh)

    def equate(self) -> None:
        """Parts of arrays that are as long in this call are so in all calls of the program."""
        if len(self.chain.stores) < 2:
            return
        self.of.equate([self.size, *(e for t in self.chain.targets for e in t[self.axis])])
        self.size = self.of.canon(self.size)
        self.chain.targets = [tuple(map(self.of.with_equal_sizes, t)) for t in self.chain.targets]

    def values_of_parts(self, v: Atom, r: Range) -> Mapping[Range, Atom]:
        """The values of parts, in the place of an array that is made of them."""
        place_and_parts = self.of.parts_of(v)
        fits = (
            place_and_parts is not None
            and v.type.ndim == self.rank
            and place_and_parts[0] == self.at
        )
        return place_and_parts[1] if fits and place_and_parts is not None else {}

    def fresh(self, stores_by_range: Mapping[Range, list[Any]]) -> bool:
        """Whether the array holds zeros before, few of which are left."""
        s = self.of.memory.defs.get(self.first.args[0])  # type: ignore[arg-type]
        if not self.zeros(s) or self.of.uses.get(self.first.args[0], 0) != 1:
            return False
        target = self.chain.targets[0]
        shape = map(self.of.canon, self.target.type.shape)
        whole = all(
            e == (0, n)
            for k, (e, n) in enumerate(zip(target, shape, strict=True))
            if k != self.axis
        )
        gaps = [b - a for (a, b), stores in stores_by_range.items() if not stores]
        return whole and all(isinstance(n, int) and n <= SHORT for n in gaps)

    def zeros(self, s: Any) -> bool:
        return isinstance(s, Let) and s.op is new_arrays.zeros and any(s is t for t in self.body)

    def replacements(
        self, stores_by_range: Mapping[Range, list[Any]], fresh: bool
    ) -> dict[int, list[Statement]]:
        b = Relied(self.of.facts, self.of.canon)
        b.origin = self.last.origin
        b.definitions |= {v: s for v, s in self.of.memory.defs.items() if isinstance(s, Let)}
        sliced = Sliced(self.of.memory, self.body, self.chain.stores, b)
        values = [s.args[1] for s in self.chain.stores if not self.of.parts_of(s.args[1])]
        sliced.decide([v for v in values if isinstance(v, Var)])
        self.of.rely(stores_by_range)
        with building(b):
            base: Any = self.first.args[0]
            if fresh:
                base = empty(shape=self.target.type.shape, dtype=self.target.type.dtype)
            for part in sorted(stores_by_range, key=lambda p: not isinstance(p[1] - p[0], int)):
                base = self.part(base, part, stores_by_range[part], fresh, sliced)
            if not any(base is v for t in b.blocks[0][-1:] for v in outputs(t)):
                copy(base)  # all of it is a value that is there already
        *before, last = b.blocks[0]
        assert isinstance(last, Let)
        replacements: dict[int, list[Statement]] = {id(s): [] for s in self.chain.stores}
        if fresh:
            replacements[id(self.of.memory.defs[self.first.args[0]])] = []  # type: ignore[index]
        replacements[id(self.last)] = [*before, replace(last, outs=self.last.outs)]
        if fresh and self.rank == self.target.type.ndim:
            self.of.known[self.target] = (self.axis, self.values)
        return replacements

    def part(self, base: Any, part: Range, stores: list[Any], fresh: bool, sliced: Sliced) -> Any:
        """A store of all that goes to one part."""
        terms: list[Any] = []
        adds = not fresh
        for s, r in stores:
            if s.op is update:
                terms, adds = [], False
            terms.append(self.term(s.args[1], r, part, sliced))
        if adds and not terms:
            return base
        terms = [t for t in terms if not _zero(t)] or [self.zero()]
        dtype = self.target.type.dtype
        value = functools.reduce(add, (cast_to(t, dtype) for t in terms))
        self.values[part] = value
        rest: list[Atom] = []
        key = list(key_of(self.axis, *part, self.target.type.shape[self.axis], rest))
        for k, e in enumerate(self.chain.targets[0]):
            if k != self.axis:
                key[k : k + 1] = [self.entry_of_common_axis(e, self.target.type.shape[k], rest)]
        return (add_at if adds else update)(base, value, *rest, key=tuple(key))

    def entry_of_common_axis(self, e: Any, n: Size, rest: list[Atom]) -> Any:
        """The entry of a key for an axis along which all parts are the same."""
        if isinstance(e, tuple):
            return key_of(0, e[0], e[1], n, rest)[0]
        if isinstance(e, int):
            return e
        rest.append(e)
        return Slot(len(rest) - 1)

    def zero(self) -> Literal:
        dtype = self.target.type.dtype
        return Literal(dtype.type(0), replace(self.target.type, shape=(), weak=False))

    def term(self, v: Atom, have: Range, part: Range, sliced: Sliced) -> Atom:
        """What a store puts to a part."""
        axis = self.at - (self.rank - v.type.ndim)
        if not varies_along(v, axis):
            return v
        if self.of.canon(v.type.shape[axis]) != have[1] - have[0]:
            raise Unsliced
        for (a, b), value in self.values_of_parts(v, have).items():
            low, high = have[0] + a, have[0] + b
            if not_negative(part[0] - low, self.of.facts) and not_negative(
                high - part[1], self.of.facts
            ):
                return self.piece(value, part[0] - low, part[1] - low, sliced)
        return sliced.part(v, axis, part[0] - have[0], part[1] - have[0])

    def piece(self, value: Atom, start: Size, stop: Size, sliced: Sliced) -> Atom:
        axis = self.at - (self.rank - value.type.ndim)
        return sliced.part(value, axis, start, stop) if varies_along(value, axis) else value


def _is_whole_read(s: Let) -> bool:
    """Whether a statement reads all of an array as it is."""
    return s.op is index and all(e in (slice(None), slice(0, None)) for e in s.params["key"])


def _zero(a: Any) -> bool:
    return isinstance(a, Literal) and a.value == 0
