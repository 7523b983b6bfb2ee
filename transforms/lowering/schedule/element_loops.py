"""Tells whether statements for one element can be compiled as they are, inside of a loop over a
batch.
"""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Effect,
    For,
    Let,
    Literal,
    Statement,
    Type,
    blocks,
    outputs,
)
from tapeless.transforms.errors import Signal
from tapeless.transforms.lowering.rewrite.decompose import INNER, comes_apart
from tapeless.transforms.lowering.rewrite.small_linalg import takes
from tapeless.transforms.lowering.scalars.operations import DTYPES
from tapeless.transforms.lowering.schedule.loop_nests import stage_of
from tapeless.transforms.lowering.schedule.stack_capacity import is_of_stacks, of_numbers
from tapeless.transforms.lowering.schedule.view_indices import is_view
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.stacks import to_array

#: What an error in compiled code can say.
PLAIN = (str, bytes, int, float, complex, bool, type(None))


class NotInLoops(Signal):
    """A loop over a batch was not compiled: the batch is better written as array code."""


def compiles(s: Statement) -> bool:
    """Whether the statement is made of operations on numbers and rows; products of two matrices
    are better made for the whole batch at once."""
    if isinstance(s, Let):
        return _let(s)
    if isinstance(s, Effect):
        return s.kind in ("blank", "check", "errstate") or raises_constant(s)
    if isinstance(s, For) and s.reverse and not isinstance(s.step, Literal):
        return False
    carried = all(_is_holdable(v.type) for v in outputs(s))
    return carried and all(compiles(t) for b in blocks(s) for t in b.body)


def raises_constant(s: Effect) -> bool:
    """Whether it raises an error whose text is known, or that says a key which is missing."""
    if s.kind != "raise" or s.params["type"].__module__ != "builtins":
        return False
    parts, numbers = s.params["parts"], all(a.type.shape == () for a in s.args)
    if s.params["type"] is KeyError and numbers and all(map(_is_key, parts)):
        return True
    return all(kind == "value" and isinstance(v, PLAIN) for kind, v in parts)


def _is_key(part: Any) -> bool:
    kind, value = part
    return kind == "atom" or (kind == "tuple" and all(map(_is_key, value)))


def _let(s: Let) -> bool:
    if is_of_stacks(s) and s.op is not to_array:
        return all(_is_holdable(v.type) for v in (*s.args, *s.outs))
    if s.op is matmul and min(a.type.ndim for a in s.args) > 1:
        return False
    apart = comes_apart(s) or s.op in INNER or takes(s)
    return is_view(s) or apart or stage_of(s, _fits) is not None


def _fits(a: Size, b: Size) -> bool:
    return True


def _is_holdable(t: Any) -> bool:
    return of_numbers(t) or (isinstance(t, Type) and t.dtype in DTYPES)


def over_batch(s: Any) -> bool:
    """Whether a loop, or the one that it repeats backwards, goes over the elements of a batch."""
    while isinstance(s, For):
        if s.each:
            return True
        s = s.mirror
    return False
