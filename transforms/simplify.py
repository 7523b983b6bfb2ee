"""Algebra, common subexpressions and dead code, on structured programs.

a = x * 1; b = sin(a); c = sin(x); d = b + c      becomes      b = sin(x); d = b + b
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tapeless.transforms.core import builder
from tapeless.transforms.core.checker import check
from tapeless.transforms.core.dims import Dim, symbols
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
    Type,
    Var,
    While,
    blocks,
    operands,
    outputs,
)
from tapeless.transforms.core.rewriting import map_sizes, map_symbols
from tapeless.transforms.jvp import is_dead
from tapeless.transforms.ops import elementwise, shapes
from tapeless.transforms.ops.elementwise import (
    add,
    is_number,
    logical_not,
    mul,
    neg,
    select,
    sub,
    truediv,
)
from tapeless.transforms.residuals import sizes_in

FRESH = frozenset(
    {
        "zeros",
        "ones",
        "empty",
        "full",
        "new_stack",
        "zero_items",
        "set_item",
        "add_item",
        "array",
        "copy",
        "unstack",
        "push",
        "pop",
        "update",
        "add_at",
    }
)


def simplify(block: Block) -> Block:
    """The simplified block; with TAPELESS_CHECK in the environment, checked before and after."""
    if os.environ.get("TAPELESS_CHECK"):
        check(block, "staging")
    for _ in range(4):
        before = _count(block)
        block = dead_code(Simplifier().run(block))
        if _count(block) == before:
            break
    if os.environ.get("TAPELESS_CHECK"):
        check(block, "simplify")
    return block


def _count(block: Block) -> int:
    return sum(1 + sum(map(_count, blocks(s))) for s in block.body)


class Simplifier:
    def __init__(self) -> None:
        self.new: dict[Var, Atom] = {}
        self.sizes: dict[Any, Any] = {}  # sizes of values that were replaced by equal ones
        self.definitions: dict[Var, Let] = {}

    def run(self, block: Block) -> Block:
        b = builder.Builder()
        with builder.building(b):
            b.definitions = self.definitions
            self.statements(block.body, {})
            return Block(
                block.params, tuple(b.blocks[0]), tuple(self.atom(a) for a in block.results)
            )

    def atom(self, a: Atom) -> Atom:
        while isinstance(a, Var) and a in self.new:
            a = self.new[a]
        return a

    def block(self, block: Block, known: dict[Any, Let]) -> Block:
        with builder.current().block() as statements:
            self.statements(block.body, dict(known))
        return Block(block.params, tuple(statements), tuple(self.atom(a) for a in block.results))

    def statements(self, body: tuple[Statement, ...], known: dict[Any, Let]) -> None:
        b = builder.current()
        for s in body:
            b.origin = s.origin
            match s:
                case Let():
                    self.let(s, known)
                case If():
                    self.branch(s, known)
                case For():
                    b.emit(
                        replace(
                            s,
                            start=self.atom(s.start),
                            stop=self.atom(s.stop),
                            step=self.atom(s.step),
                            inits=tuple(map(self.atom, s.inits)),
                            body=self.block(s.body, known),
                        )
                    )
                case While():
                    b.emit(
                        replace(
                            s,
                            inits=tuple(map(self.atom, s.inits)),
                            test=self.block(s.test, known),
                            body=self.block(s.body, known),
                        )
                    )
                case Effect():
                    b.emit(replace(s, args=tuple(map(self.atom, s.args))))

    def let(self, s: Let, known: dict[Any, Let]) -> None:
        args = tuple(map(self.atom, s.args))
        s = Let(s.outs, s.op, args, map_sizes(s.params, self.new), s.origin)
        if self.sizes:
            s = replace(s, params=map_symbols(s.params, self.sizes))
            for v in s.outs:
                v.type = map_symbols({"type": v.type}, self.sizes)["type"]
        if len(s.outs) == 1:
            value = s.op.simplify(args, s.params) if s.op.simplify is not None else None
            if value is None:
                value = self.algebra(s)
            if value is not None and _fits(value, s.outs[0].type):
                self.replace_by(s.outs[0], self.atom(value))
                return
        if s.op.name not in FRESH and s.op.pure:
            key = (s.op, args, _key(s.params))
            if key in known:
                for old, new in zip(s.outs, known[key].outs, strict=True):
                    self.replace_by(old, new)
                return
            known[key] = s
        for v in s.outs:
            self.definitions[v] = s
        builder.current().emit(s)

    def replace_by(self, old: Var, value: Atom) -> None:
        if isinstance(value, Var) and old.name and not value.name:
            value.name = old.name
        for a, b in zip(
            getattr(old.type, "shape", ()), getattr(value.type, "shape", ()), strict=False
        ):
            if a != b and not isinstance(a, int) and len(sizes_in(a)) == 1:
                (symbol,) = sizes_in(a)
                if symbol.var is None and a == Dim((((symbol,), 1),)):
                    self.sizes[symbol] = b
        self.new[old] = value

    def branch(self, s: If, known: dict[Any, Let]) -> None:
        test = self.atom(s.test)
        if isinstance(test, Literal):
            side = s.then if test.value else s.orelse
            self.statements(side.body, known)
            for v, a in zip(s.outs, side.results, strict=True):
                self.replace_by(v, self.atom(a))
            return
        opposite = self.define(test)
        if opposite is not None and opposite.op is logical_not and not test.type.shape:
            test, s = opposite.args[0], replace(s, then=s.orelse, orelse=s.then)
        then, orelse = self.block(s.then, known), self.block(s.orelse, known)
        inside = {v for side in (then, orelse) for t in side.body for v in outputs(t)}
        keep = []
        for k, v in enumerate(s.outs):
            p, q = then.results[k], orelse.results[k]
            if p == q and isinstance(p, (Literal, Var)) and (isinstance(p, Literal) or p is q):
                self.replace_by(v, p)
            elif is_dead(p) and not is_dead(q) and q not in inside and q.type == v.type:
                self.replace_by(v, q)
            elif is_dead(q) and not is_dead(p) and p not in inside and p.type == v.type:
                self.replace_by(v, p)
            elif (
                isinstance(p, Literal)
                and isinstance(q, Literal)
                and p.value is True
                and q.value is False
            ):
                self.replace_by(v, test)
            else:
                keep.append(k)
        builder.current().emit(
            If(
                tuple(s.outs[k] for k in keep),
                test,
                Block((), then.body, tuple(then.results[k] for k in keep)),
                Block((), orelse.body, tuple(orelse.results[k] for k in keep)),
                s.mirror,
                s.origin,
            )
        )

    def define(self, a: Atom) -> Let | None:
        return self.definitions.get(a) if isinstance(a, Var) else None

    def algebra(self, s: Let) -> Atom | None:
        """Small rewrites that make derivatives read like hand-written ones."""
        rule = RULES.get(s.op)
        return rule(self, s) if rule is not None else None


def _key(value: Any) -> Any:
    """Something hashable that is equal for equal params."""
    if isinstance(value, dict):
        return tuple((k, _key(v)) for k, v in sorted(value.items()))
    if isinstance(value, (tuple, list)):
        return tuple(map(_key, value))
    if isinstance(value, slice):
        return ("slice", _key(value.start), _key(value.stop), _key(value.step))
    if isinstance(value, np.ndarray):
        return (value.dtype, value.shape, value.tobytes())
    return (type(value), value)


def _fits(value: Atom, kind: Any) -> bool:
    if isinstance(kind, StackType):
        return True
    return value.type.dtype == kind.dtype and value.type.shape == kind.shape


def _add(self: Simplifier, s: Let) -> Atom | None:
    a, b = s.args
    for x, y in ((a, b), (b, a)):
        let = self.define(y)
        if let is not None and let.op is neg:
            return sub(x, let.args[0])  # type: ignore[no-any-return]
        if let is not None and let.op is mul and _is_negative(let.args[0]):
            return sub(x, mul(-let.args[0].value, let.args[1]))  # type: ignore[union-attr, no-any-return]
    return None


def _is_negative(a: Atom) -> bool:
    return isinstance(a, Literal) and a.type.dtype.kind in "if" and a.value < 0


def _sub(self: Simplifier, s: Let) -> Atom | None:
    a, b = s.args
    let = self.define(b)
    if let is not None and let.op is neg:
        return add(a, let.args[0])  # type: ignore[no-any-return]
    return None


def _mul(self: Simplifier, s: Let) -> Atom | None:
    a, b = s.args
    if (
        isinstance(b, Literal)
        and not isinstance(a, Literal)
        and not a.type.shape == () != b.type.shape
    ):
        if is_number(b, -1) and a.type.dtype.kind == "f":
            return neg(a)  # type: ignore[no-any-return]
        return mul(b, a)  # type: ignore[no-any-return]
    if is_number(a, -1) and b.type.dtype.kind == "f":
        return neg(b)  # type: ignore[no-any-return]
    left, right = self.define(a), self.define(b)
    for let, other in ((left, b), (right, a)):
        if let is not None and let.op is neg and other.type.dtype.kind == "f":
            return neg(mul(let.args[0], other) if let is left else mul(other, let.args[0]))  # type: ignore[no-any-return]
    if (
        isinstance(a, Literal)
        and right is not None
        and right.op is mul
        and isinstance(right.args[0], Literal)
    ):
        return mul(mul(a, right.args[0]), right.args[1])  # type: ignore[no-any-return]
    if (
        left is None
        and right is not None
        and right.op is mul
        and isinstance(right.args[0], Literal)
        and a.type.dtype.kind == "f"
    ):
        return mul(right.args[0], mul(a, right.args[1]))  # type: ignore[no-any-return]
    if is_number(a, 1.0) and isinstance(b, Var) and _fits(b, s.outs[0].type):
        return b
    return None


def _neg(self: Simplifier, s: Let) -> Atom | None:
    let = self.define(s.args[0])
    if let is not None and let.op is neg:
        return let.args[0]
    if let is not None and let.op is mul and isinstance(let.args[0], Literal):
        return mul(neg(let.args[0]), let.args[1])  # type: ignore[no-any-return]
    return None


def _select(self: Simplifier, s: Let) -> Atom | None:
    """where(c, where(c, a, 0), 0) is where(c, a, 0)."""
    test, a, b = s.args
    let = self.define(a)
    if let is not None and let.op is select and let.args[0] is test and let.args[2] == b:
        return a
    return None


def _broadcast(self: Simplifier, s: Let) -> Atom | None:
    let = self.define(s.args[0])
    if let is not None and let.op is shapes.broadcast_to:
        return shapes.broadcast_to(let.args[0], **s.params)  # type: ignore[no-any-return]
    return None


def _reshape(self: Simplifier, s: Let) -> Atom | None:
    let = self.define(s.args[0])
    if let is not None and let.op is shapes.reshape:
        return shapes.reshape(let.args[0], **s.params)  # type: ignore[no-any-return]
    return None


def _transpose(self: Simplifier, s: Let) -> Atom | None:
    let = self.define(s.args[0])
    if let is not None and let.op is shapes.transpose:
        inner = let.params["axes"]
        return shapes.transpose(let.args[0], axes=tuple(inner[k] for k in s.params["axes"]))  # type: ignore[no-any-return]
    return None


def _elementwise_of_broadcast(self: Simplifier, s: Let) -> Atom | None:
    """broadcast_to(a) * b needs no broadcast if b has the full shape already."""
    changed = False
    args = []
    for k, a in enumerate(s.args):
        let = self.define(a)
        others = [x for j, x in enumerate(s.args) if j != k]
        if (
            let is not None
            and let.op is shapes.broadcast_to
            and any(o.type.shape == s.outs[0].type.shape for o in others)
        ):
            args.append(let.args[0])
            changed = True
            break
        args.append(a)
    if not changed:
        return None
    args += s.args[len(args) :]
    made = s.op(*args, **s.params)
    return made  # type: ignore[no-any-return]


def _binary(
    rule: Callable[[Simplifier, Let], Atom | None] | None,
) -> Callable[[Simplifier, Let], Atom | None]:
    def run(self: Simplifier, s: Let) -> Atom | None:
        found = rule(self, s) if rule is not None else None
        return found if found is not None else _elementwise_of_broadcast(self, s)

    return run


RULES: dict[Any, Callable[[Simplifier, Let], Atom | None]] = {
    add: _binary(_add),
    sub: _binary(_sub),
    mul: _binary(_mul),
    truediv: _binary(None),
    elementwise.power: _binary(None),
    neg: _neg,
    select: _binary(_select),
    shapes.broadcast_to: _broadcast,
    shapes.reshape: _reshape,
    shapes.transpose: _transpose,
}


# -- dead code


def dead_code(block: Block) -> Block:
    live: set[Var] = {a for a in block.results if isinstance(a, Var)}
    given: dict[Any, Any] = {x: None for p in block.params for x in sizes_in(p.type)}
    body = _sweep(block.body, live, _homes(block.body, given))
    return Block(block.params, tuple(body), block.results)


def _size_vars(s: Statement) -> set[Var]:
    found: set[Var] = set()
    if isinstance(s, Let):
        for value in s.params.values():
            found |= {x.var for x in sizes_in(value) if x.var is not None}
    return found


def _homes(body: tuple[Statement, ...], table: dict[Any, Var]) -> dict[Any, Var]:
    """The variable whose shape shows each size that is made at run time."""
    for s in body:
        for b in blocks(s):
            for p in b.params:
                _home(p, table)
            _homes(b.body, table)
        for v in outputs(s):
            _home(v, table)
    return table


def _home(v: Var, table: dict[Any, Var]) -> None:
    for size in getattr(v.type, "shape", ()):
        if (
            not isinstance(size, int)
            and len(size.terms) == 1
            and len(size.terms[0][0]) == 1
            and size.terms[0][1] == 1
        ):
            for symbol in symbols(size):
                if symbol.var is None:
                    table.setdefault(symbol, v)


def _needs(s: Statement, homes: dict[Any, Var]) -> set[Var]:
    found = _size_vars(s)
    if isinstance(s, Let):
        for value in s.params.values():
            found |= {homes[x] for x in sizes_in(value) if homes.get(x) is not None}
    return found


def _sweep(
    body: tuple[Statement, ...], live: set[Var], homes: dict[Any, Var] | None = None
) -> list[Statement]:
    homes = _homes(body, {}) if homes is None else homes
    kept: list[Statement] = []
    for s in reversed(body):
        match s:
            case Let():
                if not any(v in live for v in s.outs) and s.op.pure:
                    continue
            case Effect():
                pass
            case If():
                keep = [k for k, v in enumerate(s.outs) if v in live]
                sides = []
                for side in (s.then, s.orelse):
                    inner = set(live) | {a for k in keep if isinstance(a := side.results[k], Var)}
                    statements = _sweep(side.body, inner, homes)
                    live |= inner
                    sides.append(Block((), tuple(statements), tuple(side.results[k] for k in keep)))
                if not keep and not sides[0].body and not sides[1].body:
                    continue
                s = replace(s, outs=tuple(s.outs[k] for k in keep), then=sides[0], orelse=sides[1])
            case For():
                made = _sweep_for(s, live, homes)
                if made is None:
                    continue
                s = made
            case While():
                s = _sweep_while(s, live, homes)
        live |= {a for a in operands(s) if isinstance(a, Var)} | _needs(s, homes)
        kept.append(s)
    return kept[::-1]


def _sweep_for(s: For, live: set[Var], homes: dict[Any, Var]) -> For | None:
    keep = [v in live for v in s.outs]
    flag = s.body.results[:1] if s.until else ()
    while True:
        inner = set(live) | {
            a for a, on in zip(s.yields, keep, strict=True) if on and isinstance(a, Var)
        }
        inner |= {a for a in flag if isinstance(a, Var)}
        statements = _sweep(s.body.body, inner, homes)
        new = [on or p in inner for on, p in zip(keep, s.carries, strict=True)]
        if new == keep:
            break
        keep = new
    effects = any(isinstance(x, Effect) for x in _all(statements))
    if not any(keep) and not effects and (s.count is None or s.count not in live):
        return None
    live |= inner
    pick = [k for k, on in enumerate(keep) if on]
    body = Block(
        (s.index, *(s.carries[k] for k in pick)),
        tuple(statements),
        (*flag, *(s.yields[k] for k in pick)),
    )
    return replace(
        s, outs=tuple(s.outs[k] for k in pick), inits=tuple(s.inits[k] for k in pick), body=body
    )


def _all(body: list[Statement]) -> list[Statement]:
    return [x for s in body for x in (s, *(y for b in blocks(s) for y in _all(list(b.body))))]


def _sweep_while(s: While, live: set[Var], homes: dict[Any, Var]) -> While:
    keep = [v in live for v in s.outs]
    while True:
        inner = set(live) | {
            a for a, on in zip(s.body.results, keep, strict=True) if on and isinstance(a, Var)
        }
        inner |= {a for a in s.test.results if isinstance(a, Var)}
        tests = _sweep(s.test.body, inner, homes)
        statements = _sweep(s.body.body, inner, homes)
        new = [
            on or p in inner or q in inner
            for on, p, q in zip(keep, s.body.params, s.test.params, strict=True)
        ]
        if new == keep:
            break
        keep = new
    live |= inner
    pick = [k for k, on in enumerate(keep) if on]
    test = Block(tuple(s.test.params[k] for k in pick), tuple(tests), s.test.results)
    body = Block(
        tuple(s.body.params[k] for k in pick),
        tuple(statements),
        tuple(s.body.results[k] for k in pick),
    )
    return replace(
        s,
        outs=tuple(s.outs[k] for k in pick),
        inits=tuple(s.inits[k] for k in pick),
        test=test,
        body=body,
    )


__all__ = ["Type", "dead_code", "simplify"]
