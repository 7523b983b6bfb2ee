"""Moves the making of arrays of lists to where these are filled: one kernel fills all lists of a
loop.

for ...: push(a, x); push(b, y)          for ...: push(a, x); push(b, y)
u = to_array(a); s = sum(u)      becomes      u = to_array(a); v = to_array(b)
v = to_array(b); t = sum(v)              s = sum(u); t = sum(v)
"""

from __future__ import annotations

from dataclasses import replace

from tapeless.transforms.core.language import Block, Let, Statement, Var, outputs, with_blocks
from tapeless.transforms.core.uses import reads
from tapeless.transforms.ops.primitives.new_arrays import stack_length
from tapeless.transforms.ops.primitives.stacks import to_array

TAKING = (to_array, stack_length)


def materialize_early(block: Block) -> Block:
    """The block, with these statements right behind those that make what they read."""
    body: list[Statement] = []
    for s in block.body:
        s = with_blocks(s, materialize_early)
        if isinstance(s, Let) and s.op in TAKING:
            body.insert(_place(body, {*reads(s)}), s)
        else:
            body.append(s)
    return replace(block, body=tuple(body))


def _place(body: list[Statement], needed: set[Var]) -> int:
    """Where all of these have a value, behind others that are taken there."""
    last = max((k for k, s in enumerate(body) if needed & {*outputs(s)}), default=-1) + 1
    while last < len(body) and isinstance(s := body[last], Let) and s.op in TAKING:
        last += 1
    return last
