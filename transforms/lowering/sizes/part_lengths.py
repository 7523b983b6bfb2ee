"""Lengths of parts by the indices of the loops around, where a pass that made the loop knew less.

for i in range(n): v: f8[length] = x[i:n]      becomes      for i in range(n): v: f8[n - i] = x[i:n]

A derivative reads and stores the parts that its function does, in loops of its own, and asks no
more than whether they fit. What has the same length can share a loop, and needs no check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import building
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Block,
    For,
    Let,
    Statement,
    Type,
    Var,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.size_inequalities import Relation, Relied, facts_of
from tapeless.transforms.core.substitution import map_symbols
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.lowering.sizes.size_equalities import comparison, fitted
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.slices_and_gathers import index, result_shape


def part_lengths(block: Block, relations: Iterable[Relation]) -> Block:
    """The block, in which types in loops name lengths by the indices of these loops."""
    facts = facts_of(relations, block)
    if not facts.ranges:
        return block
    relied = Relied(facts)
    relied.definitions = {v: s for s in statements(block) if isinstance(s, Let) for v in s.outs}
    return _Lengths(relied).block(block, {}, frozenset())


class _Lengths:
    """`relied` knows the values that indices of loops can have."""

    def __init__(self, relied: Relied) -> None:
        self.relied = relied

    def block(
        self, block: Block, around: dict[dims.Symbol, Size], indices: frozenset[Var]
    ) -> Block:
        """A block, in which symbols are other sizes.

        around   what they are around it
        indices  of the loops that are open
        """
        equal = dict(around)
        for p in block.params:
            _rename(p, equal)
        body: list[Statement] = []
        parts = [s for s in block.body if indices and isinstance(s, Let) and s.op is index]
        for s in parts:
            self.part(s, equal, indices)
        for s in block.body:
            if isinstance(s, Let):
                renamed = replace(s, params=map_symbols(s.params, equal)) if equal else s
                for v in s.outs:
                    _rename(v, equal)
                if s.op is index and indices:
                    self.part(renamed, equal, indices)
                if s.op is identity and indices and isinstance(s.outs[0].type, Type):
                    body += self.renamed(renamed, equal)
                else:
                    body.append(renamed)
                continue
            inside = indices | {s.index} if isinstance(s, For) else indices
            body.append(with_blocks(s, lambda b, i=inside: self.block(b, equal, i)))  # type: ignore[misc]
            for v in outputs(s):
                _rename(v, equal)
        return replace(block, body=tuple(body))

    def part(self, s: Let, equal: dict[dims.Symbol, Size], indices: frozenset[Var]) -> None:
        """Notes what symbols in the type of a part are, if its ends say it."""
        (part,) = s.outs
        if all(map(dims.is_given, part.type.shape)):
            return
        with building(self.relied):
            shape = result_shape(s.args[0].type.shape, s.params["key"], s.args[1:])
        for old, new in zip(part.type.shape, shape, strict=True):
            if old != new and all(x.given or x.var in indices for x in dims.symbols(new)):
                equal.update(_solved(old, new, indices))
        _rename(part, equal)

    def renamed(self, s: Let, equal: dict[dims.Symbol, Size]) -> Iterator[Statement]:
        """An array under another name: notes what symbols in its type are, or checks that it is
        as long as parts with these symbols."""
        (array,), (value,) = s.outs, s.args
        for old, new in zip(array.type.shape, value.type.shape, strict=True):
            if old != new:
                equal.update(_solved(old, new, frozenset()))
        _rename(array, equal)
        pairs = zip(array.type.shape, value.type.shape, strict=True)
        apart = [(n, m) for n, m in pairs if n != m and not (dims.is_given(n) and dims.is_given(m))]
        for n, m in apart:
            yield from comparison(n, m, s.origin)
        if apart:
            yield replace(s, op=fitted, params={"shape": array.type.shape})
        else:
            yield s


def _solved(old: Size, new: Size, indices: frozenset[Var]) -> dict[dims.Symbol, Size]:
    """What the one symbol of a size is that is neither given nor an index of an open loop."""
    unknown = [x for x in dims.symbols(old) if not x.given and x.var not in indices]
    if len(unknown) != 1:
        return {}
    (x,) = unknown
    factor = dict(dims.terms_of(old)).get((x,))
    rest = old - dims.single(x) * (factor or 0)
    if factor not in (1, -1) or x in dims.symbols(rest):
        return {}
    return {x: (new - rest) * factor}


def _rename(v: Var, equal: dict[dims.Symbol, Size]) -> None:
    if isinstance(v.type, Type) and not equal.keys().isdisjoint(sizes_in(v.type)):
        v.type = v.type.with_shape(tuple(dims.substitute(n, equal.get) for n in v.type.shape))
