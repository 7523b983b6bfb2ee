"""Selects the term that a pass of a loop adds under a test, instead of the sum.

if v > 0: s = s + v      becomes      t = v if v > 0 else -0.0;  s = s + t

So the passes may add up in any order, on vectors: -0.0 added changes no number.

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(select_terms, '''
... (x: f8[n], n: pyi8):
...     total = for i in range(0, n, 1) with s: f8 = 0.0:
...         v = index(x, i, key=(Slot(0),))
...         t = greater(v, 0.0)
...         s_2 = if t:
...             s_3 = add(s, v)
...             yield s_3
...         else:
...             yield s
...         yield s_2
...     return total
... '''))
(x: f8[n], n: pyi8):
    total = for i in range(0, n, 1) with s: f8 = 0.0:
        v: f8 = index(x, i, key=(Slot(0),))
        t: b1 = greater(v, 0.0)
        term = if t:
            yield v
        else:
            yield -0.0
        s_2: f8 = add(s, term)
        yield s_2
    return total
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

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
    statements,
    with_blocks,
)
from tapeless.transforms.core.uses import reads_of
from tapeless.transforms.lowering.schedule.reassociable_sums import is_loop
from tapeless.transforms.ops.primitives.arithmetic import add, neg, sub

Uses = Mapping[Var, int]  # how often variables are read


def select_terms(block: Block) -> Block:
    """The block with sums apart from the tests in innermost loops."""
    return replace(block, body=tuple(map(_statement, block.body)))


def _statement(s: Statement) -> Statement:
    s = with_blocks(s, select_terms)
    if not isinstance(s, For) or s.until or any(map(is_loop, statements(s.body))):
        return s
    uses = reads_of(s.body)
    for p, y in zip(s.carries, s.yields, strict=True):
        number = isinstance(p.type, Type) and not p.type.shape and p.type.dtype.kind == "f"
        if number and isinstance(y, Var) and uses[y] == 1:
            s = replace(s, body=_split_sum(s.body, y, p, uses) or s.body)
    return s


def _split_sum(block: Block, y: Var, p: Var, uses: Uses) -> Block | None:
    """The block with `y` as the sum of `p` and of what is chosen; None if it is not."""
    for at, s in enumerate(block.body):
        if isinstance(s, If) and y in s.outs:
            terms = _terms(s, s.outs.index(y), p, uses)
            if terms is None or terms[1] != uses[p]:
                return None
            k = s.outs.index(y)
            sum_ = Let((y,), add, (p, terms[0].outs[k]), {}, s.origin)
            return replace(block, body=(*block.body[:at], terms[0], sum_, *block.body[at + 1 :]))
    return None


def _terms(s: If, k: int, p: Var, uses: Uses) -> tuple[If, int] | None:
    """The test with the terms in place of the result `k`, and how often it reads `p` for that."""
    sides, count = [], 0
    for b in (s.then, s.orelse):
        term = _term(b, k, p, uses)
        if term is None:
            return None
        sides.append(term[0])
        count += term[1]
    out = Var(p.type, "term")
    outs = (*s.outs[:k], out, *s.outs[k + 1 :])
    return replace(s, outs=outs, then=sides[0], orelse=sides[1]), count


def _term(block: Block, k: int, p: Var, uses: Uses) -> tuple[Block, int] | None:
    """A side with the term as its result `k`."""
    a = block.results[k]
    if a is p:
        return _with_result(block, block.body, k, Literal(-0.0, p.type)), 1
    if not isinstance(a, Var) or uses[a] != 1:
        return None
    for at, s in enumerate(block.body):
        if a not in s.outs:
            continue
        before, after = block.body[:at], block.body[at + 1 :]
        if isinstance(s, If):
            terms = _terms(s, s.outs.index(a), p, uses)
            if terms is None:
                return None
            inner = terms[0].outs[s.outs.index(a)]
            return _with_result(block, (*before, terms[0], *after), k, inner), terms[1]
        term = _added_value(s, p)
        if term is None:
            return None
        if s.op is add:  # type: ignore[union-attr]
            return _with_result(block, (*before, *after), k, term), 1
        opposite = Var(p.type)
        turned = Let((opposite,), neg, (term,), {}, s.origin)
        return _with_result(block, (*before, turned, *after), k, opposite), 1
    return None


def _added_value(s: Statement, p: Var) -> Atom | None:
    """v for p + v and for p - v."""
    if not isinstance(s, Let) or s.op not in (add, sub) or s.outs[0].type != p.type:
        return None
    a, b = s.args
    term = b if a is p else a if b is p and s.op is add else None
    return term if term is not None and term.type.dtype == p.type.dtype else None


def _with_result(block: Block, body: tuple[Statement, ...], k: int, a: Atom) -> Block:
    return replace(block, body=body, results=(*block.results[:k], a, *block.results[k + 1 :]))
