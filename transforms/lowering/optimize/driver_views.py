"""Chooses the views that the driver makes, for what it reads and for lengths that only they
show."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from tapeless.transforms.core.language import (
    Block,
    For,
    If,
    Let,
    Statement,
    Var,
    While,
    blocks,
    outputs,
    statements,
)
from tapeless.transforms.core.uses import measured_sizes, reads
from tapeless.transforms.lowering.schedule.dependences import Dependences
from tapeless.transforms.lowering.schedule.host_numbers import is_length
from tapeless.transforms.lowering.schedule.view_indices import is_view
from tapeless.transforms.ops.primitives.new_arrays import eye, tri

#: Matrices that kernels write out where they read an element.
CONSTANTS = frozenset([eye, tri])


def views_for_driver(
    views: Iterable[Let], wanted: Collection[Var], inside: Collection[Var], memory: Dependences
) -> list[Let]:
    """The views among the statements of a kernel that the driver needs, and can make: what is
    `inside` the kernel it has only where that is `wanted`."""
    have = set(wanted)
    possible: list[Let] = []
    for s in views:
        v = s.outs[0]
        named = measured_sizes(list(s.params.values()))
        if (
            v not in wanted
            and shows_a_size(v)
            and (not is_view(s) or measured_sizes(v.type) <= named)
        ):
            continue  # it is given its length, which something else shows
        if v in wanted or not (memory.needs(s) & set(inside)) - have:
            possible.append(s)
            have.add(v)
    needed = set(wanted)
    kept: list[Let] = []
    for s in reversed(possible):
        if s.outs[0] in needed or shows_a_size(s.outs[0]):
            kept.append(s)
            needed |= memory.needs(s)
    return kept[::-1]


def without_unread_views(block: Block) -> Block:
    """The driver without views, and constants, that only kernels see through.

    v = x[1:]; f_kernel(x, out)      becomes      f_kernel(x, out)
    """
    while True:
        read = {a for a in block.results if isinstance(a, Var)}
        for s in statements(block):
            read.update(reads(s), (a for b in blocks(s) for a in b.results if isinstance(a, Var)))
        kept = _keeping(block, read)
        if sum(1 for _ in statements(kept)) == sum(1 for _ in statements(block)):
            return block
        block = kept


def _keeping(block: Block, read: set[Var]) -> Block:
    def is_read(s: Statement) -> bool:
        if not isinstance(s, Let) or not (is_view(s) or is_length(s) or s.op in CONSTANTS):
            return True
        sizes = measured_sizes([v.type for v in s.outs])
        shown = measured_sizes([a.type for a in s.args])
        return not read.isdisjoint(s.outs) or not sizes <= shown

    def inner(s: Statement) -> Statement:
        match s:
            case If(then=then, orelse=orelse):
                return replace(s, then=_keeping(then, read), orelse=_keeping(orelse, read))
            case For(body=body):
                return replace(s, body=_keeping(body, read))
            case While(test=test, body=body):
                return replace(s, test=_keeping(test, read), body=_keeping(body, read))
        return s

    return replace(block, body=tuple(inner(s) for s in block.body if is_read(s)))


def measures(block: Block) -> bool:
    """Whether a program has such lengths: what shows them must stay where it is."""
    return any(shows_a_size(v) for s in statements(block) for v in outputs(s))


def shows_a_size(v: Var) -> bool:
    """Whether a value has a length that is measured when the program runs."""
    return bool(measured_sizes(v.type))
