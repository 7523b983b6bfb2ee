"""Finds the variables that are live at the same time, and so cannot share a name.

x = a; y = f(x); return y      x and y may share a name: x is not read after y has its value

A side of a branch knows nothing of what only the other side needs. Variables that must share a
name, such as an array before and after a store, count as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    For,
    If,
    Let,
    Statement,
    Var,
    While,
    blocks,
    is_undefined,
    operands,
    outputs,
)
from tapeless.transforms.emit.control_flow import flag_carry, is_exit_decided, loop_flag
from tapeless.transforms.optimize.loop_carries import carries, yields

Vars = set[Var]


class Lifetimes:
    """rivals: for each variable those that hold something else that is needed when it is set."""

    def __init__(self, block: Block, folded: Mapping[Var, Any], sizes: Mapping[Any, Vars]) -> None:
        self.folded, self.sizes = folded, sizes
        self.order: list[Var] = []
        self.same: dict[Var, Var] = {}  # which other variable has the same name in any case
        self.inside: dict[Var, Vars] = {}
        self.rivals: dict[Var, Vars] = {}
        self.free: dict[Block, Vars] = {}  # what a block reads of the blocks around
        self.enter(block)
        live = self.reads(block.results)
        self.walk(block.body, live)
        self.set_at_once(block.params, [None] * len(block.params), live)

    def representative(self, v: Var) -> Var:
        """The variable that stands for all that must have the name of `v`."""
        return self.same.get(v, v)

    # -- forwards: order, names that must be the same, and what blocks read

    def enter(self, block: Block) -> None:
        self.order += block.params
        read: Vars = set()
        defined = set(block.params)
        for s in block.body:
            if s.outs and s.outs[0] in self.folded:
                continue
            read |= self.reads((*operands(s), *self.sizes.get(s, ())))
            defined |= self.share(s)
            for b in blocks(s):
                self.enter(b)
                read |= self.free[b]
            self.order += outputs(s)
        self.free[block] = (read | self.reads(block.results)) - defined

    def share(self, s: Statement) -> Vars:
        """Notes which outputs have the name of another variable; gives those that are new."""
        match s:
            case Let(outs=(v, *more)) if s.op.inplace and isinstance(s.args[0], Var):
                self.same[v] = self.representative(s.args[0])
                return set(more)
            case For(count=count):
                self.order += s.carries  # before the index
                self.same.update(zip(s.outs, s.carries, strict=True))
                return {*s.carries, count} if count is not None else set(s.carries)
            case While():
                self.same.update(zip(s.outs, s.body.params, strict=True))
                self.same.update(zip(s.test.params, s.body.params, strict=True))
                return set(s.body.params)
        return set(s.outs)

    def reads(self, atoms: Iterable[Atom]) -> Vars:
        """What is read where the atoms are computed."""
        variables: Vars = set()
        for a in atoms:
            if isinstance(a, Var):
                variables |= self.inner(a) if a in self.folded else {self.representative(a)}
        return variables

    def inner(self, v: Var) -> Vars:
        """What a folded value is made of."""
        if v not in self.inside:
            s = self.folded[v]
            sides = [a for b in blocks(s) for a in b.results]
            self.inside[v] = self.reads((*operands(s), *sides, *self.sizes.get(s, ())))
        return self.inside[v]

    # -- backwards: what is needed later

    def walk(self, body: tuple[Statement, ...], live: Vars) -> None:
        """Makes what is needed after the statements what is needed before them."""
        for s in reversed(body):
            match s:
                case Let() | If() if s.outs and s.outs[0] in self.folded:
                    continue
                case Let():
                    self.let(s, live)
                case Effect():
                    live |= self.reads((*s.args, *self.sizes.get(s, ())))
                case If():
                    self.branch(s, live)
                case For():
                    self.visit_for(s, live)
                case While():
                    self.while_(s, live)

    def set_at_once(self, to: Iterable[Var], values: Iterable[Atom | None], live: Vars) -> None:
        """Variables are set; one that gets a copy of another holds the same as that one."""
        moved = [(self.representative(v), a) for v, a in zip(to, values, strict=True)]
        everything = live.union(v for v, _ in moved)
        for v, a in moved:
            copied = self.representative(a) if isinstance(a, Var) and a not in self.folded else None
            if copied is not v:
                self.rivals.setdefault(v, set()).update(everything - {v, copied})
        live.difference_update(v for v, a in moved)

    def let(self, s: Let, live: Vars) -> None:
        copied = s.args[:1] if s.op.source == "{0}" else [None] * len(s.outs)
        self.set_at_once(s.outs, copied, live)
        live |= self.reads((*s.args, *self.sizes.get(s, ())))

    def branch(self, s: If, live: Vars) -> None:
        before: Vars = self.reads((s.test,))
        for side in (s.then, s.orelse):
            here = set(live)
            self.set_at_once(s.outs, side.results, here)
            here |= self.reads(side.results)
            self.walk(side.body, here)
            before |= here
        live.clear()
        live |= before

    def pass_(self, s: For | While, live: Vars) -> Vars:
        """What is needed before the body of a loop if `live` is needed after each pass."""
        here, k = set(live), flag_carry(s)  # a flag is set where the loop is left
        flag = loop_flag(s)
        if flag is not None and not is_exit_decided(flag, s.body.body):
            here |= self.reads((flag,))
        rows = [row for j, row in enumerate(zip(carries(s), yields(s), strict=True)) if j != k]
        results = [y for _, y in rows]
        self.set_at_once([p for p, _ in rows], results, here)
        here |= {p for p, y in rows if is_undefined(y) and p in live} | self.reads(results)
        self.walk(s.body.body, here)
        return here

    def visit_for(self, s: For, live: Vars) -> None:
        counted = {s.count} if s.count is not None else set()
        after = live | self.free[s.body] | counted
        here = self.pass_(s, after | {s.index})
        self.set_at_once([s.index], [None], here)
        live |= here | self.reads((s.start, s.stop, s.step))
        self.set_at_once(counted, [None] * len(counted), live)
        self.start(s.carries, s.inits, live)

    def while_(self, s: While, live: Vars) -> None:
        k = flag_carry(s)  # a flag that ends the loop is not asked by its test
        unasked = set() if k is None else {s.body.params[k]}
        after = live | ((self.free[s.body] | self.free[s.test]) - unasked)
        here = self.pass_(s, after)
        live |= here | self.reads(s.test.results)
        self.walk(s.test.body, live)
        self.start(s.body.params, s.inits, live)

    def start(self, carries: tuple[Var, ...], inits: tuple[Atom, ...], live: Vars) -> None:
        self.set_at_once(carries, inits, live)
        live |= self.reads(inits)
