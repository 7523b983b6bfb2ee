"""Fuses backward loops that only multiply what they carry with the forward loop: the order of the
factors makes no difference, so nothing is saved for them.

for t: s[t] = x; x = sin(x) ... for t, reversed: b = b * cos(s[t])
    becomes      p = ones; for t: p = p * cos(x); x = sin(x) ... b = b * p

This is the derivative of a loop that treats each number by itself.

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(fuse_reverse_loops, '''
... (x: f8, n: pyi8):
...     saved = empty(shape=(n,), dtype=float64)
...     x_2, saved_2 = for i in range(0, n, 1) with a: f8 = x, s: f8[n] = saved:
...         s_2 = update(s, a, i, key=(Slot(0),))
...         b = sin(a)
...         yield b, s_2
...     y = for j in reversed(range(0, n, 1)) with x_bar: f8 = 1.0:
...         c = index(saved_2, j, key=(Slot(0),))
...         d = cos(c)
...         e = mul(x_bar, d)
...         yield e
...     return y
... '''))
(x: f8, n: pyi8):
    x_2, y = for i in range(0, n, 1) with a: f8 = x, x_bar: f8 = np.float64(1.0):
        d: f8 = cos(a)
        e: f8 = mul(x_bar, d)
        b: f8 = sin(a)
        yield b, e
    return y
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    Statement,
    Var,
    While,
    blocks,
    free_variables,
    operands,
    statements,
)
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.lowering.optimize.driver_views import measures
from tapeless.transforms.lowering.schedule.loop_nests import STORING
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub, truediv
from tapeless.transforms.ops.primitives.new_arrays import full, ones
from tapeless.transforms.ops.primitives.shapes import broadcast_to
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, index, update
from tapeless.transforms.optimize.dead_code import dead_code

LINEAR = frozenset([mul, truediv, add, sub, neg])


class Apart(Exception):  # noqa: N818 (a result, not an error)
    """The loops stay as they are."""


def fuse_reverse_loops(block: Block) -> Block:
    """The block with such loops joined; in those of its blocks, too."""
    if measures(block):
        return block
    fused = _block(block)
    return fused if fused is block else dead_code(fused)


def _block(block: Block) -> Block:
    body = [_inner(s) for s in block.body]
    changed = any(a is not b for a, b in zip(body, block.body, strict=True))
    results = block.results
    for back in [s for s in body if isinstance(s, For) and s.reverse]:
        forward = next((s for s in body if isinstance(s, For) and _mirrors(s, back)), None)
        if forward is None:
            continue
        try:
            body = Joining(forward, back, body).run()
            changed = True
        except Apart:
            continue
    return replace(block, body=tuple(body), results=results) if changed else block


def _inner(s: Statement) -> Statement:
    inner = [_block(b) for b in blocks(s)]
    if all(a is b for a, b in zip(inner, blocks(s), strict=True)):
        return s
    match s:
        case If():
            return replace(s, then=inner[0], orelse=inner[1])
        case For():
            return replace(s, body=inner[0])
        case While():
            return replace(s, test=inner[0], body=inner[1])
    raise TypeError(s)


def _mirrors(s: For, back: For) -> bool:
    """Whether a loop makes the same passes, forward."""
    plain = not any(f.until or f.count is not None or f.each for f in (s, back))
    return (
        plain and not s.reverse and (s.start, s.stop, s.step) == (back.start, back.stop, back.step)
    )


class Joining:
    """One forward and one backward loop of a body."""

    def __init__(self, forward: For, back: For, body: list[Statement]) -> None:
        self.forward, self.back, self.body = forward, back, body
        self.first, self.last = body.index(forward), body.index(back)
        self.defs: dict[Any, Let] = {
            v: s
            for s in (*body, *forward.body.body, *back.body.body)
            if isinstance(s, Let)
            for v in s.outs
        }
        self.saves: set[Let] = set()
        self.uses: Counter[Any] = Counter()
        for s in statements(back.body):
            self.uses.update(operands(s))

    def run(self) -> list[Statement]:
        new = self.read()
        self.multiplies()
        self.known_before()
        firsts: list[Statement] = []
        inits: list[Atom] = []
        products: list[Var] = []
        results: list[Statement] = []
        for p, out, init in zip(self.back.carries, self.back.outs, self.back.inits, strict=True):
            first_product = self.unit_of(p, firsts)
            product = out if self.is_one(init) else Var(p.type, p.name, p.origin)
            alike = init.type.shape == p.type.shape and init.type.dtype == p.type.dtype
            if not alike or p.type != out.type or (p.type.weak and not init.type.weak):
                raise Apart
            inits.append(first_product)
            products.append(product)
            if product is not out:
                results.append(Let((out,), mul, (init, product), {}, self.back.origin))
        joined = self.fused_loop(new, inits, products)
        before, between = self.body[: self.first], self.body[self.first + 1 : self.last]
        return [*before, *firsts, joined, *between, *results, *self.body[self.last + 1 :]]

    def is_one(self, a: Atom) -> bool:
        s = self.defs.get(a)
        if s is not None and s.op in (broadcast_to, full):
            a = s.args[0]
        return isinstance(a, Literal) and a.value == 1

    def unit_of(self, p: Var, firsts: list[Statement]) -> Atom:
        """What products start with."""
        if not p.type.shape:
            return Literal(1.0 if p.type.weak else p.type.dtype.type(1), p.type)
        first_product = Var(p.type, p.name, p.origin)
        params = {"shape": p.type.shape, "dtype": p.type.dtype}
        firsts.append(Let((first_product,), ones, (), params, self.back.origin))
        return first_product

    def fused_loop(self, new: Mapping[Var, Atom], inits: list[Atom], products: list[Var]) -> For:
        f, b = self.forward, self.back
        backward = substitute(b.body, {**new, b.index: f.index})
        saved = 1 + max(k for k, s in enumerate(f.body.body) if s in self.saves)
        body = Block(
            (*f.body.params, *b.carries),
            (*f.body.body[:saved], *backward.body, *f.body.body[saved:]),
            (*f.body.results, *backward.results),
        )
        outs, before = (*f.outs, *products), (*f.inits, *inits)
        return replace(f, outs=outs, inits=before, body=body)

    # -- what is saved

    def read(self) -> dict[Var, Atom]:
        """What each value that the backward loop reads of the forward loop is, in its pass."""
        saves = {v: s for k, v in enumerate(self.forward.outs) if (s := self.save(k)) is not None}
        self.saves = set(saves.values())
        for t in statements(self.forward.body):
            if isinstance(t, Let) and t.op in STORING and t not in self.saves:
                raise Apart  # a value may be overwritten in its pass
        new: dict[Var, Atom] = {}
        for t in self.back.body.body:
            if isinstance(t, Let) and t.op is index and t.args[0] in saves:
                if t.args[1:] != (self.back.index,) or not _one_entry(t.params["key"]):
                    raise Apart
                new[t.outs[0]] = saves[t.args[0]].args[1]  # type: ignore[index]
        reads = sum(self.uses[v] for v in self.forward.outs)
        if not new or reads > len(new):
            raise Apart
        return new

    def save(self, k: int) -> Let | None:
        """What stores a value of each pass of the forward loop, if a carry is for that."""
        s = self.defs.get(self.forward.yields[k])
        if s is None or s.op is not update or s.args[0] is not self.forward.carries[k]:
            return None
        value, held = s.args[1].type, s.outs[0].type
        fits = value.shape == held.shape[1:] and value.dtype == held.dtype
        whole = s.args[2:] == (self.forward.index,) and _one_entry(s.params["key"])
        return s if fits and whole else None

    def known_before(self) -> None:
        """All else that the backward loop reads is known before the forward loop."""
        computed_before: set[Any] = set()
        for s in self.body[self.first : self.last]:
            computed_before |= set(getattr(s, "outs", ()))
        free = set(free_variables(self.back.body)) - set(self.forward.outs)
        if free & computed_before:
            raise Apart

    # -- what is carried

    def multiplies(self) -> None:
        """Whether each carry is multiplied, number by number, by what does not depend on any."""
        b = self.back
        self.depends: dict[Any, Any] = {p: p for p in b.carries}
        for s in b.body.body:
            if not isinstance(s, Let) or not s.op.pure:
                raise Apart
            carries_read = {self.depends[a] for a in s.args if a in self.depends}
            if carries_read:
                self.linear(s, carries_read)
        for p, y in zip(b.carries, b.yields, strict=True):
            if self.depends.get(y) is not p or p.type != y.type or p.type.dtype.kind != "f":
                raise Apart

    def linear(self, s: Let, carries_read: set[Any]) -> None:
        """Notes on which carry a value depends, and that it is a multiple of that."""
        out = s.outs[0]
        on = [a in self.depends for a in s.args]
        (p,) = carries_read if len(carries_read) == 1 else (None,)
        both = s.op in (add, sub)
        is_multiple = s.op in LINEAR and (all(on) if both else sum(on) == 1)
        if p is None or not is_multiple or (s.op is truediv and on[1]):
            raise Apart
        if len(s.outs) > 1 or out.type != p.type:
            raise Apart
        self.depends[out] = p


def _one_entry(key: Any) -> bool:
    """Whether a key picks one entry of the first axis."""
    whole = (slice(None), slice(0, None))
    return (
        bool(key)
        and isinstance(key[0], Slot)
        and key[0].k == 0
        and all(e in whole for e in key[1:])
    )
