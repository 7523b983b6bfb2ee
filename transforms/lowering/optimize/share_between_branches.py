"""Shares values between two branches by one test: what both compute is computed in the first one
only.

if t: c = cos(a); x = c * c          if t: c = cos(a); x = c * c
else: x = a                          else: c = 0.0; x = a
...                        becomes   ...
if t: y = x + cos(a)                 if t: y = x + c
else: y = 0.0                        else: y = 0.0

Derivatives branch again as their function did. Numbers are handed on, which costs nothing; arrays
would have to be kept.

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(share_between_branches, '''
... (t: b1, a: f8):
...     x = if t:
...         c = cos(a)
...         d = mul(c, c)
...         yield d
...     else:
...         yield a
...     y = if t:
...         e = cos(a)
...         g = add(x, e)
...         yield g
...     else:
...         yield 0.0
...     return y
... '''))
(t: b1, a: f8):
    x, c = if t:
        c_2: f8 = cos(a)
        d: f8 = mul(c_2, c_2)
        yield d, c_2
    else:
        yield a, 0.0
    y = if t:
        g: f8 = add(x, c)
        yield g
    else:
        yield 0.0
    return y
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Block,
    If,
    Let,
    Literal,
    Statement,
    Type,
    Var,
    outputs,
    with_blocks,
)
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.ops.primitives.slices_and_gathers import index

Key = tuple[Any, ...]


def share_between_branches(block: Block) -> Block:
    """The block, and all blocks in it, with such numbers handed on."""
    body: list[Statement] = []
    places: dict[Atom, int] = {}  # of the first branch by a test
    new: dict[Var, Atom] = {}
    for t in block.body:
        s = with_blocks(t, share_between_branches)
        if isinstance(s, If) and isinstance(s.test, Var):
            first_place = places.setdefault(s.test, len(body))
            if first_place < len(body):
                first = body[first_place]
                assert isinstance(first, If)
                body[first_place], s = _handed_on(first, s, new)
        body.append(s)
    shared = replace(block, body=tuple(body))
    return substitute(shared, new) if new else shared


def _handed_on(first: If, second: If, new: dict[Var, Atom]) -> tuple[If, If]:
    """The first branch with more results, the second one without what these are; `new` gets for
    what they stand."""
    sides, lean_sides = [first.then, first.orelse], []
    for k, later in enumerate((second.then, second.orelse)):
        computed = {key: s.outs[0] for s in sides[k].body if (key := _key(s, {}))}
        here: dict[Atom, Atom] = {}
        for s in later.body:
            key = _key(s, here)
            if key not in computed or not isinstance(s, Let):
                continue
            here[s.outs[0]] = value = computed[key]
            out = Var(value.type, value.name, value.origin)
            first = replace(first, outs=(*first.outs, out))
            other: Atom = Literal(value.type.dtype.type(0).item(), value.type)
            for j in (0, 1):
                results = (*sides[j].results, value if j == k else other)
                sides[j] = replace(sides[j], results=results)
            new[s.outs[0]] = out
        rest = tuple(s for s in later.body if not here.keys() & {*outputs(s)})
        lean_sides.append(replace(later, body=rest))
    first = replace(first, then=sides[0], orelse=sides[1])
    return first, replace(second, then=lean_sides[0], orelse=lean_sides[1])


def _key(s: Statement, here: dict[Atom, Atom]) -> Key | None:
    """What a statement computes, if that is a number, of numbers or an element of an array."""
    if not isinstance(s, Let) or not (s.op.elementwise or s.op is index) or not s.op.pure:
        return None
    if any(not isinstance(v.type, Type) or v.type.shape for v in s.outs) or len(s.outs) > 1:
        return None
    if s.outs[0].type.dtype.kind not in "bif":
        return None
    return s.op, tuple(here.get(a, a) for a in s.args), repr(sorted(s.params.items()))
