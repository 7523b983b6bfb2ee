"""Replaces integers of more than 64 bits, which Python has and machine code has not, by floats.

x / 10**20 becomes x / 1e20: a constant that only meets floats is one. Others are refused.

>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(without_wide_integers, '''
... (x: f8):
...     y = truediv(x, 100000000000000000000)
...     return y
... '''))
(x: f8):
    y: f8 = truediv(x, 1e+20)
    return y
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    If,
    Let,
    Literal,
    Statement,
    Type,
    While,
    blocks,
    operands,
    with_blocks,
)
from tapeless.transforms.errors import UnsupportedError

FLOAT = Type(np.dtype(float), (), True)


def without_wide_integers(block: Block) -> Block:
    """The block with floats in place of integers that no machine word holds."""
    return replace(block, body=tuple(map(_statement, block.body)))


def _statement(s: Statement) -> Statement:
    match s:
        case Let():
            wide = any(map(_is_wide, s.args))
            return replace_args(s) if wide else s
        case If() | For() | While():
            _refuse(s, *operands(s), *(a for b in blocks(s) for a in b.results))
            return with_blocks(s, without_wide_integers)
        case _:
            return s


def replace_args(s: Let) -> Let:
    """The statement with floats, if it has a float as its result, or compares floats."""
    kinds = [a.type.dtype.kind for a in (*s.args, *s.outs) if isinstance(a.type, Type)]
    if not s.op.elementwise or not any(k in "fc" for k in kinds):
        _refuse(s, *s.args)
    args = tuple(Literal(float(a.value), FLOAT) if _is_wide(a) else a for a in s.args)  # type: ignore[union-attr]
    return Let(s.outs, s.op, args, s.params, s.origin)


def _is_wide(a: Atom) -> bool:
    value = a.value if isinstance(a, Literal) else 0
    return isinstance(value, int) and not -(2**63) <= value < 2**63


def _refuse(s: Statement, *values: Atom) -> None:
    if any(map(_is_wide, values)):
        o = s.origin
        raise UnsupportedError(
            "an integer of more than 64 bits has no place in compiled code",
            "make it a float, or leave this out of jit",
            None if o is None else (o.file, o.line, 0, 0),
        )
