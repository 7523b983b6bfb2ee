"""Decides which stores can be made in place, and copies what cannot.

    y = update(x, v, i)         becomes     x[i] = v            where x is dead afterwards and ours
                                            y = x.copy(); ...   where it is not

Values are immutable in core, so a store is in place only if nobody can see the old value: no
variable that is live afterwards may share the memory (`sharing.py`), and the memory must not be the
caller's.

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(store_in_place, '''
... (x: f8[n], i: pyi8):
...     y = mul(2.0, x)
...     z = update(y, 0.0, i, key=(Slot(0),))
...     u = update(x, 1.0, i, key=(Slot(0),))
...     return z, u
... '''))
(x: f8[n], i: pyi8):
    y: f8[n] = mul(2.0, x)
    z: f8[n] = update(y, 0.0, i, key=(Slot(0),))
    u: f8[n] = copy(x)
    u_2: f8[n] = update(u, 1.0, i, key=(Slot(0),))
    return z, u_2
"""

from __future__ import annotations

import functools
from collections.abc import Collection
from dataclasses import replace

from tapeless.transforms.analysis.undefined_values import may_lack
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Let,
    Statement,
    Var,
    While,
    operands,
    outputs,
    statements,
)
from tapeless.transforms.memory.aliasing import (
    NOTHING,
    OURS,
    AliasWalk,
    Root,
    Roots,
    has_memory,
    in_later_passes,
    read_inside,
)
from tapeless.transforms.ops.primitives.shapes import copy
from tapeless.transforms.optimize.loop_carries import carries, yields


