"""Finds loops with independent passes: each stores to elements of its own, and reads none that
another stores to.

for i: row = f(x[i]); out[i] = row; total += sum(row)

Threads may share such passes; what they add to a number is put together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    While,
    blocks,
    operands,
    outputs,
    statements,
)
from tapeless.transforms.lowering.schedule.dependences import Dependences, is_array, size_of_atom
from tapeless.transforms.ops.primitives.arithmetic import add, sub
from tapeless.transforms.ops.primitives.random_draws import draw
from tapeless.transforms.ops.primitives.slices_and_gathers import (
    Slot,
    add_at,
    gather,
    index,
    update,
)

STORES = frozenset([update, add_at])
PICKS = frozenset([index, gather])


def joins_of_independent_passes(
    memory: Dependences, s: For, may_share: Callable[[Let], bool], shared: set[Let]
) -> dict[Var, str] | None:
    """How the numbers that a loop results in are put together from those of its parts; None if its
    passes depend on each other.

    may_share  whether threads can make an addition to an element at once
    shared     gets the additions to elements of which several passes may have the same
    """
    if s.until or s.count is not None or s.step != Literal(1, s.step.type):
        return None
    if not dims.at_least(size_of_atom(memory, s.start), 0):
        return None  # an index below zero may name the same element as one above
    passes = Passes(memory, s, may_share)
    joined = passes.combined_results()
    if joined is None or not passes.are_apart():
        return None
    shared.update(passes.additions)
    return joined


class Passes:
    """`cells` is the memory that passes store to; `additions` are those to elements that several
    may have, and `own_axes` are the axes of other memory along which each pass has a place of its
    own."""

    def __init__(self, memory: Dependences, s: For, may_share: Callable[[Let], bool]) -> None:
        self.memory, self.loop, self.may_share = memory, s, may_share
        self.additions: list[Let] = []
        self.own_axes: dict[Var, set[int]] = {}
        self.cells = {memory.cell(p) for p in s.carries if is_array(p)}
        inside = list(statements(s.body))
        self.uses = Counter(a for t in inside for a in operands(t))
        results = (b.results for b in (s.body, *(b for t in inside for b in blocks(t))))
        self.uses.update(a for atoms in results for a in atoms)
        self.reads: Counter[Var] = Counter()

    def combined_results(self) -> dict[Var, str] | None:
        s, combined = self.loop, {}
        for k, (p, y) in enumerate(zip(s.carries, s.yields, strict=True)):
            if is_array(p):
                if not self.memory.in_place(s, k):
                    return None
            elif self.only_adds(p, y, s.inits[k]):
                combined[s.outs[k]] = "sum"
            else:
                return None
        return combined if self.block(s.body) else None

    def only_adds(self, p: Var, y: Atom, init: Atom) -> bool:
        """Whether passes only add to a number, which is zero at first."""
        zero = isinstance(init, Literal) and init.value == 0
        number = isinstance(p.type, Type) and p.type.dtype.kind == "f"
        self.reads.clear()
        is_sum = zero and number and self.adds(y, p)
        return is_sum and all(self.uses[v] == count for v, count in self.reads.items())

    def adds(self, y: Atom, p: Var) -> bool:
        """Whether a value is `p` with something added; notes what it reads for that."""
        if not isinstance(y, Var):
            return False
        self.reads[y] += 1
        if y is p or self.reads[y] > 1:
            return True
        definition = self.memory.defs.get(y)
        match definition:
            case Let(op=op, args=(left, right)) if op in (add, sub):
                return self.adds_or_not(left, p) or (op is add and self.adds(right, p))
            case If(outs=outs):
                return all(self.adds(b.results[outs.index(y)], p) for b in blocks(definition))
            case For(outs=outs) if y in outs:
                k = outs.index(y)
                return self.adds(definition.yields[k], definition.carries[k]) and self.adds(
                    definition.inits[k], p
                )
        return False

    def adds_or_not(self, y: Atom, p: Var) -> bool:
        """The same of a value that may have nothing to do with it."""
        before = Counter(self.reads)
        adds = self.adds(y, p)
        if not adds:
            self.reads = before
        return adds

    # -- memory that is stored to

    def block(self, block: Block) -> bool:
        return all(map(self.statement, block.body))

    def statement(self, s: Statement) -> bool:
        match s:
            case Let():
                return s.op is not draw and self.let(s)
            case For() | While():
                return all(
                    self.memory.in_place(s, k) or not self.is_shared(a)
                    for k, a in enumerate(s.inits)
                ) and all(map(self.block, blocks(s)))
            case If():
                return all(map(self.block, blocks(s))) and all(
                    self.is_shared(v) or not self.is_shared(a)
                    for b in blocks(s)
                    for v, a in zip(outputs(s), b.results, strict=True)
                )
        return not any(map(self.is_shared, operands(s)))

    def let(self, s: Let) -> bool:
        """Whether only the element of this pass is touched."""
        touched = [a for a in s.args if self.is_shared(a)]
        if not touched:
            return True
        if touched != [s.args[0]] or s.op not in STORES | PICKS:
            return False
        key, rest = s.params["key"], s.args[2 if s.op in STORES else 1 :]
        entries = [e for e in key if e is not None]  # one for each axis
        axes = {
            axis
            for axis, e in enumerate(entries)
            if isinstance(e, Slot) and rest[e.k] is self.loop.index
        }
        if axes:
            array = self.array_of(s)
            self.own_axes[array] = self.own_axes.get(array, axes) & axes
            return True
        self.additions.append(s)
        return self.may_share(s)

    def are_apart(self) -> bool:
        """Whether passes have places of their own along an axis of what they do not only add to."""
        added = set(map(self.array_of, self.additions))
        return all(self.own_axes.values()) and self.own_axes.keys().isdisjoint(added)

    def array_of(self, s: Let) -> Var:
        """The memory of the array whose elements a statement reads or stores to."""
        array = s.args[0]
        assert isinstance(array, Var)
        return self.memory.cell(array)

    def is_shared(self, a: Atom) -> bool:
        return isinstance(a, Var) and is_array(a) and self.memory.cell(a) in self.cells
