"""Finds the variables that may lie in memory that a program overwrites.

v = x[2:]; w = y[2:]; x[0] = 1.0      says      x and v, and not w

Copies are taken to be made already: stores are in place.
"""

from __future__ import annotations

from collections.abc import Iterable

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Effect,
    Let,
    Statement,
    Var,
    statements,
)
from tapeless.transforms.memory.aliasing import KEPT, has_memory
from tapeless.transforms.ops.primitives.function_calls import bundle, is_call, unbundle
from tapeless.transforms.ops.primitives.shapes import broadcast_to
from tapeless.transforms.ops.primitives.stacks import peek, unstack
from tapeless.transforms.optimize.disjoint_sets import Groups, possible_values

SHARING = (broadcast_to, peek, unstack)  # what they give shares memory with argument 0


def overwritten(block: Block) -> set[Var]:
    """The variables whose memory some statement stores into, under whatever name."""
    shared = Groups()
    stored: list[Var] = []
    for s in statements(block):
        for group in _groups_sharing_memory(s):
            shared.join(group)
        stored += _stored_into(s)
    roots = {shared.find(v) for v in stored}
    return {v for v in [*shared.root, *stored] if shared.find(v) in roots}


def views_of(block: Block, arrays: Iterable[Var]) -> set[Var]:
    """The variables that may be views of these arrays, also where a loop or a branch gives one: a
    part of one of them, or its elements in another order."""
    same = Groups()
    views: list[Let] = []
    for s in statements(block):
        if isinstance(s, Let) and _is_view(s):
            views.append(s)
            continue
        for group in _groups_sharing_memory(s):
            same.join(group)
    pairs = [(s.outs[0], x) for s in views for x in s.args[:1] if isinstance(x, Var)]
    roots, of_views = {same.find(v) for v in arrays}, set[Var]()
    while more := {same.find(v) for v, x in pairs if same.find(x) in roots} - of_views:
        of_views |= more
        roots |= more
    return {v for v in [*same.root] if same.find(v) in of_views}


def _stored_into(s: Statement) -> list[Var]:
    """What a statement stores into."""
    if isinstance(s, Let) and s.op.inplace:
        return [a for a in s.args[:1] if isinstance(a, Var)]
    if isinstance(s, Effect) and s.kind == "kernel":
        return [a for a in s.args if isinstance(a, Var) and has_memory(a)]
    return []


def _groups_sharing_memory(s: Statement) -> Iterable[Iterable[Atom]]:
    """Groups of what shares memory after a statement."""
    match s:
        case Let() if is_call(s) or s.op in (bundle, unbundle):
            yield (*s.args, *s.outs)
        case Let() if s.op.inplace:
            yield (*s.args[:1], *s.outs, *(s.args[KEPT[s.op] :][:1] if s.op in KEPT else ()))
        case Let() if _is_view(s):
            yield (*s.args[:1], *s.outs)
        case _:
            yield from possible_values(s)


def _is_view(s: Let) -> bool:
    return s.op.view or s.op in SHARING
