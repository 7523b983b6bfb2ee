"""Which values get a statement of their own, and what they are called.

A value that is used once is folded into the expression that uses it. Values that hold the same
thing at different times (a loop variable before and after a pass, an array before and after a
store) share a name.
"""

from __future__ import annotations

import itertools
import keyword
from dataclasses import dataclass, field
from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Literal,
    Statement,
    Var,
    While,
    blocks,
    operands,
    outputs,
)
from tapeless.transforms.jvp import is_dead
from tapeless.transforms.ownership import has_memory, uses

NAMED_BY_US = ("_bar", "_dot", "_saved")


@dataclass
class Interval:
    start: float
    end: float


@dataclass
class Layout:
    """folded: values written where they are used; names: the others."""

    folded: dict[Var, Let] = field(default_factory=dict)
    names: dict[Var, str] = field(default_factory=dict)


class Folding:
    """Finds values that are used once, by a statement of the same block (or a branch in it)."""

    def __init__(self, sizes: dict[Any, set[Var]]) -> None:
        self.sizes = sizes  # what each statement reads to spell sizes
        self.count: dict[Var, int] = {}
        self.folded: dict[Var, Let] = {}
        self.weight: dict[Var, int] = {}

    def run(self, block: Block) -> dict[Var, Let]:
        self.tally(block)
        self.block(block)
        return self.folded

    def tally(self, block: Block) -> None:
        for s in block.body:
            for a in (*operands(s), *self.sizes.get(s, ())):
                if isinstance(a, Var):
                    self.count[a] = self.count.get(a, 0) + 1
            for v in self.sizes.get(s, ()):
                self.count[v] = 2
            for b in blocks(s):
                self.tally(b)
        for a in block.results:
            if isinstance(a, Var):
                self.count[a] = self.count.get(a, 0) + 1

    def block(self, block: Block, loop: bool = False) -> None:
        waiting: dict[Var, Let] = {}
        for s in block.body:
            self.claim(s, waiting)
            self.spoil(s, waiting)
            for b in blocks(s):
                self.block(b, isinstance(s, (For, While)) and b is not getattr(s, "test", None))
            if (isinstance(s, Let) and self.foldable(s)) or (
                isinstance(s, If) and self.conditional(s)
            ):
                waiting[s.outs[0]] = s  # type: ignore[assignment]
        for a in block.results:
            if isinstance(a, Var) and a in waiting and not loop:
                self.fold(a, waiting)

    def foldable(self, s: Let) -> bool:
        (v, *more) = s.outs
        if (
            more
            or s.op.inplace
            or not s.op.pure
            or s.op.name in ("new_stack", "zero_items", "zeros_of_items", "empty", "zeros", "copy")
        ):
            return False
        if v.name and not v.name.endswith(NAMED_BY_US) and s.op.name not in ("size_value",):
            return False
        return self.count.get(v, 0) == 1

    def conditional(self, s: If) -> bool:
        """Whether a branch can be written as `a if test else b`."""
        if (
            len(s.outs) != 1
            or getattr(s.outs[0].type, "shape", True)
            or self.count.get(s.outs[0], 0) != 1
        ):
            return False
        v = s.outs[0]
        if v.name and not v.name.endswith(NAMED_BY_US):
            return False
        sides = (s.then, s.orelse)
        if any(isinstance(a, Literal) and a.value is None for side in sides for a in side.results):
            return False
        return all(t.outs and t.outs[0] in self.folded for side in sides for t in side.body)

    def claim(self, s: Statement, waiting: dict[Var, Let]) -> None:
        if isinstance(s, Let) and s.op.inplace and isinstance(s.args[0], Var):
            waiting.pop(s.args[0], None)  # what is stored into needs a name
        for a in operands(s):
            if isinstance(a, Var) and a in waiting:
                self.fold(a, waiting)
        if isinstance(s, If):
            for side in (s.then, s.orelse):
                inside = dict(waiting)
                for t in side.body:
                    self.claim(t, inside)
                    self.spoil(t, inside)
                    for a in operands(t):
                        waiting.pop(a, None) if isinstance(a, Var) else None
                for a in side.results:
                    if isinstance(a, Var) and a in inside:
                        self.fold(a, inside)
                        waiting.pop(a, None)

    def fold(self, v: Var, waiting: dict[Var, Let]) -> None:
        let = waiting.pop(v)
        weight = 1 + sum(
            self.weight.get(a, 0) for a in parts(let) if isinstance(a, Var) and a in self.folded
        )
        if weight > 6:
            return
        self.weight[v] = weight
        self.folded[v] = let

    def spoil(self, s: Statement, waiting: dict[Var, Let]) -> None:
        """A value that reads memory which is overwritten now cannot be computed later."""
        if (
            isinstance(s, (For, While))
            or (isinstance(s, If) and _stores(s))
            or (isinstance(s, Let) and s.op.inplace)
        ):
            for v in [v for v, let in waiting.items() if self.reads_memory(let)]:
                del waiting[v]

    def reads_memory(self, let: Let) -> bool:
        return any(
            has_memory(a)
            or (isinstance(a, Var) and a in self.folded and self.reads_memory(self.folded[a]))
            for a in parts(let)
        )


