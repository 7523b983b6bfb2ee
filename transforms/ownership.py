"""Decides which stores can be made in place, and copies what cannot.

    y = update(x, v, i)         becomes     x[i] = v            where x is dead afterwards and ours
                                            y = x.copy(); ...   where it is not

Values are immutable in core, so a store is in place only if nobody can see the old value: no
variable that is live afterwards may share the memory, and the memory must not be the caller's.
"""

from __future__ import annotations

from collections.abc import Collection
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
    Var,
    While,
    blocks,
    operands,
    outputs,
)
from tapeless.transforms.errors import InternalError
from tapeless.transforms.ops.calls import bundle, is_call, unbundle
from tapeless.transforms.ops.overwriting import COMMUTATIVE, OVERWRITING
from tapeless.transforms.ops.shapes import broadcast_to, copy
from tapeless.transforms.ops.stacks import peek, push, set_item, unstack
from tapeless.transforms.simplify import _needs

Root = tuple[str, Any]
Roots = dict[Var, frozenset[Root]]
NOTHING: frozenset[Root] = frozenset()
KEPT = {push: 1, set_item: 2}  # which argument a stack holds on to


def has_memory(a: Atom) -> bool:
    return isinstance(a, Var) and (isinstance(a.type, StackType) or bool(a.type.shape))


def uses(s: Statement) -> set[Var]:
    """Variables a statement reads, with its blocks."""
    found = {a for a in operands(s) if type(a) is Var}
    if type(s) is Let:
        return found
    for b in blocks(s):
        inner = {a for a in b.results if isinstance(a, Var)}
        defined = set(b.params)
        for t in b.body:
            inner |= uses(t)
            defined |= set(outputs(t))
        found |= inner - defined
    return found


