"""Stores to parameters that a program overwrites, for the caller to see.

f(x): x2 = update(x, v, i); return ..., x2      becomes      x is ours: x[i] = v; return ...
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tapeless.transforms.core.language import (
    Block,
    Let,
    Statement,
    Var,
    blocks,
    operands,
    statements,
    with_blocks,
)
from tapeless.transforms.lowering.optimize.materialized_views import materialize_views, whole
from tapeless.transforms.lowering.schedule.dependences import Dependences
from tapeless.transforms.memory.hoist_reads import hoist_reads
from tapeless.transforms.memory.in_place_stores import store_in_place
from tapeless.transforms.memory.overwritten import views_of
from tapeless.transforms.ops.primitives.in_place_arithmetic import OVERWRITING
from tapeless.transforms.ops.primitives.shapes import copy
from tapeless.transforms.ops.primitives.slices_and_gathers import update


def store_out_parameters(
    block: Block, stored: Sequence[Var], overwriting: bool = True, ours: Sequence[Var] = ()
) -> Block:
    """The block, with stores decided. Its last results are what the parameters `stored` hold when
    it returns; they are stored there, and no results any more.

    overwriting  whether x = x + y may be x += y
    ours         other parameters that may be overwritten
    """
    block = store_in_place(hoist_reads(block), (*stored, *ours))
    block = block if overwriting else materialize_views(not_overwriting(block), stored)
    if not stored:
        return block
    memory = Dependences()
    memory.learn(block)
    first = len(block.results) - len(stored)
    block = _without_copies(block, memory, stored)
    copies: list[Statement] = []
    stores: list[Statement] = []
    written: set[Var] = set()
    views = views_of(block, stored)
    for p, value in zip(stored, block.results[first:], strict=True):
        if isinstance(value, Var) and memory.cell(value) is p:
            continue
        is_part = memory.base(value) in stored  # which kernels see; what a loop gives they do not
        if is_part or value in views:
            old = Var(value.type, value.name)  # type: ignore[union-attr]
            copies.append(Let((old,), copy if is_part else whole, (value,)))
            value = old
        written.add(p)
        key = (slice(None),) * p.type.ndim
        stores.append(Let((Var(p.type, p.name),), update, (p, value), {"key": key}))
    results = list(block.results[:first])
    views = views_of(block, written)
    for k, a in enumerate(results):
        is_part = memory.base(a) in written
        if is_part or a in views:  # it lies where a store goes
            results[k] = old = Var(a.type, a.name)  # type: ignore[union-attr]
            copies.append(Let((old,), copy if is_part else whole, (a,)))
    return replace(block, body=(*block.body, *copies, *stores), results=tuple(results))


def _without_copies(block: Block, memory: Dependences, stored: Sequence[Var]) -> Block:
    """The block without copies of what a parameter holds at the end, to be stored to it."""
    first = len(block.results) - len(stored)
    uses = Counter(a for s in statements(block) for a in operands(s))
    uses.update(a for s in statements(block) for b in blocks(s) for a in b.results)
    uses.update(block.results)
    body, results = list(block.body), list(block.results)
    for k, p in enumerate(stored, first):
        definition = memory.defs.get(results[k])  # type: ignore[arg-type]
        if not isinstance(definition, Let) or definition.op is not copy or definition not in body:
            continue
        a, later = definition.args[0], body[body.index(definition) + 1 :]
        kept = uses[results[k]] > 1 or any(p in memory.writes(s) for s in later)
        if isinstance(a, Var) and memory.cell(a) is p and not kept:
            body.remove(definition)
            results[k] = a
    return replace(block, body=tuple(body), results=tuple(results))


def not_overwriting(block: Block) -> Block:
    """x += y as x = x + y: kernels decide themselves where sums are kept."""
    plain = {v: k for k, v in OVERWRITING.items()}

    def inner(b: Block) -> Block:
        return replace(b, body=tuple(map(without_out, b.body)))

    def without_out(s: Statement) -> Statement:
        if isinstance(s, Let):
            return replace(s, op=plain.get(s.op, s.op))
        return with_blocks(s, inner)

    return inner(block)
