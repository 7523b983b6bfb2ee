"""Analyses dependences: which values share memory, and what a statement reads and writes, through
views.

y = x[1:]; z = update(x, v, i)      reads y: the memory of x      writes z: the memory of x
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    StackType,
    Statement,
    Var,
    While,
    blocks,
    operands,
    outputs,
)
from tapeless.transforms.core.size_value import size_value
from tapeless.transforms.core.uses import sizes_in
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.rewrite.array_routines import ROUTINES
from tapeless.transforms.lowering.schedule.loop_nests import STORING
from tapeless.transforms.lowering.schedule.view_indices import is_view
from tapeless.transforms.memory.aliasing import has_memory
from tapeless.transforms.ops.primitives.arithmetic import add, sub
from tapeless.transforms.ops.primitives.random_draws import draw
from tapeless.transforms.ops.primitives.stacks import CHANGING

WRITING = frozenset([*STORING, *ROUTINES, *CHANGING])
EFFECTS = "effects"  # what raises, prints and draws random numbers: these keep their order
NO_ARRAY = object()


@dataclass
class Dependences:
    """Definitions of all variables of a program, and the memory behind them."""

    defs: dict[Var, Statement] = field(default_factory=dict)
    inits: dict[Var, tuple[Any, int]] = field(default_factory=dict)  # of carries: their loop
    indices: dict[Any, For] = field(default_factory=dict)  # loops, by their indices
    cells: dict[Var, Var] = field(default_factory=dict)
    parts: dict[Var, Let | None] = field(default_factory=dict)
    base_of: dict[Var, Var | None] = field(default_factory=dict)
    bases_of_arrays: dict[Any, Any] = field(default_factory=dict)
    kept: dict[Any, bool] = field(default_factory=dict)
    assumed: list[Var] = field(default_factory=list)  # carries that are taken to stay in place
    order: dict[Var, int] = field(default_factory=dict)
    inline: set[Let] = field(default_factory=set)  # constants that are written where they are read
    lengths: dict[Statement, frozenset[Var]] = field(default_factory=dict)  # views that show them
    closures: dict[Var, frozenset[Var]] = field(default_factory=dict)  # what reading them needs
    needed: dict[Statement, frozenset[Var]] = field(default_factory=dict)
    read: dict[Statement, frozenset[Any]] = field(default_factory=dict)
    written: dict[Statement, frozenset[Any]] = field(default_factory=dict)

    def learn(self, block: Block, shown: Mapping[dims.Symbol, Var] = MappingProxyType({})) -> None:
        """Notes the statements of a block; `shown` are views around it whose lengths nothing else
        shows."""
        shown = dict(shown)
        self.closures.clear()
        self.base_of.clear()
        self.bases_of_arrays.clear()
        for p in block.params:
            self.order[p] = len(self.order)
        for s in block.body:
            if isinstance(s, Let):
                named = sizes_in(list(s.params.values()))
                if is_view(s):
                    measured = sizes_in(s.outs[0].type) - sizes_in([a.type for a in s.args])
                    shown |= {x: s.outs[0] for x in measured - named if x.var is None}
                elif named & shown.keys():
                    self.lengths[s] = frozenset(shown[x] for x in named if x in shown)
            for v in outputs(s):
                self.defs[v] = s
                self.order[v] = len(self.order)
            if isinstance(s, (For, While)):
                if isinstance(s, For):
                    self.indices[s.index] = s
                carries = s.carries if isinstance(s, For) else s.body.params
                for k, p in enumerate(carries):
                    self.inits[p] = (s, k)
                if isinstance(s, While):
                    for k, p in enumerate(s.test.params):
                        self.inits[p] = (s, k)
            for b in blocks(s):
                self.learn(b, shown)

    def write_inline(self, constant: Let) -> None:
        """Has a constant written where it is read."""
        self.inline.add(constant)
        self.closures.clear()
        self.base_of.clear()
        self.bases_of_arrays.clear()

    def cell(self, v: Var) -> Var:
        """The variable whose memory `v` is: itself, unless it is stored into in place."""
        pending = [v]
        while v not in self.cells:  # not by recursion: chains of stores and branches may be long
            u = pending[-1]
            earlier = [a for a in self._made_from(u) if a not in self.cells and a is not u]
            if earlier:
                pending += earlier
            else:
                self.cells[u] = self._cell(u)
                pending.pop()
        return self.cells[v]

    def _made_from(self, v: Var) -> list[Var]:
        """The values of which one may be the memory of another, but for loops."""
        s = self.defs.get(v)
        if isinstance(s, If):
            k = s.outs.index(v)
            return [a for b in (s.then, s.orelse) if isinstance(a := b.results[k], Var)]
        if v not in self.inits and isinstance(s, Let) and stores(s) and v is s.outs[0]:
            return [s.args[0]]  # type: ignore[list-item]
        return []

    def _cell(self, v: Var) -> Var:
        s = self.defs.get(v)
        if v in self.inits:
            loop, k = self.inits[v]
            init = loop.inits[k]
            return self.cell(init) if isinstance(init, Var) and self.in_place(loop, k) else v
        if isinstance(s, Let) and stores(s) and v is s.outs[0]:
            return self.cell(s.args[0])  # type: ignore[arg-type]
        if isinstance(s, (For, While)) and v in s.outs:
            k = s.outs.index(v)
            init = s.inits[k]
            if self.in_place(s, k):
                return self.cell(init) if isinstance(init, Var) else v
        if isinstance(s, If):
            k = s.outs.index(v)
            sides = {
                self.cell(a) if isinstance(a, Var) else None
                for a in (s.then.results[k], s.orelse.results[k])
            }
            if len(sides) == 1 and None not in sides:
                return sides.pop()  # type: ignore[return-value]
        return v

    def in_place(self, loop: For | While, k: int) -> bool:
        """Whether a carry is the same memory in each pass."""
        if (loop, k) not in self.kept:
            self.kept[loop, k] = self._in_place(loop, k)
        return self.kept[loop, k]

    def _in_place(self, loop: For | While, k: int) -> bool:
        carry = loop.carries[k] if isinstance(loop, For) else loop.body.params[k]
        after = loop.yields[k] if isinstance(loop, For) else loop.body.results[k]
        if not has_memory(carry) or not isinstance(after, Var):
            return False
        cells_before, kept = self.cells, self.kept
        self.assumed.append(carry)
        self.cells, self.kept = {v: v for v in self.assumed}, dict(kept)
        is_carry = self.cell(after) is carry
        self.assumed.pop()
        self.cells, self.kept = cells_before, kept
        return is_carry

    def base(self, a: Atom) -> Var | None:
        """The cell that an array is a view of; None for constants."""
        if not isinstance(a, Var):
            return None
        if self.assumed:
            return self._base(a)
        if a not in self.base_of:
            self.base_of[a] = self._base(a)
        return self.base_of[a]

    def _base(self, v: Var) -> Var | None:
        a: Atom = v
        while isinstance(a, Var):
            s = self.view(a)
            if s is None:
                return self.cell(a)
            a = s.args[0]
        return None

    def view(self, v: Var) -> Let | None:
        """The statement that makes a view of what `v` is, if it is one."""
        cell = self.cell(v)
        if cell not in self.parts:
            s = self.defs.get(cell)
            self.parts[cell] = s if isinstance(s, Let) and is_view(s) else None
        return self.parts[cell]

    def bases(self, values: Iterable[Any]) -> set[Var | None]:
        """The cells that arrays are views of."""
        if self.assumed:
            return {self.base(a) for a in values if is_array(a)}
        bases, values = self.bases_of_arrays, list(values)
        for a in values:
            if a not in bases:
                bases[a] = self.base(a) if is_array(a) else NO_ARRAY
        return {bases[a] for a in values} - {NO_ARRAY}

    # -- what statements touch

    def needs(self, s: Statement) -> frozenset[Var]:
        """All variables that a statement needs: also for the views it reads, and for sizes."""
        needed = self.needed.get(s)
        if needed is None:
            needed = self.needed[s] = frozenset(self._needs(s))
        return needed

    def with_needs(self, live: Iterable[Var]) -> set[Var]:
        """Variables, with all that reading them needs."""
        return set().union(*map(self._closure, live))

    def _closure(self, v: Var) -> frozenset[Var]:
        """A variable and all that reading it needs; nothing of one that is not known."""
        closure = self.closures.get(v)
        if closure is None:
            needed: set[Var] = set()
            self._need(v, needed)
            closure = self.closures[v] = frozenset(needed)
        return closure

    def _needs(self, s: Statement) -> set[Var]:
        needed = self.with_needs((*_operands(s), *self.lengths.get(s, ())))
        for b in blocks(s):
            inner = self.with_needs(a for a in b.results if isinstance(a, Var))
            for t in b.body:
                inner |= self.needs(t)
            needed |= inner - set(b.params)
        return needed - variables_inside(s)

    def _need(self, a: Var, needed: set[Var]) -> None:
        if a in needed or a not in self.order:
            return  # of a size that arrays show, the integer that it was may be gone
        needed.add(a)
        self._need(self.cell(a), needed)
        s = self.defs.get(a)
        if isinstance(s, Let) and (s in self.inline or is_view(s) or s.op is size_value):
            for b in _operands(s):
                self._need(b, needed)

    def views(self, s: Let) -> Iterator[Let]:
        """The views that a statement reads through."""
        for a in s.args:
            while isinstance(a, Var):
                view = self.view(a)
                if view is None:
                    break
                yield view
                a = view.args[0]

    def reads(self, s: Statement) -> frozenset[Any]:
        bases_read = self.read.get(s)
        if bases_read is None:
            bases: set[Any] = {self.base(v) for v in self.needs(s) if has_memory(v)}
            bases |= {EFFECTS} if _acts(s) else set()
            bases_read = self.read[s] = frozenset(bases)
        return bases_read

    def writes(self, s: Statement) -> frozenset[Any]:
        bases_written = self.written.get(s)
        if bases_written is None:
            bases_written = self.written[s] = frozenset(self._writes(s))
        return bases_written

    def _writes(self, s: Statement) -> set[Any]:
        bases_written: set[Any] = set()
        if isinstance(s, Let) and stores(s):
            bases_written.add(self.base(s.args[0]))
        if _acts(s):
            bases_written.add(EFFECTS)
        for b in blocks(s):
            for t in b.body:
                bases_written |= self.writes(t)
        return bases_written


def _acts(s: Statement) -> bool:
    """Whether a statement raises, prints or draws a random number."""
    return isinstance(s, Effect) or (isinstance(s, Let) and s.op is draw)


def is_array(a: Any) -> bool:
    return has_memory(a) and not isinstance(a.type, StackType)


def stores(s: Let) -> bool:
    """Whether the first result is the memory of the first argument."""
    return s.op in WRITING and isinstance(s.args[0], Var)


def _operands(s: Statement) -> Iterator[Any]:
    yield from (a for a in operands(s) if not isinstance(a, Literal))
    for v in s.params.values() if isinstance(s, Let) else ():
        yield from (x.var for x in _symbols(v) if x.var is not None)
    for out in outputs(s):
        yield from (
            x.var
            for n in getattr(out.type, "shape", ())
            for x in dims.symbols(n)
            if x.var is not None
        )


def _symbols(value: Any) -> Iterator[dims.Symbol]:
    if isinstance(value, dims.Dim):
        yield from dims.symbols(value)
    elif isinstance(value, tuple):
        for v in value:
            yield from _symbols(v)


def variables_inside(s: Statement) -> set[Var]:
    """The variables that are defined in the blocks of a statement."""
    defined: set[Var] = set()
    for b in blocks(s):
        defined |= set(b.params)
        for t in b.body:
            defined |= set(outputs(t)) | variables_inside(t)
    return defined


def size_of_atom(memory: Dependences, a: Atom) -> Size:
    if isinstance(a, Literal):
        return int(a.value)
    s = memory.defs.get(a)
    if isinstance(s, Let) and s.op is size_value:
        return s.params["size"]  # type: ignore[no-any-return]
    if isinstance(s, Let) and s.op in (add, sub):
        left, right = (size_of_atom(memory, x) for x in s.args)
        return left + right if s.op is add else left - right
    if a.size is None:
        a.size = dims.symbol(a.name or "n", None, a)
    return a.size  # type: ignore[no-any-return]