def parts(s: Let | If) -> tuple[Atom, ...]:
    """What a folded value is made of."""
    return s.args if isinstance(s, Let) else (s.test, *s.then.results, *s.orelse.results)


def _stores(s: Statement) -> bool:
    return any(
        isinstance(t, (For, While)) or (isinstance(t, Let) and t.op.inplace) or _stores(t)
        for b in blocks(s)
        for t in b.body
    )


class Naming:
    """Live intervals, coalescing, then names."""

    def __init__(
        self, folded: dict[Var, Let], sizes: dict[Any, set[Var]], reserved: set[str]
    ) -> None:
        self.folded, self.sizes, self.reserved = folded, sizes, reserved
        self.clock = itertools.count(1)
        self.spans: dict[Var, Interval] = {}
        self.group: dict[Var, Var] = {}
        self.members: dict[Var, list[Var]] = {}
        self.order: list[Var] = []
        self.wishes: list[tuple[Var, Var]] = []
        self.loops: list[tuple[int, set[Var]]] = []
        self.unions: list[tuple[Var, Var, bool]] = []
        self.ends: list[tuple[Any, Any, int]] = []
        self.held: list[set[Var]] = []

    def run(self, block: Block) -> dict[Var, str]:
        at = next(self.clock)
        for p in block.params:
            self.define(p, at)
        self.block(block.body)
        end = next(self.clock)
        for a in block.results:
            self.use(a, end)
        for a, b, forced in self.unions:
            self.unite(a, b, forced)
        return self.assign()

    def define(self, v: Var, at: int) -> None:
        if v in self.folded:
            return
        self.spans[v] = Interval(at, at)
        self.order.append(v)
        self.group[v] = v
        self.members[v] = [v]
        for _, defined in self.loops:
            defined.add(v)

    def use(self, a: Atom, at: int) -> None:
        if not isinstance(a, Var):
            return
        if a in self.folded:
            for x in (*parts(self.folded[a]), *self.sizes.get(self.folded[a], ())):
                self.use(x, at)
            return
        if a not in self.spans:
            return
        self.spans[a].end = max(self.spans[a].end, at)
        for k, (_, defined) in enumerate(self.loops):
            if a not in defined:
                self.held[k].add(a)
                break

    def block(self, body: tuple[Statement, ...]) -> None:
        for s in body:
            self.statement(s)

    def statement(self, s: Statement) -> None:
        match s:
            case Let(outs=(v, *_)) | If(outs=(v, *_)) if v in self.folded:
                return
            case Let() | Effect():
                at = next(self.clock)
                for a in (*operands(s), *self.sizes.get(s, ())):
                    self.use(a, at)
                for v in outputs(s):
                    self.define(v, at)
                if isinstance(s, Let) and s.op.inplace and isinstance(s.args[0], Var):
                    # the result is the first argument, whose type may name the same sizes otherwise
                    self.unions.append((s.args[0], s.outs[0], True))
                elif isinstance(s, Let) and len(s.outs) == 1:
                    for a in s.args:
                        if isinstance(a, Var) and a.name and a.name == s.outs[0].name:
                            self.unions.append((a, s.outs[0], False))
            case If():
                at = next(self.clock)
                self.use(s.test, at)
                for side in (s.then, s.orelse):
                    self.block(side.body)
                    end = next(self.clock)
                    for a in side.results:
                        self.use(a, end)
                end = next(self.clock)
                for v, a, b in zip(s.outs, s.then.results, s.orelse.results, strict=True):
                    self.define(v, at)
                    self.spans[v] = Interval(end, end)
                    for x in (a, b):
                        if isinstance(x, Var):
                            self.unions.append((x, v, False))
            case For() | While():
                self.loop(s)

    def loop(self, s: For | While) -> None:
        at = next(self.clock)
        for a in s.inits:
            self.use(a, at)
        self.loops.append((at, set()))
        self.held.append(set())
        carries = s.carries if isinstance(s, For) else s.body.params
        for p, init in zip(carries, s.inits, strict=True):
            self.define(p, at)
            if is_dead(init):  # it may be set to None before the first pass
                self.spans[p].end = at + 0.5
        if isinstance(s, For):  # its range is evaluated after the carries got their first values
            head = next(self.clock)
            for a in (s.start, s.stop, s.step):
                self.use(a, head)
            self.define(s.index, head)
        if isinstance(s, While):
            for p in s.test.params:
                self.define(p, at)
            self.block(s.test.body)
            end = next(self.clock)
            for a in s.test.results:
                self.use(a, end)
        self.block(s.body.body)
        end = next(self.clock)
        for a in s.body.results:
            self.use(a, end)
        self.loops.pop()
        for v in self.held.pop():
            self.spans[v].end = max(self.spans[v].end, end)
            if self.loops and v not in self.loops[-1][1]:
                self.held[-1].add(v)
        yields = s.yields if isinstance(s, For) else s.body.results
        if isinstance(s, For):
            self.spans[s.index].end = max(self.spans[s.index].end, end)
        for v in outputs(s):
            self.define(v, end)
        if isinstance(s, For) and s.count is not None:
            self.spans[s.count].start = at
        for k, p in enumerate(carries):
            self.unions.append((p, s.outs[k], True))
            if isinstance(s, While):
                self.unions.append((p, s.test.params[k], True))
            init = s.inits[k]
            if isinstance(init, Var):
                self.unions.append((init, p, False))
        for p, y in zip(carries, yields, strict=True):
            if isinstance(y, Var):
                self.unions.append((y, p, False))
        self.ends.append((carries, yields, end))

    def find(self, v: Var) -> Var:
        return self.group[v]

    def unite(self, a: Var, b: Var, forced: bool) -> None:
        if a not in self.group or b not in self.group:
            return
        a, b = self.find(a), self.find(b)
        if a is b:
            return
        if not forced and self.overlap(a, b):
            return
        for m in self.members[b]:
            self.group[m] = a
        self.members[a] += self.members.pop(b)

    def overlap(self, a: Var, b: Var) -> bool:
        for x in self.members[a]:
            for y in self.members[b]:
                p, q = self.spans[x], self.spans[y]
                if max(p.start, q.start) < min(p.end, q.end) or (
                    p.start == q.start and p.end > p.start and q.end > q.start
                ):
                    return True
        return False

    def assign(self) -> dict[Var, str]:
        for (
            carries,
            yields,
            end,
        ) in self.ends:  # a carry that is set at the end of a pass holds its name until then
            for p, y in zip(carries, yields, strict=True):
                if (
                    not isinstance(y, Var)
                    or y not in self.group
                    or self.find(y) is not self.find(p)
                ):
                    self.spans[p].end = max(self.spans[p].end, end)
        for span in self.spans.values():
            span.end = max(
                span.end, span.start + 0.5
            )  # a value that nobody reads still takes its name
        taken: dict[str, list[Var]] = {}
        names: dict[Var, str] = {}
        for v in self.order:
            root = self.find(v)
            if root in names:
                names[v] = names[root]
                continue
            stem = self.stem(root)
            for k in itertools.count(1):
                name = stem if k == 1 else f"{stem}_{k}"
                if name in self.reserved or keyword.iskeyword(name):
                    continue
                if not any(self.overlap(root, other) for other in taken.get(name, ())):
                    break
            taken.setdefault(name, []).append(root)
            names[root] = names[v] = name
        return names

    def stem(self, root: Var) -> str:
        members = self.members[root]
        for v in members:
            if v.name and not v.name.endswith(NAMED_BY_US) and v.name.isidentifier():
                return v.name if v.name != "_" else "i"
        return next((v.name for v in members if v.name and v.name.isidentifier()), "") or "t"


def lay_out(block: Block, sizes: dict[Any, set[Var]], reserved: set[str]) -> Layout:
    folded = Folding(sizes).run(block)
    return Layout(folded, Naming(folded, sizes, reserved).run(block))


__all__ = ["Layout", "Literal", "lay_out", "uses"]