def live_after(body: tuple[Statement, ...], live: set[Var]) -> list[set[Var]]:
    """For each statement that writes, or may, the variables that are read after it."""
    found = []
    live, nothing = set(live), set[Var]()
    for s in reversed(body):
        writes = type(s) is not Let or s.op.inplace or s.op in OVERWRITING
        found.append(set(live) if writes else nothing)
        live.difference_update(outputs(s))
        live |= uses(s)
        live |= _needs(s, {})
    return found[::-1]


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

    def of(self, a: Atom) -> frozenset[Root]:
        return self.roots.get(a, NOTHING) if isinstance(a, Var) else NOTHING

    def exclusive(self, a: Atom, live: set[Var]) -> bool:
        mine = self.of(a)
        if any(kind not in ("own", "carry") for kind, _ in mine):
            return False
        return a not in live and not any(self.of(v) & mine for v in live)

    def block(self, body: tuple[Statement, ...], live: set[Var]) -> list[Statement]:
        out: list[Statement] = []
        for s, after in zip(body, live_after(body, live), strict=True):
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
        if s.op is bundle or (is_call(s) and s.outs and s.outs[-1].type == TAPE):
            s = self.hold(s, out)
        for v in s.outs:
            if not has_memory(v):
                continue
            if s.op is unbundle or (is_call(s) and s.outs[-1].type == TAPE):
                self.roots[v] = frozenset({("outer", v)})  # a tape has it, too
            elif s.op is broadcast_to:
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
        """What goes into a tape must not be overwritten later."""
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
        if target in held or any(kind not in ("own", "carry") for kind, _ in mine):
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
            name = a.name if isinstance(a, Var) else ""
            made = self.copies[a, use] = Var(a.type, name)
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
        body = s.body
        carries = s.carries if isinstance(s, For) else body.params
        yields = list(s.yields if isinstance(s, For) else body.results)
        around = after | (uses(s) - {a for a in s.inits if isinstance(a, Var)}) | _free(s)
        live = (
            around
            | {a for a in body.results if isinstance(a, Var)} - set(carries)
            | ({a for a in body.results if isinstance(a, Var)})
        )
        saved, saved_mutated = dict(self.roots), set(self.mutated)
        shared: dict[Var, frozenset[Root]] = dict.fromkeys(carries, NOTHING)
        consumed: set[Var] = set()
        for _ in range(8):
            self.roots, self.mutated = dict(saved), set()
            for p, init in zip(carries, s.inits, strict=True):
                if has_memory(p):
                    self.roots[p] = (
                        frozenset({("carry", p)})
                        if p in consumed
                        else frozenset({("carry", p)}) | self.of(init) | shared[p]
                    )
            if isinstance(s, While):
                for p, q in zip(s.test.params, carries, strict=True):
                    self.roots[p] = self.of(q)
                self.block(s.test.body, set())
            optimistic = dict(self.roots)
            for p in carries:
                if has_memory(p):
                    self.roots[p] = frozenset({("carry", p)}) | shared[p]
            statements = self.block(body.body, live)
            mutated = {p for p in carries if ("carry", p) in self.mutated}
            while True:
                more = {
                    q
                    for p, y in zip(carries, yields, strict=True)
                    if p in mutated
                    for q in carries
                    if ("carry", q) in self.of(y)
                }
                if more <= mutated:
                    break
                mutated |= more
            flows = {
                p: frozenset(r for r in self.of(y) if r != ("carry", p))
                if p not in mutated
                else NOTHING
                for p, y in zip(carries, yields, strict=True)
            }
            new_shared = {p: shared[p] | flows[p] for p in carries}
            for p, y in zip(carries, yields, strict=True):  # what a pass leaves under two names
                for q, z in zip(carries, yields, strict=True):
                    if p is not q and self.of(y) & self.of(z):
                        new_shared[p] |= {("carry", q)}
            if mutated <= consumed and new_shared == shared:
                break
            consumed |= mutated
            shared = new_shared
            del optimistic
        inits = list(s.inits)
        for k, p in enumerate(carries):
            others = around | {a for j, a in enumerate(s.inits) if j != k and isinstance(a, Var)}
            inside_roots = self.roots
            self.roots = {**saved, **{v: r for v, r in inside_roots.items() if v not in saved}}
            if p in consumed and isinstance(inits[k], Var) and not self.exclusive(inits[k], others):
                made = self.copied(inits[k], out, p)
                inside_roots[made] = self.roots[made]
                inits[k] = made
            if p in consumed:
                self.mutated |= self.of(inits[k]) | self.of(yields[k])
            self.roots = inside_roots
        seen: set[Root] = set()
        for k, p in enumerate(carries):
            if p not in consumed:
                continue
            y = yields[k]
            mine = self.of(y)
            foreign = any(
                kind not in ("own", "carry")
                or (kind == "carry" and v in carries and v not in consumed)
                for kind, v in mine
            )
            outside = any(self.of(v) & mine for v in around)
            if (mine and (foreign or outside or mine & seen)) or (
                not mine and isinstance(y, Var) and y in around
            ):
                yields[k] = self.copied(y, statements, (p, "yield"))
                mine = self.of(yields[k])
            seen |= mine
        self.mutated |= saved_mutated
        flag = body.results[:1] if isinstance(s, For) and s.until else ()
        made_body = Block(body.params, tuple(statements), (*flag, *yields))
        out.append(replace(s, inits=tuple(inits), body=made_body))
        for v, p, init, y in zip(s.outs, carries, inits, yields, strict=True):
            if has_memory(v):
                self.roots[v] = (
                    frozenset({("own", v)})
                    if p in consumed
                    else self.of(init) | self.of(y) | frozenset({("shared", v)})
                )


def _is_seen(a: Atom) -> bool:
    """Whether an index is read while a store is made; NumPy reads masks before."""
    dtype = getattr(a.type, "dtype", None)
    return isinstance(a, Var) and (dtype is None or dtype.kind != "b")


def _free(s: For | While) -> set[Var]:
    found: set[Var] = set()
    for b in blocks(s):
        defined = set(b.params)
        for t in b.body:
            found |= uses(t) - defined
            defined |= set(outputs(t))
        found |= {a for a in b.results if isinstance(a, Var)} - defined
    return found


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
