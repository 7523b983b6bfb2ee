"""Turns loops over elements that add to neighbours into operations on slices, which can be
vectorised.

for i in range(1, n): b[i - 1] += f(a[i]); b[i] += g(a[i])
    becomes      t = a[1:n]; b[0 : n - 1] += f(t); b[1:n] += g(t)

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(vectorise, '''
... (a: f8[n], b: f8[n]):
...     passes = size_value(size=n)
...     b_2 = for i in range(1, passes, 1) with c: f8[n] = b:
...         v = index(a, i, key=(Slot(0),))
...         k = sub(i, 1)
...         c_2 = add_at(c, v, k, key=(Slot(0),))
...         w = sin(v)
...         c_3 = add_at(c_2, w, i, key=(Slot(0),))
...         yield c_3
...     return b_2
... '''))
(a: f8[n], b: f8[n]):
    passes: pyi8 = size_value(size=n)
    v: f8[n - 1] = index(a, key=(slice(1, None, None),))
    c: f8[n] = add_at(b, v, key=(slice(0, -1, None),))
    w: f8[n - 1] = sin(v)
    c_2: f8[n] = add_at(c, w, key=(slice(1, None, None),))
    return c_2
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
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
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.lowering.kernels.bounds_checks import met_by_arrays, of_python
from tapeless.transforms.lowering.scalars import operations
from tapeless.transforms.lowering.schedule.dependences import Dependences, size_of_atom
from tapeless.transforms.ops.primitives.arithmetic import add, sub
from tapeless.transforms.ops.primitives.shapes import cast
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, add_at, index, update

Ranges = dict[Var, tuple[Size, Size]]  # of indices: the first value, and what they stay below


class Unfit(Exception):  # noqa: N818 (a result, not an error)
    """The loop stays as it is."""


def vectorise(block: Block) -> Block:
    memory = Dependences()
    memory.learn(block)
    return _block(block, memory, {})


def _block(block: Block, memory: Dependences, around: Ranges) -> Block:
    body: list[Statement] = []
    new: dict[Var, Atom] = {}
    for s in block.body:
        match s:
            case For():
                try:
                    slices = Slices(s, memory, around)
                    body += slices.run()
                    new |= slices.results
                except Unfit:
                    inner = {**around, s.index: _range_of(s, memory)}
                    body.append(replace(s, body=_block(s.body, memory, inner)))
            case If():
                then, orelse = (_block(b, memory, around) for b in (s.then, s.orelse))
                body.append(replace(s, then=then, orelse=orelse))
            case While():
                body.append(replace(s, body=_block(s.body, memory, around)))
            case _:
                body.append(s)
    return substitute(replace(block, body=tuple(body)), new)


def _range_of(s: For, memory: Dependences) -> tuple[Size, Size]:
    first, stop = (size_of_atom(memory, a) for a in (s.start, s.stop))
    forward = isinstance(s.step, Literal) and s.step.value > 0
    return (first, stop) if forward else (-1, stop)  # of others nothing is known


class Slices:
    """One loop: `offsets` are the constants that are added to its index; `around` are between
    which values the indices of other loops lie."""

    def __init__(self, s: For, memory: Dependences, around: Ranges) -> None:
        self.loop, self.memory, self.around = s, memory, around
        self.start, self.stop = (size_of_atom(memory, a) for a in (s.start, s.stop))
        self.length = self.stop - self.start
        self.offsets: dict[Var, int] = {s.index: 0}
        self.wide: dict[Var, Var] = {}
        self.results: dict[Var, Atom] = dict(zip(s.carries, s.inits, strict=True))
        self.lets = [t for t in s.body.body if isinstance(t, Let)]
        self.inner = {v for t in self.lets for v in t.outs}

    def run(self) -> list[Statement]:
        s = self.loop
        if s.until or s.count is not None or s.step != Literal(1, s.step.type):
            raise Unfit
        if not dims.at_least(self.length, 0) or len(self.lets) < len(s.body.body):
            raise Unfit
        if not all(self.memory.in_place(s, k) for k in range(len(s.inits))):
            raise Unfit
        self.find_offsets()
        self.independent()
        sliced = [t for let in self.lets for t in self.let(let)]
        for v, y in zip(s.outs, s.yields, strict=True):
            self.results[v] = self.atom(y)
        return sliced

    def find_offsets(self) -> None:
        for t in self.lets:
            if t.op in (add, sub):
                a, b = t.args
                if b in self.offsets and t.op is add:
                    a, b = b, a
                if a in self.offsets and isinstance(b, Literal) and type(b.value) is int:
                    step = b.value if t.op is add else -b.value
                    self.offsets[t.outs[0]] = self.offsets[a] + step  # type: ignore[index]

    def independent(self) -> None:
        """No pass reads what another one stores."""
        places: dict[Var, set[tuple[int, int]]] = {}
        kinds: dict[Var, set[Op]] = {}
        for t in self.lets:
            if t.op in (index, update, add_at):
                cell = self.memory.base(t.args[0])
                if cell is None:  # a value that is never read
                    raise Unfit
                places.setdefault(cell, set()).add(self.place(t))
                kinds.setdefault(cell, set()).add(t.op)
        for cell, cell_places in places.items():
            if len(cell_places) > 1 and kinds[cell] not in ({index}, {add_at}):
                raise Unfit

    def place(self, t: Let) -> tuple[int, int]:
        """The axis that an access runs along, and its offset, which has to be in bounds."""
        first = 2 if t.op in (update, add_at) else 1
        rest, key, shape = t.args[first:], t.params["key"], t.args[0].type.shape
        moving_axes = []
        if len(key) != len(shape):
            raise Unfit
        for axis, (e, n) in enumerate(zip(key, shape, strict=True)):
            if not isinstance(e, Slot):
                raise Unfit
            a = rest[e.k]
            if a in self.offsets:
                near = self.offsets[a]  # type: ignore[index]
                low, high = self.start + near, self.stop + near
                if not (dims.at_least(low, 0) and dims.at_least(n - high, 0)):
                    raise Unfit
                moving_axes.append((axis, near))
            elif a.type.shape or a in self.inner or not (self.runs() or self.is_within(a, n)):
                raise Unfit
        if len(moving_axes) != 1:
            raise Unfit
        return moving_axes[0]

    def runs(self) -> bool:
        """Whether the loop makes a pass; else nothing in it raises."""
        return dims.at_least(self.length, 1)

    def is_within(self, a: Atom, n: Size) -> bool:
        """Whether an index is known to be one of n elements."""
        step = 0
        while isinstance(a, Var) and a not in self.around:
            s = self.memory.defs.get(a)
            if not isinstance(s, Let) or s.op not in (add, sub):
                return False
            a, by = s.args
            if not isinstance(by, Literal) or type(by.value) is not int:
                return False
            step += by.value if s.op is add else -by.value
        if isinstance(a, Literal):
            return step == 0 and dims.at_least(n, max(a.value + 1, -a.value))
        low, high = self.around[a]
        return dims.at_least(low + step, 0) and dims.at_least(n - high - step, 0)

    # -- the statements

    def atom(self, a: Any) -> Any:
        while isinstance(a, Var) and a in self.results:
            a = self.results[a]
        if a in self.offsets:
            raise Unfit
        return self.wide.get(a, a)

    def widen(self, v: Var) -> Var:
        wide = Var(Type(v.type.dtype, (self.length,)), v.name, v.origin)
        self.wide[v] = wide
        return wide

    def let(self, t: Let) -> Iterator[Statement]:
        if any(not isinstance(a, Literal) for a in met_by_arrays(t)):
            raise Unfit  # it may raise, too
        if t.op in (index, update, add_at):
            yield from self.access(t)
        elif t.outs[0] not in self.offsets:
            if not (t.op.elementwise or t.op is cast) or not operations.has_scalar_form(t):
                raise Unfit
            args = tuple(map(self.atom, t.args))
            if any(a in self.wide.values() for a in args if isinstance(a, Var)):
                if of_python(t):  # it may raise, which arrays do not
                    raise Unfit
                yield replace(t, outs=(self.widen(t.outs[0]),), args=args)
            elif of_python(t) and not self.runs():
                raise Unfit
            else:
                yield replace(t, args=args)

    def access(self, t: Let) -> Iterator[Statement]:
        first = 2 if t.op in (update, add_at) else 1
        rest: list[Atom] = []
        key: list[Any] = []
        for e, n in zip(t.params["key"], t.args[0].type.shape, strict=True):
            a = t.args[first + e.k]
            if a not in self.offsets:
                key.append(self.slot(self.atom(a), rest))
                continue
            ends: list[Any] = []
            for size in (self.start + self.offsets[a], self.stop + self.offsets[a]):
                gap = n - size
                if isinstance(size, int) or isinstance(gap, int):
                    ends.append(size if isinstance(size, int) else -gap or None)
                    continue
                end = Var(size_value.infer(size=size))
                yield Let((end,), size_value, (), {"size": size})
                ends.append(self.slot(end, rest))
            key.append(slice(*ends))
        before = tuple(map(self.atom, t.args[:first]))
        outs = t.outs if first == 2 else (self.widen(t.outs[0]),)
        yield Let(outs, t.op, (*before, *rest), {"key": tuple(key)}, t.origin)

    @staticmethod
    def slot(a: Atom, rest: list[Atom]) -> Slot:
        rest.append(a)
        return Slot(len(rest) - 1)
