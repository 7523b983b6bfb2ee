"""Keeps arrays whose lengths change from pass to pass of a loop in memory for the longest of them.

for _ in range(n):                            memory = empty(len(v)); memory[:] = v; length = len(v)
    v = 0.5 * (v[1:] + v[:-1])    becomes     for _ in range(n):
                                                  v = memory[:length]; v = 0.5 * (v[1:] + v[:-1])
                                                  length = len(v); memory[:length] = v

A kernel has memory of lengths that are known before its loops begin; without it, every pass is a
call, or several, of the driver.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from tapeless.transforms.analysis.free_variables import axes
from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import var_size
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    StackType,
    Statement,
    Type,
    Var,
    While,
    blocks,
    is_undefined,
    operands,
    outputs,
    statements,
    with_blocks,
)
from tapeless.transforms.core.size_value import INT
from tapeless.transforms.core.substitution import refresh
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.lists.growing_rows import integer
from tapeless.transforms.lowering.lists.list_lengths import with_sizes
from tapeless.transforms.lowering.sizes.bounded_lengths import (
    Bounds,
    Shown,
    changing_axes,
    is_shown,
)
from tapeless.transforms.lowering.sizes.size_equalities import single_symbol
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.new_arrays import empty
from tapeless.transforms.ops.primitives.shapes import copy
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index, update


def in_longest_memory(block: Block) -> Block:
    """The block, whose loops carry such memory and lengths; the same one if no loop needs any."""
    if not any(isinstance(s, (For, While)) for s in block.body):
        return block
    single = with_single_lengths(block, frozenset())
    rewriter = LongestMemory(single)
    longer = rewriter.block(single, frozenset())
    return with_sizes(longer, rewriter.final) if rewriter.final else block


@dataclass(frozen=True)
class ChangingLength:
    """A length of arrays that a loop carries.

    symbol   it in a pass
    first    before the loop
    after    at the end of the pass
    most     no array is longer
    begins   nor than this as a pass begins
    """

    symbol: dims.Symbol
    first: Size
    after: Size
    most: Size
    begins: Size


class LongestMemory:
    """`final` are the lengths behind loops, by the symbols that stood for them; `kept` are values
    that more is done with than to read them."""

    def __init__(self, program: Block) -> None:
        self.bounds = Bounds(program)
        self.final: dict[dims.Symbol, Size] = {}
        self.kept = set(_values_kept(program))

    def block(self, block: Block, shown: Shown) -> Block:
        shown = {*shown, *block.params, *axes(block.params)}
        body: list[Statement] = []
        for s in block.body:
            inner = with_blocks(s, lambda b: self.block(b, shown))  # noqa: B023
            if isinstance(inner, (For, While)):
                body += self.loop(s, inner, shown)  # type: ignore[arg-type]
            else:
                body.append(inner)
            if isinstance(s, If):
                self.bounds.learn_branch(s, shown)
            elif isinstance(s, Let):
                self.bounds.learn_names(s, shown)
            shown |= {*outputs(s), *axes(outputs(s))}
        return replace(block, body=tuple(body))

    def loop(self, s: For | While, new: For | While, shown: Shown) -> list[Statement]:
        """A loop with memory for the arrays that change their lengths.

        s    as it was
        new  with such loops inside of it written anew
        """
        lengths = self.lengths(s, shown)
        if not lengths:
            return [new]
        loop = LoopInMemory(new, lengths, shown)
        self.bounds.greatest |= {n: lengths[x].most for n, x in loop.results.items()}
        written, variables = loop.statements(self.kept)
        self.final |= {n: var_size(variables[x]) for n, x in loop.results.items()}
        return written

    def lengths(self, s: For | While, shown: Shown) -> dict[dims.Symbol, ChangingLength]:
        """The lengths that change from pass to pass, and are bounded."""
        places: dict[dims.Symbol, list[tuple[int, int]]] = {}
        rows = _carried(s)
        for k, (p, *_) in enumerate(rows):
            for axis, x in changing_axes(p, shown):
                places.setdefault(x, []).append((k, axis))
        lengths: dict[dims.Symbol, ChangingLength] = {}
        for x, where in places.items():
            ends = [self.ends(rows[k], axis) for k, axis in where]  # all equal: types say so
            bounds = [e and self.bounds.longest(s, x, *e, shown) for e in ends]
            if None in bounds or ends[0] is None:
                continue
            most, begins = (functools.reduce(dims.maximum, b) for b in zip(*bounds, strict=True))  # type: ignore[misc]
            lengths[x] = ChangingLength(x, *ends[0], most, begins)
            self.bounds.greatest[x] = begins
        return self.whole_arrays(rows, lengths, shown)

    @staticmethod
    def ends(row: tuple[Any, ...], axis: int) -> tuple[Size, Size] | None:
        """How long a carry is before the loop and at the end of a pass."""
        _, init, after, _ = row
        if is_undefined(init) or is_undefined(after):
            return None
        return init.type.shape[axis], after.type.shape[axis]

    def whole_arrays(
        self,
        rows: list[tuple[Any, ...]],
        lengths: dict[dims.Symbol, ChangingLength],
        shown: Shown,
    ) -> dict[dims.Symbol, ChangingLength]:
        """The lengths, without those of arrays of which another length is not known."""
        while True:
            unknown = set[dims.Symbol]()
            for p, *_ in rows:
                hidden = {x for x in axes([p]) if not x.given and x.var is None} - {*shown}
                changing = {x for _, x in changing_axes(p, shown)}
                if not hidden <= changing & lengths.keys():
                    unknown |= hidden & lengths.keys()
            if not unknown:
                return lengths
            lengths = {x: n for x, n in lengths.items() if x not in unknown}


def with_single_lengths(block: Block, shown: Shown) -> Block:
    """The block, whose loops have a symbol for each length of a carry that is one and a number:
    those of derivatives are n + 1, where a pass of the function makes an array of n longer."""
    shown = {*shown, *block.params, *axes(block.params)}
    body: list[Statement] = []
    for s in block.body:
        if isinstance(s, For):
            new = _single_lengths(s.carries, shown)
            s = replace(s, body=refresh(s.body, new)[0]) if new else s
        body.append(with_blocks(s, lambda b: with_single_lengths(b, shown)))  # noqa: B023
        shown |= {*outputs(s), *axes(outputs(s))}
    return replace(block, body=tuple(body))


def _single_lengths(carries: Iterable[Var], shown: Shown) -> dict[Any, Size]:
    new: dict[Any, Size] = {}
    for v in carries:
        for n in v.type.shape if isinstance(v.type, Type) else ():
            hidden = [x for x in dims.symbols(n) if not is_shown(x, shown)]
            rest = n - dims.single(hidden[0]) if len(hidden) == 1 else None
            if isinstance(rest, int) and rest and hidden[0].var is None:
                lower = max((hidden[0].lower or 0) + rest, 0)
                new.setdefault(hidden[0], dims.symbol(hidden[0].name, lower) - rest)
    return new


def _carried(s: For | While) -> list[tuple[Any, ...]]:
    """Each carry of a loop: its parameter, what it starts from, what it becomes, and the result."""
    params, yields = (
        (s.carries, s.yields) if isinstance(s, For) else (s.body.params, s.body.results)
    )
    return list(zip(params, s.inits, yields, s.outs, strict=True))


def _values_kept(program: Block) -> Iterator[Atom]:
    """The values that a block gives, that a loop starts from, or that are stored to."""
    yield from program.results
    for s in statements(program):
        for b in blocks(s):
            yield from b.results
        only_reads = isinstance(s, Let) and s.op.pure and not _has_list(s)
        if isinstance(s, Let) and only_reads:
            yield from s.args[:1] if s.op.inplace else ()
        else:
            yield from operands(s)


def _has_list(s: Let) -> bool:
    return any(isinstance(a.type, StackType) for a in (*s.args, *s.outs))


class LoopInMemory:
    """Writes one loop.

    lengths   those that change, by their symbols
    changing  the axes that have them, by the number of the carry
    results   the lengths behind the loop that nothing else shows, and what they are in a pass
    """

    def __init__(
        self, loop: For | While, lengths: Mapping[dims.Symbol, ChangingLength], shown: Shown
    ) -> None:
        self.loop, self.lengths = loop, lengths
        self.rows = _carried(loop)
        self.changing = {
            k: dict(changing_axes(p, shown))
            for k, (p, *_) in enumerate(self.rows)
            if axes([p]) & lengths.keys()
        }
        self.results = {
            n: where[axis]
            for k, where in self.changing.items()
            for axis, n in changing_axes(loop.outs[k], shown)
            if axis in where
        }

    def statements(
        self, kept: AbstractSet[Atom]
    ) -> tuple[list[Statement], dict[dims.Symbol, Var]]:
        """The loop and what is around it, and the variables that its lengths are behind it.

        kept  values that need memory of their own
        """
        loop = self.loop
        starts, before = self.before()
        outs = [self.memory(k, v) if k in self.changing else v for k, v in enumerate(loop.outs)]
        finals = self.variables(ended=True)
        new = {
            "inits": starts,
            "outs": (*outs, *finals.values()),
            "body": self.inside(loop.body, ends=True),
        }
        if isinstance(loop, While):
            new["test"] = self.inside(loop.test, ends=False)
        behind: list[Statement] = []
        for k, where in self.changing.items():
            v = loop.outs[k]
            lengths: dict[dims.Symbol, Atom] = {**finals}
            for axis, x in where.items():
                if single_symbol(v.type.shape[axis]) not in self.results:
                    lengths[x], lets = integer(v.type.shape[axis])
                    behind += lets
            is_whole = v.type.shape == outs[k].type.shape
            part = Var(v.type, v.name) if v in kept and not is_whole else v
            if is_whole:
                behind.append(Let((v,), identity, (outs[k],), {}, loop.origin))
            else:
                behind.append(self.part(k, part, outs[k], lengths))
            if part is not v:
                behind.append(Let((v,), copy, (part,), {}, loop.origin))
        return [*before, replace(loop, **new), *behind], finals

    def before(self) -> tuple[tuple[Atom, ...], list[Statement]]:
        """What the loop starts from, and the statements that make it."""
        before: list[Statement] = []
        lengths: dict[dims.Symbol, Atom] = {}
        for x, length in self.lengths.items():
            lengths[x], lets = integer(length.first)
            before += lets
        starts: list[Atom] = []
        for k, (_, init, *_) in enumerate(self.rows):
            if k in self.changing:
                new = self.memory(k, init)
                params = {"shape": new.type.shape, "dtype": new.type.dtype}
                before.append(Let((new,), empty, (), params, self.loop.origin))
                if 0 not in init.type.shape:
                    before.append(self.store(k, start := self.memory(k, init), new, init, lengths))
                    new = start
                starts.append(new)
            else:
                starts.append(init)
        return (*starts, *lengths.values()), before

    def inside(self, block: Block, ends: bool) -> Block:
        """A block of the loop, where the arrays are parts of the memory.

        ends  whether the next pass goes on with its results
        """
        first = len(block.params) - len(self.rows)
        params, lengths = [*block.params], self.variables(ended=not ends)
        parts: list[Statement] = []
        for k in self.changing:
            carry = params[first + k]
            params[first + k] = self.memory(k, carry)
            parts.append(self.part(k, carry, params[first + k], lengths))
        results, last = self.end_of_pass(block, params[first:]) if ends else (block.results, ())
        sizes: dict[Any, Size] = {x: var_size(v) for x, v in lengths.items()}
        new, _ = refresh(Block(tuple(params), (*parts, *block.body, *last), results), sizes)
        return replace(new, params=(*new.params, *lengths.values()))

    def end_of_pass(
        self, block: Block, memory: list[Var]
    ) -> tuple[tuple[Atom, ...], Iterable[Statement]]:
        """What a pass gives on, and the statements that store its arrays."""
        last: list[Statement] = []
        lengths: dict[dims.Symbol, Atom] = {}
        for x, length in self.lengths.items():
            lengths[x], lets = integer(length.after)
            last += lets
        results = [*block.results]
        first = len(results) - len(self.rows)
        for k in self.changing:
            stored = self.memory(k, memory[k])
            last.append(self.store(k, stored, memory[k], results[first + k], lengths))
            results[first + k] = stored
        return (*results, *lengths.values()), last

    def variables(self, ended: bool) -> dict[dims.Symbol, Var]:
        """The lengths as integers, in a pass or behind the loop."""
        variables = {x: Var(INT, "length") for x in self.lengths}
        for x, v in variables.items():
            length = self.lengths[x]
            upper = length.most if ended else length.begins
            v.size = dims.symbol("length", 0, v, upper=upper)
        return variables

    def memory(self, k: int, v: Atom) -> Var:
        """An array for the longest that a carry can be, with the name of a value of it."""
        t, where = self.rows[k][0].type, self.changing[k]
        shape = [
            self.lengths[where[axis]].most if axis in where else n for axis, n in enumerate(t.shape)
        ]
        return Var(Type(t.dtype, tuple(shape)), v.name if isinstance(v, Var) else "")

    def part(self, k: int, v: Var, memory: Atom, lengths: Mapping[dims.Symbol, Atom]) -> Let:
        key, stops = self.key(k, lengths)
        return Let((v,), index, (memory, *stops), {"key": key}, self.loop.origin)

    def store(
        self, k: int, out: Var, memory: Var, value: Atom, lengths: Mapping[dims.Symbol, Atom]
    ) -> Let:
        key, stops = self.key(k, lengths)
        return Let((out,), update, (memory, value, *stops), {"key": key}, self.loop.origin)

    def key(
        self, k: int, lengths: Mapping[dims.Symbol, Atom]
    ) -> tuple[tuple[slice, ...], list[Atom]]:
        """The part of the memory that has an array, and where it stops."""
        where, stops = self.changing[k], list[Atom]()
        key: list[slice] = []
        for axis in range(self.rows[k][0].type.ndim):
            stop = lengths[where[axis]] if axis in where else None
            if isinstance(stop, Var):
                key.append(slice(None, Slot(len(stops))))
                stops.append(stop)
            else:
                key.append(slice(None, None if stop is None else stop.value))
        return tuple(key), stops
