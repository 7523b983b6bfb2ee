"""Takes a loop apart into loops and products of all passes.

for i: h = f(x[i] @ w); s += h @ h
    becomes      ys = x @ w; for i: h = f(ys[i]); s += h @ h
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.builder import building
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Let,
    Literal,
    Statement,
    Type,
    Var,
)
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.lowering.distribution.levels import (
    AHEAD,
    Dependence,
    levels,
    values_of_pass,
)
from tapeless.transforms.lowering.distribution.products import PassProduct, Sum, products, sums
from tapeless.transforms.lowering.distribution.rows import RowsOfPasses
from tapeless.transforms.lowering.rewrite.formulas import Formula
from tapeless.transforms.ops.primitives.arithmetic import add, sub
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, add_at, index, update


class Distribution:
    """One loop of `count` passes, without the sums that are made after it.

    products  those that leave the loop
    sums      what is added to carries after it, each with what it is added to, and the result
    level     in which of the loops each statement and each carry is
    kept      the values that a loop hands on, each with the array that has them as rows
    is_possible  whether all of them can be kept so
    """

    def __init__(self, loop: For, count: Size, only_ahead: bool) -> None:
        self.count, self.inside = count, values_of_pass(loop)
        assert isinstance(loop.start, Literal)
        self.start: int = loop.start.value
        outer_products = [
            s for s in sums(loop, self.inside) if self.have_lengths_that_last(_factors(s))
        ]
        self.loop, self.sums = without_sums(loop, outer_products)
        self.dependence = Dependence(self.loop)
        self.rows = RowsOfPasses(
            loop.index, self.start, count, self.dependence.definitions, self.inside
        )
        self.products = {p.let: p for p in self.free_products()}
        ahead = {s for s, p in self.products.items() if self.rows.rows_of(p.value) is not None}
        if only_ahead:
            self.products = {s: p for s, p in self.products.items() if s in ahead}
        self.level = levels(self.dependence, self.products, ahead)
        handed_on = self.handed_on()
        self.is_possible = self.have_lengths_that_last(handed_on) and all(map(_has_rows, handed_on))
        self.kept = {v: self.array_of(v) for v in handed_on} if self.is_possible else {}
        self.of_all = {s.outs[0]: self.array_of(s.outs[0]) for s in self.products}

    def free_products(self) -> Iterator[PassProduct]:
        """The products that do not depend on themselves in an earlier pass."""
        for p in products(self.loop, self.inside):
            out = p.let.outs[0]
            if self.have_lengths_that_last([p.value, out]) and not self.dependence.is_circular(out):
                yield p

    def have_lengths_that_last(self, values: Iterable[Var]) -> bool:
        """Whether the lengths of values are the same in each pass."""
        sizes = frozenset(x for v in values for x in sizes_in(v.type))
        return all(x.given or (x.var is not None and x.var not in self.inside) for x in sizes)

    def array_of(self, v: Var) -> Var:
        """The array of a value in all passes."""
        shape = (self.count, *v.type.shape)
        return Var(Type(v.type.dtype, shape), f"{v.name}_rows" if v.name else "rows")

    # -- what is kept

    def handed_on(self) -> list[Var]:
        """The values that products, sums and later loops read of an earlier loop."""
        operands = [p.value for p in self.products.values()]
        operands += [v for s, _, _ in self.sums for v in _factors(s)]
        read = dict.fromkeys(v for v in operands if self.rows.rows_of(v) is None)
        for level in range(1, self.last_level + 1):
            read.update(dict.fromkeys(self.from_before(level)[0]))
        results = {s.outs[0] for s in self.products}
        return [v for v in read if v not in results]

    @property
    def last_level(self) -> int:
        return max([0, *self.level.values()])

    def from_before(self, level: int) -> tuple[list[Var], list[Statement]]:
        """What a loop reads of earlier loops, and the statements that it makes again for that."""
        needed: dict[Var, None] = {}
        again: set[Statement] = set()
        stack = [v for node in self.nodes(level) for v in self.dependence.needs_of(node)]
        while stack:
            v = stack.pop()
            s = self.dependence.definitions.get(v)
            if v not in self.of_product and self.level[v if s is None else s] >= level:
                continue
            if (cheap := self.made_again(v)) is None:
                needed[v] = None
            elif cheap not in again:
                again.add(cheap)
                stack += self.dependence.reads[cheap]
        return [*needed], [s for s in self.loop.body.body if s in again]

    def nodes(self, level: int) -> list[Any]:
        """The carries and statements of a loop."""
        return [n for n, k in self.level.items() if k == level and n not in self.products]

    @functools.cached_property
    def of_product(self) -> set[Var]:
        return {s.outs[0] for s in self.products}

    def made_again(self, v: Var) -> Let | None:
        """The statement of a value that is as well made again as kept: a part of an array from
        outside, or an integer computed of the index."""
        s = self.dependence.definitions.get(v)
        if not isinstance(s, Let) or s in self.products or not s.op.pure or s.op.costly:
            return None
        number = isinstance(v.type, Type) and not v.type.shape and v.type.dtype.kind == "i"
        if not (s.op.view or s.op is index or (number and s.op in (add, sub))):
            return None
        of = self.dependence.reads[s]
        return s if all(self.made_again(u) is not None for u in of) else None

    # -- the new statements

    def run(self) -> list[Statement]:
        """The loops and products, in order."""
        new = self.products_after(AHEAD)
        for level in range(self.last_level + 1):
            new += [*self.loop_of(level), *self.products_after(level)]
        for s, before, out in self.sums:
            new += self.record_formula(
                self.loop, out, functools.partial(s.of_all, before, self.rows_of)
            )
        return new

    def products_after(self, level: int) -> list[Statement]:
        """The products of all passes whose operands the loop of a level has filled."""
        new: list[Statement] = []
        for s, p in self.products.items():
            if self.level[s] == level:
                record = functools.partial(_of_rows, p, self.rows_of)
                new += self.record_formula(s, self.of_all[s.outs[0]], record)
        return new

    def rows_of(self, v: Var) -> Atom:
        """The array of a value in all passes; recorded, where it is a part of another."""
        there = self.rows.rows_of(v)
        return self.array(v) if there is None else there()

    def array(self, v: Var) -> Var:
        """The array of a value that is kept, or of a product."""
        return self.of_all[v] if v in self.of_all else self.kept[v]

    def record_formula(self, s: Statement, out: Var, record: Callable[[], Atom]) -> list[Statement]:
        """The statements that a formula records; its result is `out`."""
        b = Formula()
        b.origin = s.origin
        with building(b):
            result = record()
        return [*b.blocks[0], Let((out,), identity, (result,), {}, s.origin)]

    def loop_of(self, level: int) -> list[Statement]:
        """The loop of a level, after the arrays that it fills."""
        own = [v for v in self.kept if self.home(v) == level]
        carries = [k for k, c in enumerate(self.loop.carries) if self.level[c] == level]
        if not own and not carries:
            return []
        b = Formula()
        b.origin = self.loop.origin
        with building(b):
            types = [self.kept[v].type for v in own]
            filled = [empty(shape=t.shape, dtype=t.dtype) for t in types]
        body = self.body_of(level, carries, own)
        loop = replace(
            self.loop,
            outs=(*(self.loop.outs[k] for k in carries), *(self.kept[v] for v in own)),
            inits=(*(self.loop.inits[k] for k in carries), *filled),
            body=refresh(body)[0] if level else body,
            mirror=None,
        )
        return [*b.blocks[0], loop]

    def home(self, v: Var) -> int:
        """The loop that makes a value."""
        s = self.dependence.definitions.get(v)
        return self.level[v if s is None else s]

    def body_of(self, level: int, carries: list[int], own: list[Var]) -> Block:
        """The body of the loop of a level.

        carries  the places of the carries of the loop
        own      the values that it keeps
        """
        needed, again = self.from_before(level)
        arrays = [Var(self.kept[v].type, self.kept[v].name) for v in own]
        b = Formula()
        b.origin = self.loop.origin
        with building(b):
            row = self.loop.index if self.start == 0 else sub(self.loop.index, self.start)
            for v in needed:
                b.let((v,), index, (self.array(v), row), {"key": _row_key(v)})
            kept = dict(zip(own, arrays, strict=True))
            for v in own:
                if v in self.dependence.next:
                    kept[v] = update(kept[v], v, row, key=_row_key(v))
            statements = {*self.nodes(level)} | {*again}
            for s in self.loop.body.body:
                if s in statements:
                    b.emit(s)
                    for v in own:
                        if v in s.outs:
                            kept[v] = update(kept[v], v, row, key=_row_key(v))
        params = (self.loop.index, *(self.loop.carries[k] for k in carries), *arrays)
        yields = (*(self.loop.yields[k] for k in carries), *kept.values())
        return Block(params, tuple(b.blocks[0]), yields)

    @property
    def multiplications(self) -> list[Size]:
        """The numbers of them in one pass, of each product that leaves the loop."""
        in_sums = [t.multiplications for s, _, _ in self.sums for t in s.terms]
        return [*(p.multiplications for p in self.products.values()), *in_sums]

    @property
    def row_types(self) -> list[Type]:
        """Of what each pass reads of arrays from outside, and stores into arrays: there is memory
        for as much as that for each pass."""
        types: list[Type] = []
        for s in self.loop.body.body:
            if not isinstance(s, Let) or s.args[-1:] == () or not self.is_place(s.args[-1]):
                continue
            if s.op is index and s.args[0] not in self.inside:
                types.append(s.outs[0].type)
            elif s.op in (update, add_at):
                types.append(s.args[1].type)
        return types

    def is_place(self, a: Atom) -> bool:
        """Whether an integer goes on from pass to pass as the index does."""
        return a is self.loop.index or self.rows.shift(a) is not None


def _has_rows(v: Var) -> bool:
    """Whether an array holds values of a type as they are."""
    return isinstance(v.type, Type) and not v.type.weak


def _row_key(v: Var) -> tuple[Any, ...]:
    return (Slot(0), *[slice(None)] * v.type.ndim)


def _of_rows(p: PassProduct, rows_of: Callable[[Var], Atom]) -> Atom:
    return p.of_rows(rows_of(p.value))


def _factors(s: Sum) -> list[Var]:
    return [v for term in s.terms for v in (term.a, term.b)]


def without_sums(loop: For, removed: list[Sum]) -> tuple[For, list[tuple[Sum, Atom, Var]]]:
    """The loop without what is added after it; for each sum what it is added to, and the result.

    Of a carry to which the loop adds something else, that stays.
    """
    body = [s for s in loop.body.body if not any(s in r.within for r in removed)]
    inits, yields = dict(enumerate(loop.inits)), dict(enumerate(loop.yields))
    outs, carries = dict(enumerate(loop.outs)), dict(enumerate(loop.carries))
    after: list[tuple[Sum, Atom, Var]] = []
    for s in removed:
        k, result = s.carry, loop.outs[s.carry]
        if not s.others:
            after.append((s, loop.inits[k], result))
            del inits[k], outs[k], carries[k], yields[k]
            continue
        b = Formula()
        b.origin = loop.origin
        with building(b):
            total: Atom = loop.carries[k]
            for other, negative in s.others:
                total = (sub if negative else add)(total, other)
        body += b.blocks[0]
        yields[k], outs[k] = total, Var(result.type, result.name, result.origin)
        after.append((s, outs[k], result))
    lean = replace(
        loop,
        inits=tuple(inits.values()),
        outs=tuple(outs.values()),
        body=Block((loop.index, *carries.values()), tuple(body), tuple(yields.values())),
    )
    return lean, after
