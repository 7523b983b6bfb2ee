"""Moves the increment of a pass counter to the beginning of the pass, in loops that are left by a
flag.

until(flag): flag = f(x); passes += 1      becomes      passes += 1; if f(x): break

Then what ends a pass is what the user wrote there, and can end the loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tapeless.transforms.core.language import Block, For, If, Let, Literal, Statement, Var, While
from tapeless.transforms.core.user_names import WORDS
from tapeless.transforms.core.uses import reads_of
from tapeless.transforms.emit.control_flow import loop_flag
from tapeless.transforms.ops.primitives.arithmetic import add
from tapeless.transforms.optimize.loop_carries import carries, yields


def place_counters(block: Block) -> Block:
    return _block(block, reads_of(block))


def _block(block: Block, reads: Mapping[Var, int]) -> Block:
    return replace(block, body=tuple(_statement(s, reads) for s in block.body))


def _statement(s: Statement, reads: Mapping[Var, int]) -> Statement:
    match s:
        case If():
            sides = (_block(s.then, reads), _block(s.orelse, reads))
            return replace(s, then=sides[0], orelse=sides[1])
        case For() | While():
            body = _block(s.body, reads)
            if loop_flag(s) is None:
                return replace(s, body=body)
            counts = _counts(s, body, reads)
            first = [t for t in body.body if t in counts]
            rest = [t for t in body.body if t not in counts]
            return replace(s, body=replace(body, body=(*first, *rest)))
    return s


def _counts(s: For | While, body: Block, reads: Mapping[Var, int]) -> list[Statement]:
    """The statements that only count passes."""
    ours = {y: p for p, y in zip(carries(s), yields(s), strict=True) if p.name in WORDS}
    return [
        t
        for t in body.body
        if isinstance(t, Let)
        and t.op is add
        and t.args[0] is ours.get(t.outs[0])
        and isinstance(t.args[1], Literal)
        and reads[t.args[0]] == reads[t.outs[0]] == 1
    ]
