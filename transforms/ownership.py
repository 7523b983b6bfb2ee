"""Decides which stores can be made in place, and copies what cannot.

    y = update(x, v, i)         becomes     x[i] = v            where x is dead afterwards and ours
                                            y = x.copy(); ...   where it is not

Values are immutable in core, so a store is in place only if nobody can see the old value: no
variable that is live afterwards may share the memory, and the memory must not be the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from tapeless.transforms.carries import carries, yields
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
from tapeless.transforms.errors import InternalError
from tapeless.transforms.ops.calls import bundle, is_call, unbundle
from tapeless.transforms.ops.diagonals import diagonal
from tapeless.transforms.ops.overwriting import COMMUTATIVE, OVERWRITING
from tapeless.transforms.ops.shapes import broadcast_to, copy
from tapeless.transforms.ops.stacks import peek, push, set_item, unstack
from tapeless.transforms.simplify import _needs

Root = tuple[str, Any]
Roots = dict[Var, frozenset[Root]]
NOTHING: frozenset[Root] = frozenset()
READ_ONLY = (broadcast_to, diagonal)  # views that NumPy does not let one store to
OURS = ("own", "carry")  # kinds of memory that nobody outside sees
KEPT = {push: 1, set_item: 2}  # which argument a stack holds on to


def has_memory(a: Atom) -> bool:
    if type(a) is not Var:
        return False
    kind = a.type
    return bool(kind.shape) if type(kind) is Type else isinstance(kind, StackType)


def uses(s: Statement) -> set[Var]:
    """Variables a statement reads, with its blocks."""
    found = {a for a in operands(s) if type(a) is Var}
    return found if type(s) is Let else found | read_inside(s, uses)


def read_inside(s: Statement, uses: Callable[[Statement], set[Var]]) -> set[Var]:
    """Variables that the blocks of a statement read from around it."""
    found: set[Var] = set()
    for b in blocks(s):
        inner = {a for a in b.results if isinstance(a, Var)}.union(*map(uses, b.body))
        found |= inner.difference(b.params, *map(outputs, b.body))
    return found


class Ownership:
    def __init__(
        self,
        params: tuple[Var, ...],
        before: Ownership | None = None,
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
        self.copies: dict[Any, Var] = before.copies if before else {}
        self.views: set[Var] = set()
        self.roots: Roots = {p: frozenset({("own" if p in ours else "outer", p)}) for p in params}
        self.mutated: set[Root] = set()
        # what each run asks alike
        self.read: dict[Statement, set[Var]] = before.read if before else {}
        self.lives: dict[Any, list[set[Var]]] = before.lives if before else {}

    def of(self, a: Atom) -> frozenset[Root]:
        return self.roots.get(a, NOTHING) if isinstance(a, Var) else NOTHING

    def exclusive(self, a: Atom, live: set[Var]) -> bool:
        mine = self.of(a)
        if a in live or any(kind not in OURS for kind, _ in mine):
            return False
        return all(mine.isdisjoint(self.roots[v]) for v in live if v in self.roots)

    def uses(self, s: Statement) -> set[Var]:
        """Variables a statement reads, with its blocks, also for sizes."""
        found = self.read.get(s)
        if found is None:
            found = self.read[s] = {a for a in operands(s) if type(a) is Var} | _needs(s, {})
            found |= read_inside(s, self.uses)
        return found

    def live_after(self, body: tuple[Statement, ...], live: set[Var]) -> list[set[Var]]:
        """For each statement that writes, or may, or makes items of an array, the variables that
        are read after it."""
        key = id(body), frozenset(live)
        if key in self.lives:
            return self.lives[key]
        found = []
        live, nothing = set(live), set[Var]()
        for s in reversed(body):
            writes = type(s) is not Let or s.op.inplace or s.op in OVERWRITING or s.op is unstack
            found.append(set(live) if writes else nothing)
            live.difference_update(outputs(s))
            live |= self.uses(s)
        self.lives[key] = found[::-1]
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
            target = s.args[0]
            read = {a for a in (*s.args[1:2], *filter(_is_seen, s.args[2:])) if isinstance(a, Var)}
            held = after - set(s.outs) | read
            if isinstance(target.type, StackType):  # items are exchanged, and not overwritten
                held = {v for v in held if not isinstance(v.type, Type) or v.type == TAPE}
            if not isinstance(target, Var) or not self.exclusive(target, held):
                self.blame_views(target, held)
                target = self.copied(target, out, s.outs[0])
                s = replace(s, args=(target, *s.args[1:]))
            kept = KEPT.get(s.op)
            if kept is not None:
                self.kept |= self.of(s.args[kept])
                if self.of(s.args[kept]) & self.overwritten:
                    args = [*s.args]
                    args[kept] = self.copied(args[kept], out, s.outs[0])
                    s = replace(s, args=tuple(args))
            self.mutated |= self.of(target)
            same, *others = s.outs  # the first output is the target with something stored into it
            self.roots[same] = self.of(target)
            for v in filter(has_memory, others):
                self.roots[v] = self.of(target) | {("own", v)}
            out.append(s)
            return
        shared = s.op is unstack and not self.exclusive(s.args[0], after)
        if shared or s.op is bundle or (is_call(s) and s.outs and s.outs[-1].type == TAPE):
            s = self.hold(s, out)
        for v in s.outs:
            if not has_memory(v):
                continue
            if s.op is unbundle or (is_call(s) and s.outs[-1].type == TAPE):
                self.roots[v] = frozenset({("outer", v)})  # a tape has it, too
            elif s.op in READ_ONLY:
                self.roots[v] = self.of(s.args[0]) | {("readonly", v)}
            elif (s.op.view or s.op in (unstack, peek)) and has_memory(s.args[0]):
                self.roots[v] = self.of(s.args[0])
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
        for k, a in enumerate(args):
            self.kept |= self.of(a)
            if self.of(a) & self.overwritten:
                args[k] = self.copied(a, out, (s.outs[-1], k))
        return replace(s, args=tuple(args))

    def settled(self) -> bool:
        """Whether this run found what it relied on."""
        return (
            self.snapshots == self.copy_views
            and self.mutated <= self.overwritten
            and self.kept <= (self.held or set())
        )

    def blame_views(self, target: Atom, held: set[Var]) -> None:
        """Where only views of parts see what is overwritten, the next run copies those instead."""
        mine = self.of(target)
        if target in held or any(kind not in OURS for kind, _ in mine):
            return
        seen = {v for v in held if self.of(v) & mine}
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
                and not self.of(x) & (self.held or set())
                and self.exclusive(x, after - {v} | ({y} if isinstance(y, Var) else set()))
            ):
                return replace(s, op=OVERWRITING[s.op], args=(x, y))
        return s

    def copied(self, a: Atom, out: list[Statement], use: Any) -> Var:
        """A copy of `a` for one use; the same variable in each run."""
        made = self.copies.get((a, use))
        if made is None:
            names = [v.name for v in (use, a) if isinstance(v, Var) and v.name]
            made = self.copies[a, use] = Var(a.type, names[0] if names else "")
        out.append(Let((made,), copy, (a,)))
        self.roots[made] = frozenset({("own", made)})
        return made

    def branch(self, s: If, after: set[Var]) -> If:
        sides = []
        for side in (s.then, s.orelse):
            live = after | {a for a in side.results if isinstance(a, Var)}
            sides.append(Block((), tuple(self.block(side.body, live)), side.results))
        for v, a, b in zip(s.outs, s.then.results, s.orelse.results, strict=True):
            if has_memory(v):
                self.roots[v] = self.of(a) | self.of(b)
        return replace(s, then=sides[0], orelse=sides[1])

    def loop(self, s: For | While, after: set[Var], out: list[Statement]) -> None:
        """A loop. Variables of it that a pass stores into are `consumed`: they start from memory
        that nobody else sees, and each pass hands such memory on."""
        around = (
            after
            | {a for a in set(operands(s)) - {*s.inits} if isinstance(a, Var)}
            | read_inside(s, self.uses)
        )
        saved, mutated = dict(self.roots), self.mutated
        consumed, body = self.passes(s, around, saved)
        inits = self.started(s, around, saved, consumed, out)
        handed = self.handed_on(s, around, consumed, body)
        self.mutated |= mutated
        flag = s.body.results[:1] if isinstance(s, For) and s.until else ()
        made = Block(s.body.params, tuple(body), (*flag, *handed))
        out.append(replace(s, inits=inits, body=made))
        self.left(s, inits, handed, consumed)

    def left(
        self, s: For | While, inits: Collection[Atom], handed: Collection[Atom], consumed: set[Var]
    ) -> None:
        """What the variables of a loop share memory with after it."""
        rows = list(zip(s.outs, carries(s), inits, handed, strict=True))
        behind = {("carry", p): (v, init, y) for v, p, init, y in rows}

        def resolved(roots: frozenset[Root], seen: set[Root]) -> set[Root]:
            found = set(roots - behind.keys())
            for root in (roots & behind.keys()) - seen:
                v, init, y = behind[root]
                seen.add(root)
                more = self.of(init) | self.of(root[1]) | self.of(y)
                found |= {("own", v)} if root[1] in consumed else resolved(more, seen)
            return found

        made = {}
        for v, p, init, y in rows:
            if has_memory(v):
                roots = resolved(self.of(init) | self.of(y), set()) | {("shared", v)}
                made[v] = frozenset({("own", v)} if p in consumed else roots)
        self.roots |= made

    def passes(
        self, s: For | While, around: set[Var], saved: Roots
    ) -> tuple[set[Var], list[Statement]]:
        """The consumed variables, and the statements of the body: passes are looked at until one
        finds nothing new."""
        names, handed = carries(s), yields(s)
        live = around | {a for a in s.body.results if isinstance(a, Var)}
        shared: dict[Var, frozenset[Root]] = dict.fromkeys(names, NOTHING)
        consumed: set[Var] = set()
        while True:
            self.roots, self.mutated = dict(saved), set()
            if isinstance(s, While):
                for p, q, init in zip(s.test.params, names, s.inits, strict=True):
                    if has_memory(p):
                        start = NOTHING if q in consumed else self.of(init) | shared[q]
                        self.roots[p] = start | {("carry", q)}
                self.block(s.test.body, set())
            for p in filter(has_memory, names):
                self.roots[p] = shared[p] | {("carry", p)}
            body = self.block(s.body.body, live)
            mutated = {p for p in names if ("carry", p) in self.mutated}
            while more := self.sources(names, handed, mutated) - mutated:
                mutated |= more
            found = dict(shared)
            for p, y in zip(names, handed, strict=True):
                if p not in mutated:
                    found[p] |= self.of(y) - {("carry", p)}
            for p, y in zip(names, handed, strict=True):  # what a pass leaves under two names
                for q, z in zip(names, handed, strict=True):
                    if p is not q and self.of(y) & self.of(z):
                        found[p] |= {("carry", q)}
            if mutated <= consumed and found == shared:
                return consumed, body
            consumed |= mutated
            shared = found

    def sources(
        self, names: tuple[Var, ...], handed: tuple[Atom, ...], mutated: set[Var]
    ) -> set[Var]:
        """The variables whose memory the mutated ones have in the next pass."""
        kept = [self.of(y) for p, y in zip(names, handed, strict=True) if p in mutated]
        return {q for q in names if any(("carry", q) in roots for roots in kept)}

    def started(
        self,
        s: For | While,
        around: set[Var],
        saved: Roots,
        consumed: set[Var],
        out: list[Statement],
    ) -> tuple[Atom, ...]:
        """What the variables start from: copies for consumed ones that others see."""
        inits, handed = list(s.inits), yields(s)
        inside = self.roots
        self.roots = inside | saved  # as it was before the loop
        for k, p in enumerate(carries(s)):
            if p not in consumed:
                continue
            others = around | {a for j, a in enumerate(inits) if j != k and isinstance(a, Var)}
            if isinstance(inits[k], Var) and not self.exclusive(inits[k], others):
                inits[k] = made = self.copied(inits[k], out, p)
                inside[made] = self.roots[made]
            self.mutated |= self.of(inits[k]) | self.of(handed[k])
        self.roots = inside
        return tuple(inits)

    def handed_on(
        self, s: For | While, around: set[Var], consumed: set[Var], body: list[Statement]
    ) -> tuple[Atom, ...]:
        """What a pass hands on: copies where a consumed variable would share it with others."""
        names, handed = carries(s), list(yields(s))
        seen: set[Root] = set()
        for k, p in enumerate(names):
            if p not in consumed:
                continue
            y, mine = handed[k], self.of(handed[k])
            foreign = any(
                kind not in OURS or (kind == "carry" and v in names and v not in consumed)
                for kind, v in mine
            )
            outside = any(self.of(v) & mine for v in around) or (not mine and y in around)
            if foreign or outside or mine & seen:
                handed[k] = self.copied(y, body, (p, "yield"))
            seen |= self.of(handed[k])
        return tuple(handed)


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


def own(block: Block, ours: Collection[Var] = ()) -> Block:
    """`block` with copies where a store must not be seen; afterwards every store is in place.
    Parameters that are `ours` may be overwritten."""
    live = {a for a in block.results if isinstance(a, Var)}
    run = Ownership(block.params, ours=ours)
    run.results = live
    run.block(block.body, live)
    for _ in range(10):
        run = Ownership(block.params, run, ours)
        run.results = live
        body = run.block(block.body, live)
        if run.settled():
            return Block(block.params, tuple(body), block.results)
    raise InternalError("which arrays may be overwritten does not settle")
