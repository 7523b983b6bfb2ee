"""Moves operations ahead of transposes: they run in the order in which the arrays lie in memory.

y = x.T + 1; s = sum(x.T, axis=0)      becomes      t = x + 1; y = t.T; s = sum(x, axis=1)

What a program gives lies in memory as with NumPy then.

>>> from functools import partial
>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(partial(move_transposes_last, any_order=True), '''
... (x: f8[n, m]):
...     t = transpose(x, axes=(1, 0))
...     y = sin(t)
...     s = sum(t, axes=(0,), keepdims=False)
...     return y, s
... '''))
(x: f8[n, m]):
    t1: f8[n, m] = sin(x)
    y: f8[m, n] = transpose(t1, axes=(1, 0))
    s: f8[n] = sum(x, axes=(1,), keepdims=False)
    return y, s
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Statement,
    Var,
    statements,
    with_blocks,
)
from tapeless.transforms.lowering.rewrite.formulas import parts_of
from tapeless.transforms.ops.numpy.reductions import REDUCTIONS
from tapeless.transforms.ops.primitives.elementwise import conjugate, imag, real
from tapeless.transforms.ops.primitives.selection import select
from tapeless.transforms.ops.primitives.shapes import cast, inverse, reshape, transpose
from tapeless.transforms.optimize.simplify import simplify

Axes = tuple[int, ...]
#: Operations on elements that are no ufuncs.
ELEMENTS = frozenset([cast, select, real, imag, conjugate])


def move_transposes_last(block: Block, any_order: bool) -> Block:
    """The block, simplified again where anything is transposed.

    any_order  whether numbers may be added up in any order
    """
    if not any(isinstance(s, Let) and s.op is transpose for s in statements(block)):
        return block
    return simplify(_Transposed(any_order).block(block))


class _Transposed:
    """The transposed arrays that are known, with what they are made of, and in which order."""

    def __init__(self, any_order: bool) -> None:
        self.any_order = any_order
        self.known: dict[Atom, tuple[Atom, Axes]] = {}

    def block(self, block: Block) -> Block:
        body: list[Statement] = []
        for s in block.body:
            body.extend(
                self.move_transpose(s) if isinstance(s, Let) else [with_blocks(s, self.block)]
            )
        return replace(block, body=tuple(body))

    def move_transpose(self, s: Let) -> Iterator[Statement]:
        rewritten: list[Statement] = [s]
        if s.op in REDUCTIONS and s.args[0] in self.known:
            rewritten = [
                *parts_of(s, lambda x, **params: self.reduce_before_transpose(s.op, x, **params))
            ]
        elif (s.op.elementwise or s.op in ELEMENTS) and (axes := self.common(s)) is not None:
            rewritten = [
                *parts_of(s, lambda *args, **params: self.transpose_of(s.op, axes, args, params))
            ]
        last = rewritten[-1]
        if isinstance(last, Let) and last.op is transpose:
            self.known[last.outs[0]] = last.args[0], last.params["axes"]
        yield from rewritten

    def common(self, s: Let) -> Axes | None:
        """The order of axes that all arrays are transposed by; None if there is none."""
        ndim = s.outs[0].type.ndim
        arrays = [a for a in s.args if isinstance(a, Var) and not _is_line(a)]
        orders = {self.known[a][1] for a in arrays if a in self.known}
        whole = all(a in self.known and a.type.ndim == ndim for a in arrays)
        return next(iter(orders)) if whole and len(orders) == 1 else None

    def transpose_of(self, op: Any, axes: Axes, args: tuple[Atom, ...], params: Any) -> Any:
        turned = [self.before_transpose(a, axes) for a in args]
        return transpose(op(*turned, **params), axes=axes)

    def before_transpose(self, a: Atom, axes: Axes) -> Atom:
        """An operand as it was before it was transposed."""
        base, order = self.known.get(a, (a, ()))
        if order == axes:
            return base
        if not a.type.shape:
            return a
        shape = (1,) * (len(axes) - a.type.ndim) + a.type.shape
        return reshape(a, shape=tuple(shape[k] for k in inverse(axes)))  # type: ignore[no-any-return]

    def reduce_before_transpose(self, op: Any, x: Atom, *, axes: Axes, keepdims: bool) -> Any:
        if len(axes) > 1 and not self.any_order:
            return op(x, axes=axes, keepdims=keepdims)
        base, order = self.known[x]
        gone = {order[k] for k in axes}
        reduced = op(base, axes=tuple(sorted(gone)), keepdims=keepdims)
        if keepdims:
            return transpose(reduced, axes=order)
        kept_axes = [k for k in order if k not in gone]
        return transpose(reduced, axes=tuple(sorted(kept_axes).index(k) for k in kept_axes))


def _is_line(a: Var) -> bool:
    """Whether it is a number, or has one axis that is not of length one: that may go anywhere."""
    return len([n for n in a.type.shape if n != 1]) < 2
