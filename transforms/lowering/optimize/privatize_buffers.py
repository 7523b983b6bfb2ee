"""Privatises arrays that a loop carries on, and that each pass finds and leaves as zeros: each pass
makes its own.

b = zeros(n); for t: b[1:] += ...; a += b; b[:] = 0
    becomes      for t: b = zeros(n); b[1:] += ...; a += b
"""

from __future__ import annotations

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
    statements,
)
from tapeless.transforms.core.substitution import substitute
from tapeless.transforms.ops.primitives.new_arrays import zeros
from tapeless.transforms.ops.primitives.slices_and_gathers import update
from tapeless.transforms.optimize.loop_carries import without_carries

Defs = dict[Any, Let]


def privatize_buffers(block: Block) -> Block:
    """The block with such arrays made in each pass; what set them to zero is left to dead code."""
    defs: Defs = {v: s for s in statements(block) if isinstance(s, Let) for v in s.outs}
    return _block(block, defs)


def _block(block: Block, defs: Defs) -> Block:
    body: list[Statement] = []
    new: dict[Var, Atom] = {}
    for s in block.body:
        match s:
            case For():
                body.append(_privatize_in_loop(replace(s, body=_block(s.body, defs)), defs, new))
            case If():
                then, orelse = _block(s.then, defs), _block(s.orelse, defs)
                body.append(replace(s, then=then, orelse=orelse))
            case While():
                body.append(replace(s, body=_block(s.body, defs)))
            case _:
                body.append(s)
    private = replace(block, body=tuple(body))
    return substitute(private, new) if new else private


def _privatize_in_loop(s: For, defs: Defs, new: dict[Var, Atom]) -> For:
    """The loop without carries that are zeros before each pass; `new` are their last values."""
    pairs = enumerate(zip(s.inits, s.yields, strict=True))
    drop = [k for k, (a, y) in pairs if _zeros(defs.get(a)) and _is_cleared(defs.get(y))]
    own_buffers: list[Statement] = []
    inside: dict[Var, Atom] = {}
    for k in drop:
        first = defs[s.inits[k]]
        p = s.carries[k]
        own = Var(p.type, p.name, p.origin)
        own_buffers.append(replace(first, outs=(own,)))
        inside[p] = own
        new[s.outs[k]] = s.inits[k]
    lean = without_carries(s, drop)
    assert isinstance(lean, For)
    body = substitute(lean.body, inside) if inside else lean.body
    return replace(lean, body=replace(body, body=(*own_buffers, *body.body)))


def _zeros(s: Let | None) -> bool:
    return s is not None and s.op is zeros


def _is_cleared(s: Let | None) -> bool:
    """Whether a statement sets all of an array to zero."""
    return (
        s is not None
        and s.op is update
        and isinstance(s.args[1], Literal)
        and s.args[1].value == 0
        and all(e in (slice(None), slice(0, None)) for e in s.params["key"])
    )
