"""Removes carries of loops that hold nothing of their own.

x, y = a, a; for ...: x = f(x); y = f(y)      becomes      x = a; for ...: x = f(x)

A carry that no pass changes is what it starts from; of carries that start alike and go on alike
one is enough; the flag that ends a loop is false as long as the loop runs.
"""

from __future__ import annotations

from collections.abc import Callable, Container
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
    Type,
    Var,
    While,
    blocks,
    outputs,
)
from tapeless.transforms.core.user_names import WORDS, of_user
from tapeless.transforms.ops.primitives.comparisons_and_rounding import logical_not

Loop = For | While
Key = Callable[[Any], Any]


def carries(s: Loop) -> tuple[Var, ...]:
    return s.carries if isinstance(s, For) else s.body.params


def yields(s: Loop) -> tuple[Atom, ...]:
    return s.yields if isinstance(s, For) else s.body.results


def unchanged_carries(s: Loop) -> list[int]:
    """Carries that each pass hands on as they are."""
    triples = enumerate(zip(carries(s), yields(s), s.inits, strict=True))
    return [k for k, (p, y, init) in triples if y is p and stands_for(p, init)]


def stands_for(p: Var, init: Atom) -> bool:
    """Whether what a carry starts from can take its place, as a constant also of another kind."""
    if isinstance(init, Literal) and isinstance(p.type, Type) and init.value is not None:
        return bool(init.type.dtype == p.type.dtype and not p.type.shape)
    return bool(p.type == init.type)


def known_flags(s: Loop) -> list[Var]:
    """Flags that are false in the body, for the loop ends when they are true."""
    over: set[Atom] = set()
    if isinstance(s, For):
        over = {
            p
            for p, y in zip(s.carries, s.yields, strict=True)
            if s.until and y is s.body.results[0]
        }
    else:
        definitions = {t.outs[0]: t for t in s.test.body if t.outs}
        false = _false_where(s.test.results[0], definitions)
        over = {p for p, q in zip(s.body.params, s.test.params, strict=True) if q in false}
    starts = zip(carries(s), s.inits, strict=True)
    return [p for p, init in starts if p in over and isinstance(init, Literal) and not init.value]


def _false_where(true: Atom, definitions: dict[Var, Statement]) -> set[Atom]:
    """What is false if `true` is true."""
    s = definitions.get(true) if isinstance(true, Var) else None
    if isinstance(s, Let) and s.op is logical_not:
        return {s.args[0]}
    if not isinstance(s, If):
        return set()
    then, orelse = s.then.results[0], s.orelse.results[0]
    if isinstance(orelse, Literal) and not orelse.value:
        return _false_where(s.test, definitions) | _false_where(then, definitions)
    if isinstance(then, Literal) and not then.value:
        return {s.test} | _false_where(orelse, definitions)
    return set()


def twins(s: Loop, alike: Callable[[Atom, Atom], bool], key: Key) -> dict[int, int]:
    """Which carries always hold what an earlier one does; `alike` compares what they start from."""
    earlier_twin: dict[int, int] = {}
    for k, p in enumerate(carries(s)):
        for j in range(k):
            same = j not in earlier_twin and carries(s)[j].type == p.type
            if same and alike(s.inits[j], s.inits[k]):
                earlier_twin[k] = j
                break
    while earlier_twin:
        body = _Body(s, earlier_twin, key)
        other = [k for k, j in earlier_twin.items() if not body.equal(yields(s)[k], yields(s)[j])]
        if not other:
            break
        for k in other:
            del earlier_twin[k]
    return earlier_twin


def called_alike(kept: list[Var], dropped: list[Var]) -> bool:
    """Whether one name is good for both: the user's, if there is one. The kept get it."""
    a, b = kept[0].name, dropped[0].name
    ours = [not of_user(name) or name in WORDS for name in (a, b)]
    if not any(ours):
        return a == b
    if ours[0] and not ours[1]:
        for v in kept:
            v.name = b
    return True


class _Body:
    """Which values in a loop are equal, if some of its carries are."""

    def __init__(self, s: Loop, pairs: dict[int, int], key: Key) -> None:
        self.key = key
        self.made: dict[Var, tuple[Statement, int]] = {}
        self.seen: dict[tuple[Var, Var], bool] = {}
        self.define(s.body)
        self.assume(s, pairs)

    def define(self, block: Block) -> None:
        for s in block.body:
            for b in blocks(s):
                self.define(b)
            for k, v in enumerate(outputs(s)):
                self.made[v] = (s, k)

    def assume(self, s: Loop, pairs: dict[int, int]) -> None:
        rows = [carries(s)] + ([s.test.params] if isinstance(s, While) else [])
        self.seen |= {(row[k], row[j]): True for k, j in pairs.items() for row in rows}

    def equal(self, a: Atom, b: Atom) -> bool:
        if not isinstance(a, Var) or not isinstance(b, Var):
            return a == b
        if a is b:
            return True
        if (a, b) not in self.seen:
            self.seen[a, b] = self.compare(a, b)
        return self.seen[a, b]

    def compare(self, a: Var, b: Var) -> bool:
        if a not in self.made or b not in self.made:
            return False
        (s, j), (t, k) = self.made[a], self.made[b]
        match s, t:
            case Let(), Let() if j == k and s.op is t.op and s.op.pure:
                same = self.key(s.params) == self.key(t.params)
                return same and len(s.args) == len(t.args) and all(map(self.equal, s.args, t.args))
            case If(), If():
                sides = ((s.then, t.then), (s.orelse, t.orelse))
                return self.equal(s.test, t.test) and all(
                    self.equal(x.results[j], y.results[k]) for x, y in sides
                )
            case ((For() | While()), (For() | While())) if s is t and max(j, k) < len(s.inits):
                seen_before = dict(self.seen)
                self.assume(s, {j: k})
                ys = yields(s)
                if self.equal(s.inits[j], s.inits[k]) and self.equal(ys[j], ys[k]):
                    return True
                self.seen = seen_before  # what followed from the assumption is not known either
        return False


def without_carries(s: Loop, drop: Container[int]) -> Loop:
    """The loop without some of its carries, which nothing reads any more."""

    def keep(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(v for k, v in enumerate(values) if k not in drop)

    params, results = keep(carries(s)), keep(yields(s))
    outs, inits = keep(s.outs), keep(s.inits)
    if isinstance(s, For):
        flag = s.body.results[:1] if s.until else ()
        body = Block((s.index, *params), s.body.body, (*flag, *results))
        return replace(s, outs=outs, inits=inits, body=body)
    test = Block(keep(s.test.params), s.test.body, s.test.results)
    return replace(s, outs=outs, inits=inits, test=test, body=Block(params, s.body.body, results))
