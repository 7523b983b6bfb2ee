"""Makes an array of its own of a number that is spread over a shape: it may be written to.

x_bar = np.broadcast_to(1.0, x.shape).copy()      becomes      x_bar = np.ones(x.shape)
"""

from __future__ import annotations

from dataclasses import replace

from tapeless.transforms.core.language import (
    Block,
    Let,
    Literal,
    Statement,
    with_blocks,
)
from tapeless.transforms.ops.primitives import new_arrays
from tapeless.transforms.ops.primitives.shapes import broadcast_to


def materialize_fills(block: Block) -> Block:
    return replace(block, body=tuple(map(_statement, block.body)))


def _statement(s: Statement) -> Statement:
    match s:
        case Let(op=op, args=(Literal(value=value) as number,)) if op is broadcast_to:
            params = {"shape": s.params["shape"], "dtype": number.type.dtype}
            plain = new_arrays.ones if value == 1 else new_arrays.zeros if value == 0 else None
            args = () if plain else (number,)
            return replace(s, op=plain or new_arrays.full, args=args, params=params)
    return with_blocks(s, materialize_fills)