class InPlaceStores(AliasWalk):
    """Loops, of which a pass may overwrite what the one before it made."""

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
        inits = self.start_loop(s, around, saved, consumed, out)
        handed = self.handed_on(s, around, consumed, body)
        self.mutated |= mutated
        flag = s.body.results[:1] if isinstance(s, For) and s.until else ()
        new_body = Block(s.body.params, tuple(body), (*flag, *handed))
        out.append(replace(s, inits=inits, body=new_body))
        self.bind_outs(s, inits, handed, consumed)

    def bind_outs(
        self, s: For | While, inits: Collection[Atom], handed: Collection[Atom], consumed: set[Var]
    ) -> None:
        """What the variables of a loop share memory with after it."""
        rows = list(zip(s.outs, carries(s), inits, handed, strict=True))
        behind = {("carry", p): (v, init, y) for v, p, init, y in rows}

        def resolve(roots: frozenset[Root], seen: set[Root]) -> set[Root]:
            own_roots = set(roots - behind.keys())
            for root in (roots & behind.keys()) - seen:
                v, init, y = behind[root]
                seen.add(root)
                more = self.roots_of(init) | self.roots_of(root[1]) | self.roots_of(y)
                own_roots |= {("own", v)} if root[1] in consumed else resolve(more, seen)
            return own_roots

        after_loop = {}
        for v, p, init, y in rows:
            if has_memory(v):
                roots = resolve(self.roots_of(init) | self.roots_of(y), set()) | {("shared", v)}
                after_loop[v] = frozenset({("own", v)} if p in consumed else roots)
        self.roots |= after_loop

    def passes(
        self, s: For | While, around: set[Var], saved: Roots
    ) -> tuple[set[Var], list[Statement]]:
        """The consumed variables, and the statements of the body: passes are looked at until one
        finds nothing new."""
        names, handed = carries(s), yields(s)
        live = around | {a for a in s.body.results if isinstance(a, Var)}
        shared: dict[Var, frozenset[Root]] = dict.fromkeys(names, NOTHING)
        consumed: set[Var] = set()
        kept = self.kept
        while True:
            self.roots, self.mutated, self.kept = dict(saved), set(), set(kept)
            for p, init in zip(names, s.inits, strict=True):
                self.starts["carry", p] = NOTHING if p in consumed else self.roots_of(init)
            if isinstance(s, While):
                for p, q, init in zip(s.test.params, names, s.inits, strict=True):
                    if has_memory(p):
                        start = NOTHING if q in consumed else self.roots_of(init) | shared[q]
                        self.roots[p] = start | {("carry", q)}
                self.block(s.test.body, set())
            for p in filter(has_memory, names):
                self.roots[p] = shared[p] | {("carry", p)}
            body = self.block(s.body.body, live)
            mutated = {p for p in names if ("carry", p) in self.mutated}
            while more := self.sources(names, handed, mutated) - mutated:
                mutated |= more
            in_body, inside = dict(shared), _made_in(body)
            for p, y in zip(names, handed, strict=True):
                if p not in mutated:
                    in_body[p] |= in_later_passes(self.roots_of(y), inside) - {("carry", p)}
            for p, y in zip(names, handed, strict=True):  # what a pass leaves under two names
                for q, z in zip(names, handed, strict=True):
                    if p is not q and self.roots_of(y) & self.roots_of(z):
                        in_body[p] |= {("carry", q)}
            if mutated <= consumed and in_body == shared:
                return consumed, body
            consumed |= mutated
            shared = in_body

    def sources(
        self, names: tuple[Var, ...], handed: tuple[Atom, ...], mutated: set[Var]
    ) -> set[Var]:
        """The variables whose memory the mutated ones have in the next pass."""
        kept = [self.roots_of(y) for p, y in zip(names, handed, strict=True) if p in mutated]
        return {q for q in names if any(("carry", q) in roots for roots in kept)}

    def start_loop(
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
                inits[k] = start = self.copy_for(inits[k], out, p)
                inside[start] = self.roots[start]
            self.mutated |= self.roots_of(inits[k]) | self.roots_of(handed[k])
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
            y, mine = handed[k], self.roots_of(handed[k])
            foreign = any(
                kind not in OURS or (kind == "carry" and v in names and v not in consumed)
                for kind, v in mine
            )
            outside = any(self.roots_of(v) & mine for v in around) or (not mine and y in around)
            if foreign or outside or mine & seen:
                handed[k] = self.copy_for(y, body, (p, "yield"))
            seen |= self.roots_of(handed[k])
        return tuple(handed)


def _made_in(body: list[Statement]) -> set[Var]:
    return {v for s in statements(Block((), tuple(body), ())) for v in outputs(s)}


def store_in_place(block: Block, ours: Collection[Var] = ()) -> Block:
    """`block` with copies where a store must not be seen; afterwards every store is in place.
    Parameters that are `ours` may be overwritten."""
    live = {a for a in block.results if isinstance(a, Var)}
    lacking = functools.cache(lambda: may_lack(block))
    run = InPlaceStores(block.params, ours=ours)
    run.results, run.lacking = live, lacking
    run.block(block.body, live)
    while True:  # what runs find only grows, by one variable of a chain of sums each, and is finite
        run = InPlaceStores(block.params, run, ours)
        run.results, run.lacking = live, lacking
        body = run.block(block.body, live)
        if run.is_consistent():
            return _without_last_copies(Block(block.params, tuple(body), block.results), run)


def _without_last_copies(block: Block, run: InPlaceStores) -> Block:
    """The block, which returns x for x.copy() where x is memory of its own by now, since a loop
    that overwrites it starts from a copy."""
    copied: dict[Atom, Atom] = {}
    read: set[Atom] = set()
    for s in reversed(block.body):
        if not isinstance(s, Let) or s.op.inplace:
            break
        if s.op is copy and s.outs[0] in block.results and s.outs[0] not in read:
            (v,), (a,), kept = s.outs, s.args, run.held or set()
            others = [copied.get(r, r) for r in block.results if r is not v]
            mine, seen = run.roots_of(a), kept.union(*map(run.roots_of, others))
            if {kind for kind, _ in mine} == {"own"} and mine.isdisjoint(seen):
                copied[v] = a
        read.update(s.args)
    body = tuple(s for s in block.body if copied.keys().isdisjoint(outputs(s)))
    return Block(block.params, body, tuple(copied.get(r, r) for r in block.results))
