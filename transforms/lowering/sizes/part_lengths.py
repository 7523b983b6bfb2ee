"""Spells the lengths of parts by the indices of the loops around, where a pass that made the loop
knew less of them.

for i in range(n): v: f8[length] = x[i:n]      becomes      for i in range(n): v: f8[n - i] = x[i:n]

A derivative reads and stores the parts that its function does, in loops of its own, and asks no
more than whether they fit. What has the same length can share a loop, and needs no check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field, replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import building, var_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Block,
    For,
    Let,
    Statement,
    Type,
    Var,
    While,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.size_inequalities import Facts, Relation, Relied, facts_of
from tapeless.transforms.core.size_value import INT, size_value
from tapeless.transforms.core.substitution import map_symbols
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.sizes.size_equalities import comparison, fitted
from tapeless.transforms.ops.primitives.axis_lengths import axis_size
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.slices_and_gathers import (
    add_at,
    index,
    result_shape,
    update,
)
from tapeless.transforms.ops.primitives.stacks import POPS


def part_lengths(block: Block, relations: Iterable[Relation]) -> Block:
    """The block, in which types in loops spell lengths by the indices of these loops.

    relations  what the program relies on of sizes
    """
    facts = facts_of(relations, block)
    if not any(isinstance(s, (For, While)) for s in statements(block)):
        return block
    relied = Relied(facts)
    relied.definitions = {v: s for s in statements(block) if isinstance(s, Let) for v in s.outs}
    return _Lengths(relied, frozenset(block.params)).block(block, _Equal(), frozenset())


@dataclass
class _Equal:
    """What sizes are by the indices of the loops around: `symbols`, and `sizes` as they are."""

    symbols: dict[dims.Symbol, Size] = field(default_factory=dict)
    sizes: dict[Size, Size] = field(default_factory=dict)

    def copy(self) -> _Equal:
        return _Equal(dict(self.symbols), dict(self.sizes))

    def canonical_size(self, size: Size) -> Size:
        if size in self.sizes:
            return self.sizes[size]
        return dims.substitute(size, self.symbols.get)

    def rename(self, v: Var) -> None:
        if isinstance(v.type, Type) and (self.symbols or self.sizes):
            shape = tuple(map(self.canonical_size, v.type.shape))
            if shape != v.type.shape:
                v.type = v.type.with_shape(shape)

    def in_params(self, s: Let) -> Let:
        """A statement with parameters that are spelled so."""
        params = map_symbols(s.params, self.symbols) if self.symbols else s.params
        shape = params.get("shape")
        if self.sizes and isinstance(shape, tuple):
            params = params | {"shape": tuple(map(self.canonical_size, shape))}
        return s if params is s.params else replace(s, params=params)


class _Lengths:
    """`relied` knows the values that indices of loops can have; `scope` is what is defined here,
    `params` everywhere."""

    def __init__(self, relied: Relied, params: frozenset[Var]) -> None:
        self.relied, self.params = relied, params
        self.scope: set[Var] = set()
        self.loops = 0  # that are open

    @contextmanager
    def inside_of(self, indices: frozenset[Var]) -> Iterator[None]:
        """Operations called inside rely on what is so in passes of these loops: that there is one,
        also says something of the ends of the loops."""
        facts, ranges = self.relied.facts, self.relied.facts.ranges
        passes = [ranges[v][1] - ranges[v][0] for v in indices if v in ranges]
        self.relied.facts = Facts([*facts.sizes, *passes], ranges)
        with building(self.relied):
            yield
        self.relied.facts = facts

    def block(self, block: Block, around: _Equal, indices: frozenset[Var]) -> Block:
        """A block, in which sizes are spelled by the indices.

        around   what they are around it
        indices  of the loops that are open
        """
        equal, before = around.copy(), set(self.scope)
        self.scope.update(block.params)
        for p in block.params:
            equal.rename(p)
        lets = [s for s in block.body if isinstance(s, Let)] if indices else []
        for s in lets:
            if s.op is index:
                self.part(s, equal, indices)
        for symbol, size in self.lengths_of_stored(lets, indices).items():
            equal.symbols.setdefault(symbol, size)
        body: list[Statement] = []
        for t in block.body:
            if isinstance(t, Let):
                body += self.let(t, equal, indices)
                continue
            inside = indices | {t.index} if isinstance(t, For) else indices
            self.loops += isinstance(t, (For, While))
            body.append(with_blocks(t, lambda b, i=inside: self.block(b, equal, i)))  # type: ignore[misc]
            self.loops -= isinstance(t, (For, While))
            for v in outputs(t):
                equal.rename(v)
            self.scope.update(outputs(t))
        self.scope = before
        return replace(block, body=tuple(body))

    def let(self, s: Let, equal: _Equal, indices: frozenset[Var]) -> Iterator[Statement]:
        s = equal.in_params(s)
        self.scope.update(s.outs)
        for v in s.outs:
            equal.rename(v)
        if s.op is index and indices:
            self.part(s, equal, indices)
        if s.op is axis_size and self.loops:
            length = s.args[0].type.shape[s.params["axis"]]
            yield replace(s, op=size_value, args=(), params={"size": length})
        elif s.op is identity and indices and isinstance(s.outs[0].type, Type):
            yield from self.lengths_of_renamed(s, equal, indices)
        else:
            yield s
        if s.op in POPS and isinstance(s.outs[1].type, Type):
            yield from self.lengths_of_kept(s.outs[1], equal)

    def lengths_of_kept(self, array: Var, equal: _Equal) -> Iterator[Statement]:
        """The lengths of an array that a list kept, where its type says them by what another pass
        computed."""
        for axis, old in enumerate(array.type.shape):
            if all(x.var is None or x.var in self.scope for x in dims.symbols(old)):
                continue
            length = Var(INT, "length")
            self.scope.add(length)
            yield Let((length,), axis_size, (array,), {"axis": axis})
            new = var_size(length, 0)
            solved = _solve_for_symbol(old, new, frozenset())
            equal.symbols.update(solved)
            if not solved:
                equal.sizes[old] = new
        equal.rename(array)

    def part(self, s: Let, equal: _Equal, indices: frozenset[Var]) -> None:
        """Notes what symbols in the type of a part are, if its ends say it."""
        (part,) = s.outs
        if all(map(dims.is_given, part.type.shape)):
            return
        with self.inside_of(indices):
            shape = result_shape(s.args[0].type.shape, s.params["key"], s.args[1:])
        for old, new in zip(part.type.shape, shape, strict=True):
            if old != new and _is_spelled(new, indices | self.params):
                equal.symbols.update(_solve_for_symbol(old, new, indices | self.params))
        equal.rename(part)

    def lengths_of_stored(
        self, lets: list[Let], indices: frozenset[Var]
    ) -> dict[dims.Symbol, Size]:
        """The lengths of arrays under other names by those of the parts to which what is made of
        them is stored: whether that is so, is checked where they get the name."""
        lengths: dict[dims.Symbol, Size] = {}
        named_anew = [s for s in lets if s.op is identity]
        checked = {
            x for s in named_anew for x in sizes_in(s.outs[0].type) - sizes_in(s.args[0].type)
        }
        for s in lets if checked else ():
            if s.op not in (update, add_at) or checked.isdisjoint(sizes_in(s.args[1].type)):
                continue
            with self.inside_of(indices):
                space = result_shape(s.args[0].type.shape, s.params["key"], s.args[2:])
            have = s.args[1].type.shape
            for old, new in zip(reversed(have), reversed(space), strict=False):
                if _is_spelled(new, indices | self.params):
                    solved = _solve_for_symbol(old, new, indices | self.params)
                    lengths.update({x: n for x, n in solved.items() if x in checked})
        return lengths

    def lengths_of_renamed(
        self, s: Let, equal: _Equal, indices: frozenset[Var]
    ) -> Iterator[Statement]:
        """An array under another name: notes what sizes in its type are, or checks that it is as
        long as parts of which the indices tell that."""
        (array,), (value,) = s.outs, s.args
        for old, new in zip(array.type.shape, value.type.shape, strict=True):
            if old != new and not _is_spelled(old, indices | self.params):
                equal.symbols.update(_solve_for_symbol(old, new, frozenset()))
                if equal.canonical_size(old) != new:
                    equal.sizes[old] = new
        equal.rename(array)
        pairs = zip(array.type.shape, value.type.shape, strict=True)
        apart = [(n, m) for n, m in pairs if n != m and not (dims.is_given(n) and dims.is_given(m))]
        for n, m in apart:
            yield from comparison(n, m, s.origin)
        yield replace(s, op=fitted, params={"shape": array.type.shape}) if apart else s


def _is_spelled(size: Size, integers: frozenset[Var]) -> bool:
    """Whether a size is one of inputs and of integers such as the indices of open loops."""
    return all(x.given or x.var in integers for x in dims.symbols(size))


def _solve_for_symbol(old: Size, new: Size, integers: frozenset[Var]) -> dict[dims.Symbol, Size]:
    """What the one symbol of a size is that is neither given nor one of some integers."""
    unknown = [x for x in dims.symbols(old) if not x.given and x.var not in integers]
    if len(unknown) != 1:
        return {}
    (x,) = unknown
    factor = dict(dims.terms_of(old)).get((x,))
    rest = old - dims.single(x) * (factor or 0)
    if factor not in (1, -1) or x in dims.symbols(rest):
        return {}
    return {x: (new - rest) * factor}
