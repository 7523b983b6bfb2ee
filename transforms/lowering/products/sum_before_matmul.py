"""Rewrites sums over rows or columns of products of matrices as products of sums: less to multiply.

s = sum(a @ b + c, axis=0)      becomes      s = sum(a, axis=0) @ b + sum(c, axis=0)

The derivative by what is subtracted from all rows is such a sum. Only where nothing else reads the
product; it is added up in another order then, as products of matrices may be.

>>> from operator import eq
>>> from functools import partial
>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(partial(sum_before_matmul, equal=eq), '''
... (a: f8[n, m], b: f8[m, k], c: f8[n, k]):
...     p = matmul(a, b)
...     q = add(p, c)
...     s = sum(q, axes=(0,), keepdims=False)
...     return s
... '''))
(a: f8[n, m], b: f8[m, k], c: f8[n, k]):
    t1: f8[m] = sum(a, axes=(0,), keepdims=False)
    t2: f8[k] = matmul(t1, b)
    t3: f8[k] = sum(c, axes=(0,), keepdims=False)
    s: f8[k] = add(t2, t3)
    return s
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    Let,
    Statement,
    Type,
    Var,
    with_blocks,
)
from tapeless.transforms.core.uses import reads_of
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives import shapes
from tapeless.transforms.ops.primitives.arithmetic import add, sub

Equal = Callable[[Size, Size], bool]


def sum_before_matmul(block: Block, equal: Equal) -> Block:
    """The block; `equal` says whether two sizes are."""
    return _block(block, reads_of(block), equal)


def _block(block: Block, uses: Counter[Var], equal: Equal) -> Block:
    pass_ = _Pass(block, uses, equal)
    body: list[Statement] = []
    for s in block.body:
        body += pass_.statement(s)
    return replace(block, body=tuple(s for s in body if id(s) not in pass_.gone))


class _Pass:
    """One block. `gone` are the statements that nothing reads any more."""

    def __init__(self, block: Block, uses: Counter[Var], equal: Equal) -> None:
        self.uses, self.equal = uses, equal
        lets = [s for s in block.body if isinstance(s, Let)]
        self.defs: dict[Atom, Let] = {v: s for s in lets for v in s.outs[:1]}
        self.gone: set[int] = set()
        self.made: list[Statement] = []

    def statement(self, s: Statement) -> list[Statement]:
        if isinstance(s, Let) and s.op is shapes.sum and not s.params["keepdims"]:
            return self.sum(s)
        return [with_blocks(s, self.inner)]

    def inner(self, block: Block) -> Block:
        return _block(block, self.uses, self.equal)

    def sum(self, s: Let) -> list[Statement]:
        v = s.args[0]
        if s.outs[0].type.dtype != v.type.dtype or not self.has_product(v):
            return [s]
        self.made = []
        self.sum_axes(v, s, s.outs[0])
        return self.made

    def has_product(self, a: Atom) -> bool:
        """Whether it is a product, or a sum with one, that only one statement reads."""
        s = self.defs.get(a)
        if s is None or self.uses[s.outs[0]] != 1 or a.type.dtype.kind != "f" or a.type.ndim != 2:
            return False
        return self.is_product(s) or (self.is_sum(s) and any(map(self.has_product, s.args)))

    @staticmethod
    def is_product(s: Let) -> bool:
        if s.op is not matmul:
            return False
        kinds = {x.type.dtype for x in (*s.args, *s.outs)}
        return len(kinds) == 1 and all(x.type.ndim == 2 for x in s.args)

    def is_sum(self, s: Let) -> bool:
        """Whether it is a sum or a difference of two matrices like it."""
        out = s.outs[0].type
        return s.op in (add, sub) and all(
            x.type.dtype == out.dtype
            and x.type.ndim == 2
            and all(map(self.equal, x.type.shape, out.shape))
            for x in s.args
        )

    def sum_axes(self, a: Atom, like: Let, out: Var | None = None) -> Var:
        """The sum over these axes."""
        out = Var(like.outs[0].type) if out is None else out
        if not self.has_product(a):
            self.made.append(Let((out,), like.op, (a,), like.params, like.origin))
            return out
        s = self.defs[a]
        self.gone.add(id(s))
        if self.is_product(s):
            args = tuple(self.sum_factor(x, k, like) for k, x in enumerate(s.args))
        else:
            args = tuple(self.sum_axes(x, like) for x in s.args)
        self.made.append(Let((out,), s.op, args, s.params, s.origin))
        return out

    def sum_factor(self, x: Atom, axis: int, like: Let) -> Atom:
        """A factor, added up along its own axis of the result if that is summed."""
        if axis not in like.params["axes"]:
            return x
        total = Var(Type(x.type.dtype, (x.type.shape[1 - axis],)))
        params = {**like.params, "axes": (axis,)}
        self.made.append(Let((total,), like.op, (x,), params, like.origin))
        return total
