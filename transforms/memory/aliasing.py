"""Analyses aliasing: which values share memory, and which stores nobody else sees, in straight-line
code and branches.

What a value's memory may be is a set of roots: the variable that it was made for, and whose it is.
What a pass of a loop makes is `own` in that pass, and `earlier` in those after it: they make other
memory for the same variable.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    TAPE,
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    StackType,
    Statement,
    Type,
    Var,
    While,
    blocks,
    operands,
    outputs,
)
from tapeless.transforms.memory.held_arguments import held_arguments
from tapeless.transforms.ops.numpy.diagonals import diagonal
from tapeless.transforms.ops.primitives.axis_lengths import copy_if_set
from tapeless.transforms.ops.primitives.function_calls import bundle, is_call, unbundle
from tapeless.transforms.ops.primitives.in_place_arithmetic import COMMUTATIVE, OVERWRITING
from tapeless.transforms.ops.primitives.shapes import broadcast_to, copy
from tapeless.transforms.ops.primitives.stacks import peek, push, set_item, unstack
from tapeless.transforms.optimize.dead_code import needs

Root = tuple[str, Any]
Roots = dict[Var, frozenset[Root]]
NOTHING: frozenset[Root] = frozenset()
READ_ONLY = (broadcast_to, diagonal)  # views that NumPy does not let one store to
OURS = ("own", "earlier", "carry")  # kinds of memory that nobody outside sees
KEPT = {push: 1, set_item: 2}  # which argument a stack holds on to


def has_memory(a: Atom) -> bool:
    if type(a) is not Var:
        return False
    value_type = a.type
    return bool(value_type.shape) if type(value_type) is Type else isinstance(value_type, StackType)


def uses(s: Statement) -> set[Var]:
    """Variables a statement reads, with its blocks."""
    read = {a for a in operands(s) if type(a) is Var}
    return read if type(s) is Let else read | read_inside(s, uses)


def read_inside(s: Statement, uses: Callable[[Statement], set[Var]]) -> set[Var]:
    """Variables that the blocks of a statement read from around it."""
    read: set[Var] = set()
    for b in blocks(s):
        inner = {a for a in b.results if isinstance(a, Var)}.union(*map(uses, b.body))
        read |= inner.difference(b.params, *map(outputs, b.body))
    return read


def in_later_passes(roots: frozenset[Root], inside: Collection[Var]) -> frozenset[Root]:
    """What these roots are for the passes to come, where a pass makes the variables `inside`."""
    return frozenset({("earlier", v) if k == "own" and v in inside else (k, v) for k, v in roots})


def in_any_pass(roots: frozenset[Root]) -> frozenset[Root]:
    """The roots, with what other passes made for the same variables."""
    own = {v for kind, v in roots if kind in ("own", "earlier")}
    return roots | {(kind, v) for kind in ("own", "earlier") for v in own}


class AliasWalk(ABC):
    def __init__(
        self,
        params: tuple[Var, ...],
        before: AliasWalk | None = None,
        ours: Collection[Var] = (),
    ) -> None:
        # what earlier runs found: memory that is overwritten or that stacks hold on to, and views
        # to copy before that
        self.overwritten: set[Root] = before.overwritten | before.mutated if before else set()
        self.copy_views: set[Var] = before.snapshots if before else set()
        self.snapshots: set[Var] = set(self.copy_views)
        self.held: set[Root] | None = (before.held or set()) | before.kept if before else None
        self.kept: set[Root] = set()
        self.results: set[Var] = set()  # of the program: written where it returns
        self.lacking: Callable[[], set[Var]] = set  # what may have no value
        self.copies: dict[Any, Var] = before.copies if before else {}
        self.views: set[Var] = set()
        self.roots: Roots = {p: frozenset({("own" if p in ours else "outer", p)}) for p in params}
        self.mutated: set[Root] = set()
        self.starts: dict[Root, frozenset[Root]] = {}  # of the variables of loops
        # what each run asks alike
        self.read: dict[Statement, set[Var]] = before.read if before else {}
        self.lives: dict[Any, list[set[Var]]] = before.lives if before else {}

    def roots_of(self, a: Atom) -> frozenset[Root]:
        return self.roots.get(a, NOTHING) if isinstance(a, Var) else NOTHING

    def held_on_to(self, a: Atom) -> frozenset[Root]:
        """The memory that is kept with a value: what other passes made for it, and what the
        variables of loops start from, too."""
        held = in_any_pass(self.roots_of(a))
        pending = list(held)
        while pending:
            more = in_any_pass(self.starts.get(pending.pop(), NOTHING)) - held
            held |= more
            pending += more
        return held

    def exclusive(self, a: Atom, live: set[Var]) -> bool:
        mine = self.roots_of(a)
        if a in live or any(kind not in OURS for kind, _ in mine):
            return False
        others = live & self.roots.keys()
        return all(map(mine.isdisjoint, map(self.roots.__getitem__, others)))

    def uses(self, s: Statement) -> set[Var]:
        """Variables a statement reads, with its blocks, also for sizes."""
        read = self.read.get(s)
        if read is None:
            read = self.read[s] = {a for a in operands(s) if type(a) is Var} | needs(s, {})
            read |= read_inside(s, self.uses)
        return read

    def live_after(self, body: tuple[Statement, ...], live: set[Var]) -> list[set[Var]]:
        """For each statement that writes, or may, or makes items of an array, the variables that
        are read after it."""
        key = id(body), frozenset(live)
        if key in self.lives:
            return self.lives[key]
        live_sets = []
        live, nothing = set(live), set[Var]()
        for s in reversed(body):
            writes = type(s) is not Let or s.op.inplace or s.op in OVERWRITING or s.op is unstack
            live_sets.append(set(live) if writes else nothing)
            live.difference_update(outputs(s))
            live |= self.uses(s)
        self.lives[key] = live_sets[::-1]
        return self.lives[key]

    def block(self, body: tuple[Statement, ...], live: set[Var]) -> list[Statement]:
        out: list[Statement] = []
        for s, after in zip(body, self.live_after(body, live), strict=True):
            match s:
                case Let():
                    self.let(s, after, out)
                case If():
                    out.append(self.branch(s, after))
                case For() | While():
                    self.loop(s, after, out)
                case Effect():
                    out.append(s)
        return out

    def let(self, s: Let, after: set[Var], out: list[Statement]) -> None:
        if s.op in OVERWRITING and self.held is not None:
            s = self.overwriting(s, after)
        if s.op.inplace:
            self.store(s, after, out)
        else:
            self.make(s, after, out)

    def store(self, s: Let, after: set[Var], out: list[Statement]) -> None:
        """A store, into a copy where somebody else sees the old value."""
        target = s.args[0]
        read = {a for a in (*s.args[1:2], *filter(_is_seen, s.args[2:])) if isinstance(a, Var)}
        held = after - set(s.outs) | read
        if isinstance(target.type, StackType):  # items are exchanged, and not overwritten
            held = {v for v in held if not isinstance(v.type, Type) or v.type == TAPE}
        if not isinstance(target, Var) or not self.exclusive(target, held):
            self.blame_views(target, held)
            target = self.copy_for(target, out, s.outs[0])
            s = replace(s, args=(target, *s.args[1:]))
        kept = KEPT.get(s.op)
        if kept is not None:
            memory = self.held_on_to(s.args[kept])
            self.kept |= memory
            if memory & self.overwritten:
                args = [*s.args]
                args[kept] = self.copy_for(args[kept], out, s.outs[0])
                s = replace(s, args=tuple(args))
        self.mutated |= self.roots_of(target)
        same, *others = s.outs  # the first output is the target with something stored into it
        self.roots[same] = self.roots_of(target)
        for v in filter(has_memory, others):
            self.roots[v] = self.roots_of(target) | {("own", v)}
        out.append(s)

    def make(self, s: Let, after: set[Var], out: list[Statement]) -> None:
        """An operation that stores into nothing: its results are new, or views."""
        shared = s.op is unstack and not self.exclusive(s.args[0], after)
        gives_tape = is_call(s) and any(v.type == TAPE for v in s.outs)
        if shared or s.op is bundle or gives_tape:
            s = self.hold(s, out)
        for v in s.outs:
            if not has_memory(v):
                continue
            if s.op is unbundle or gives_tape:
                self.roots[v] = frozenset({("outer", v)})  # a tape has it, too
            elif s.op in READ_ONLY or (s.op.view and not has_memory(s.args[0])):
                self.roots[v] = self.roots_of(s.args[0]) | {
                    ("readonly", v)
                }  # it may be of an array
            elif (s.op.view or s.op in (unstack, peek)) and has_memory(s.args[0]):
                self.roots[v] = self.roots_of(s.args[0])
                if s.op.view and v in self.copy_views:
                    part = Var(v.type)
                    self.roots[part] = self.roots[v]
                    self.roots[v] = frozenset({("own", v)})
                    out += [replace(s, outs=(part,)), Let((v,), copy, (part,), origin=s.origin)]
                    return
                self.views.add(v)
            else:
                self.roots[v] = frozenset({("own", v)})
        out.append(s)

    def hold(self, s: Let, out: list[Statement]) -> Let:
        """What goes into a tape, or becomes the items of a list, must not be overwritten later."""
        args = list(s.args)
        held = held_arguments(s.params["function"]) if is_call(s) else range(len(args))
        for k, a in enumerate(args):
            if k not in held:
                continue
            roots = self.held_on_to(a)
            self.kept |= roots
            if roots & self.overwritten:
                args[k] = self.copy_for(a, out, (s.outs[-1], k))
        return replace(s, args=tuple(args))

    def is_consistent(self) -> bool:
        """Whether this run found what it relied on."""
        return (
            self.snapshots == self.copy_views
            and self.mutated <= self.overwritten
            and self.kept <= (self.held or set())
        )

    def blame_views(self, target: Atom, held: set[Var]) -> None:
        """Where only views of parts see what is overwritten, the next run copies those instead."""
        mine = self.roots_of(target)
        if target in held or any(kind not in OURS for kind, _ in mine):
            return
        seen = {v for v in held if self.roots_of(v) & mine}
        if seen <= self.views:
            self.snapshots |= seen

    def overwriting(self, s: Let, after: set[Var]) -> Let:
        """`x = x + y` as `x += y`, where nobody else sees x."""
        (v,), pairs = s.outs, [s.args]
        if s.op in COMMUTATIVE:
            pairs.append(s.args[::-1])
        for x, y in pairs:
            if (
                isinstance(x, Var)
                and has_memory(x)
                and x.name
                and x.name == v.name
                and _as_large(x.type, v.type)
                and v not in self.results
                and not self.roots_of(x) & (self.held or set())
                and self.exclusive(x, after - {v} | ({y} if isinstance(y, Var) else set()))
            ):
                return replace(s, op=OVERWRITING[s.op], args=(x, y))
        return s

    def copy_for(self, a: Atom, out: list[Statement], use: Any) -> Var:
        """A copy of `a` for one use; the same variable in each run."""
        copied = self.copies.get((a, use))
        if copied is None:
            names = [v.name for v in (use, a) if isinstance(v, Var) and v.name]
            copied = self.copies[a, use] = Var(a.type, names[0] if names else "")
        out.append(Let((copied,), copy_if_set if a in self.lacking() else copy, (a,)))
        self.roots[copied] = frozenset({("own", copied)})
        return copied

    def branch(self, s: If, after: set[Var]) -> If:
        sides = []
        for side in (s.then, s.orelse):
            live = after | {a for a in side.results if isinstance(a, Var)}
            sides.append(Block((), tuple(self.block(side.body, live)), side.results))
        for v, a, b in zip(s.outs, s.then.results, s.orelse.results, strict=True):
            if has_memory(v):
                self.roots[v] = self.roots_of(a) | self.roots_of(b)
        return replace(s, then=sides[0], orelse=sides[1])

    @abstractmethod
    def loop(self, s: For | While, after: set[Var], out: list[Statement]) -> None:
        """A loop, with copies where it starts, and where a pass hands on what others see."""


def _is_seen(a: Atom) -> bool:
    """Whether an index is read while a store is made; NumPy reads masks before."""
    dtype = getattr(a.type, "dtype", None)
    return isinstance(a, Var) and (dtype is None or dtype.kind != "b")


def _as_large(x: Any, result: Any) -> bool:
    """Whether an array of type `x` can hold a result that is broadcast from it. Axes of length one
    have it in their type, so sizes that only may be equal are."""
    return (
        x.dtype == result.dtype
        and len(x.shape) == len(result.shape)
        and all(
            n == m or (not isinstance(n, int) and dims.at_least(n, 2))
            for n, m in zip(x.shape, result.shape, strict=True)
        )
    )
