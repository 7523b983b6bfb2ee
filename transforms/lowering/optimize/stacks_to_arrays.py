"""Turns stacks whose loops run a known number of times into arrays with an entry for each pass.

for i: for j: push(s, v) ... for i, reversed: for j, reversed: v = pop(s)
    becomes      for i: for j: s[i, j] = v ... for i, reversed: for j, reversed: v = s[i, j]

for i in range(n): push(s, v) where v has n - i numbers
    becomes      s = empty((n, n)); for i in range(n): s[i, : n - i] = v

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(stacks_to_arrays, '''
... (x: f8, w: f8[n]):
...     passes = size_value(size=n)
...     s = new_stack(item=f8)
...     y, s_2 = for i in range(0, passes, 1) with a: f8 = x, p: stack(f8) = s:
...         p_2 = push(p, a)
...         b = sin(a)
...         yield b, p_2
...     z, s_3 = for j in reversed(range(0, passes, 1)) with c: f8 = 1.0, q: stack(f8) = s_2:
...         q_2, d = pop(q)
...         e = mul(c, d)
...         yield e, q_2
...     return z
... '''))
(x: f8, w: f8[n]):
    passes: pyi8 = size_value(size=n)
    s: f8[n] = empty(shape=(n,), dtype=float64)
    y, s_2 = for i in range(0, passes, 1) with a: f8 = x, p: f8[n] = s:
        p_2: f8[n] = update(p, a, i, key=(Slot(0),))
        b: f8 = sin(a)
        yield b, p_2
    z, s_3 = for j in reversed(range(0, passes, 1)) with c: f8 = 1.0, q: f8[n] = s_2:
        d: f8 = index(q, j, key=(Slot(0),))
        e: f8 = mul(c, d)
        yield e, q
    return z
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Let,
    Literal,
    StackType,
    Statement,
    Type,
    Var,
    blocks,
    outputs,
)
from tapeless.transforms.core.size_inequalities import Facts, least_in_loops
from tapeless.transforms.core.substitution import size as size_in
from tapeless.transforms.core.value_replacement import ValueReplacer
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.lists.growing_rows import integer
from tapeless.transforms.lowering.schedule.dependences import Dependences, size_of_atom
from tapeless.transforms.ops.primitives.arithmetic import sub
from tapeless.transforms.ops.primitives.new_arrays import empty, new_stack
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index, update
from tapeless.transforms.ops.primitives.stacks import POPS, push

Path = tuple[For, ...]
Spans = list[tuple[Size, Size]]


@dataclass
class Use:
    """The statements that push to a stack or pop from it, each with the loops around it."""

    pushes: list[tuple[Let, Path]] = field(default_factory=list)
    pops: list[tuple[Let, Path]] = field(default_factory=list)
    others: int = 0


def stacks_to_arrays(block: Block) -> Block:
    """The block with arrays in the place of stacks, where that can be."""
    memory = Dependences()
    memory.learn(block)
    stacks = [
        s.outs[0]
        for s in block.body
        if isinstance(s, Let) and s.op is new_stack and isinstance(s.outs[0].type.item, Type)
    ]
    entries = {v: e for v in stacks if (e := _entries(memory, block, v)) is not None}
    return StackRewriter(memory, entries).block(block) if entries else block


@dataclass
class Entries:
    """The array that a stack becomes.

    passes  how many each loop around the push makes
    item    the shape of what is pushed, by the indices of these loops
    room    the largest that it is in any pass
    """

    indices: tuple[Var, ...]
    passes: tuple[Size, ...]
    item: tuple[Size, ...]
    room: tuple[Size, ...]

    def item_in(self, loops: list[For]) -> tuple[Size, ...]:
        """The shape of an item in the same pass of other loops."""
        new = dict(zip(self.indices, (loop.index for loop in loops), strict=True))
        return tuple(size_in(n, new) for n in self.item)


def _entries(memory: Dependences, block: Block, stack: Var) -> Entries | None:
    """What becomes of a stack if the one push is in loops whose passes are known before the first,
    and the one pop in the same, reversed."""
    use = Use()
    _uses(memory, block.body, stack, (), use)
    if use.others or len(use.pushes) != 1 or len(use.pops) != 1:
        return None
    (pushed, forward), (_, backward) = use.pushes[0], use.pops[0]
    if any(f.reverse for f in forward) or not all(f.reverse for f in backward):
        return None
    outer = {v for s in block.body for v in outputs(s)} | set(block.params)
    spans, others = (_spans(memory, path, outer) for path in (forward, backward))
    if not spans or spans != others:
        return None
    indices = tuple(loop.index for loop in forward)
    ranges = {i: (start, stop - 1) for i, (start, stop) in zip(indices, spans, strict=True)}
    item = pushed.args[1].type.shape
    room = tuple(least_in_loops(n, Facts(ranges=ranges).range_of, -1) for n in item)
    if not all(_is_known(n, outer) for n in room):
        return None
    passes = tuple(dims.maximum(stop - start, 0) for start, stop in spans)
    return Entries(indices, passes, item, tuple(dims.maximum(n, 0) for n in room))


def _is_known(size: Size, outer: set[Var]) -> bool:
    """Whether a size is known before the outermost loop."""
    return all((x.var is None and x.given) or x.var in outer for x in dims.symbols(size))


def _uses(
    memory: Dependences, body: tuple[Statement, ...], stack: Var, path: Path, use: Use
) -> None:
    for s in body:
        if isinstance(s, Let):
            if not any(isinstance(a, Var) and memory.cell(a) is stack for a in s.args):
                continue
            kind = {push: use.pushes, **dict.fromkeys(POPS, use.pops)}.get(s.op)
            if kind is None:
                use.others += 1
            else:
                kind.append((s, path))
        elif stack in memory.writes(s) | memory.reads(s):
            plain = isinstance(s, For) and not s.until and s.step == Literal(1, s.step.type)
            use.others += not plain
            for b in blocks(s):
                inside = (*path, s) if isinstance(s, For) else path
                _uses(memory, b.body, stack, inside, use)


def _spans(memory: Dependences, path: Path, outer: set[Var]) -> Spans | None:
    """Where each loop starts and stops; None if that is not known before the first."""
    bounds = [(size_of_atom(memory, s.start), size_of_atom(memory, s.stop)) for s in path]
    return bounds if all(_is_known(n, outer) for span in bounds for n in span) else None


class StackRewriter(ValueReplacer):
    """Writes the program again; `new` are the arrays that stacks have become."""

    def __init__(self, memory: Dependences, entries: dict[Var, Entries]) -> None:
        self.memory, self.entries = memory, entries
        self.new: dict[Var, Var] = {}
        self.loops: list[For] = []

    def atom(self, a: Any) -> Any:
        if not isinstance(a, Var) or not isinstance(a.type, StackType):
            return a
        entries = self.entries.get(self.memory.cell(a))
        if entries is None:
            return a
        if a not in self.new:
            shape = (*entries.passes, *entries.room)
            self.new[a] = Var(Type(a.type.item.dtype, shape), a.name)
        return self.new[a]

    def values_for(self, a: Var) -> tuple[Any, ...]:
        return (self.atom(a),)

    def statement(self, s: Statement) -> Iterator[Statement]:
        if isinstance(s, For):
            self.loops.append(s)
        yield from super().statement(s)
        if isinstance(s, For):
            self.loops.pop()

    def let(self, s: Let) -> Iterator[Statement]:
        stack = s.outs[0] if s.op is new_stack else s.args[0] if s.args else None
        array = self.atom(stack)
        if array is stack:
            yield s
            return
        if s.op is new_stack:
            shape = array.type.shape
            yield replace(
                s, outs=(array,), op=empty, params={"shape": shape, "dtype": array.type.dtype}
            )
            return
        where: list[Atom] = []
        for loop in self.loops:
            if loop.start == Literal(0, loop.start.type):
                where.append(loop.index)
                continue
            place = Var(loop.index.type)
            yield Let((place,), sub, (loop.index, loop.start), {}, s.origin)
            where.append(place)
        entries = self.entries[self.memory.cell(stack)]  # type: ignore[arg-type]
        key: tuple[Any, ...] = tuple(map(Slot, range(len(where))))
        for length, room in zip(entries.item_in(self.loops), entries.room, strict=True):
            if length == room:
                key += (slice(None),)
                continue
            stop, before = integer(length)
            yield from before
            key += (slice(None, Slot(len(where))),)
            where.append(stop)
        if s.op is push:
            args = (array, s.args[1], *where)
            yield Let((self.atom(s.outs[0]),), update, args, {"key": key}, s.origin)
            return
        self.new[s.outs[0]] = array
        yield Let((s.outs[1],), index, (array, *where), {"key": key}, s.origin)
