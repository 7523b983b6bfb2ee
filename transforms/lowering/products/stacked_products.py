"""Decides whether products of a stack of matrices and one matrix are one product of all rows.

y = a @ c, of a (n, p, k) and c (k, m)      becomes      y = (a as (n * p, k)) @ c, as (n, p, m)

A library multiplies the matrices of a stack one by one, however few rows each of them has. Where
rows would be copied for one product, and the matrix is small, loops over the stack take less. What
a derivative has written as one product is one of the stack again, then:

c_bar = (a as (n * p, k)).T @ (y_bar as (n * p, m))      becomes      a sum of outer products

>>> from functools import partial
>>> from tapeless.transforms.ops.program_text import text_after
>>> print(text_after(partial(rows_of_stacks, hints={}, small=0), '''
... (a: f8[n, p, k], c: f8[k, m]):
...     y = matmul(a, c)
...     return y
... '''))
(a: f8[n, p, k], c: f8[k, m]):
    t1: f8[n*p, k] = reshape(a, shape=(n*p, k))
    t2: f8[n*p, m] = matmul(t1, c)
    y: f8[n, p, m] = reshape(t2, shape=(n, p, m))
    return y
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Let,
    Statement,
    Type,
    While,
    with_blocks,
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.lowering.rewrite.formulas import parts_of
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.arithmetic import mul
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.shapes import reshape, transpose
from tapeless.transforms.ops.primitives.shapes import sum as total_of


def rows_of_stacks(block: Block, hints: Mapping[dims.Symbol, int], small: int) -> Block:
    """The block with such products.

    hints  the sizes of this call
    small  numbers of a matrix up to which loops take less than copies of rows
    """
    return _Stacks(hints, small, {}, in_loop=False).block(block)


@dataclass(frozen=True)
class _Stacks:
    """`made` are the statements that variables are from; `in_loop` says whether loops are around:
    their kernels copy an array that is wanted in another shape."""

    hints: Mapping[dims.Symbol, int]
    small: int
    made: dict[Atom, Let]
    in_loop: bool

    def block(self, block: Block) -> Block:
        return replace(block, body=tuple(self.statements(block.body)))

    def statements(self, body: tuple[Statement, ...]) -> Iterator[Statement]:
        for s in body:
            if not isinstance(s, Let):
                inside = replace(self, in_loop=self.in_loop or isinstance(s, (For, While)))
                yield with_blocks(s, inside.block)
                continue
            for t in self.rewritten(s):
                if isinstance(t, Let):
                    self.made.update(dict.fromkeys(t.outs, t))
                yield t

    def rewritten(self, s: Let) -> Iterable[Statement]:
        if s.op is reshape:
            before = self.operand_of(s.args[0], reshape)
            if before is not None and before.type.shape == s.outs[0].type.shape:
                return [replace(s, op=identity, args=(before,), params={})]
        if s.op is not matmul or s.args[1].type.ndim != 2:
            return [s]
        a, b = s.args
        if a.type.ndim > 2:
            copied = self.in_loop or self.is_view(a)
            return [s] if copied and self.is_small(b.type) else parts_of(s, _by_rows)
        return self.of_stacks(s, a, b) if self.in_loop and a.type.ndim == 2 else [s]

    def of_stacks(self, s: Let, a: Atom, b: Atom) -> Iterable[Statement]:
        """One product of all rows as products of a stack, if they are small."""
        shape = s.outs[0].type.shape
        stack = self.stack(a)
        if stack is not None and self.is_small(b.type):
            return parts_of(s, lambda _, b: reshape(matmul(stack, b), shape=shape))
        rows = self.operand_of(a, transpose)
        left, right = None if rows is None else self.stack(rows), self.stack(b)
        if left is None or right is None or left.type.shape[:-1] != right.type.shape[:-1]:
            return [s]
        small = self.is_small(s.outs[0].type)
        return parts_of(s, lambda *_: _outer_products(left, right)) if small else [s]

    def stack(self, rows: Atom) -> Atom | None:
        """The stack whose rows a matrix has."""
        stack = self.operand_of(rows, reshape)
        if stack is None or stack.type.ndim <= 2 or stack.type.shape[-1:] != rows.type.shape[1:]:
            return None
        return stack

    def operand_of(self, a: Atom, op: Op) -> Atom | None:
        """What an array is made of by that operation."""
        s = self.made.get(a)
        return s.args[0] if s is not None and s.op is op else None

    def is_view(self, a: Atom) -> bool:
        s = self.made.get(a)
        return s is not None and s.op.view and s.op is not reshape

    def is_small(self, t: Type) -> bool:
        size = dims.evaluate(dims.product(t.shape), self.hints)
        return size is not None and size <= self.small


def _by_rows(a: Atom, b: Atom) -> Any:
    rows, inner = dims.product(a.type.shape[:-1]), a.type.shape[-1]
    products = matmul(reshape(a, shape=(rows, inner)), b)
    return reshape(products, shape=(*a.type.shape[:-1], b.type.shape[1]))


def _outer_products(a: Atom, b: Atom) -> Any:
    """The sum over all rows of the products of each number in that of `a` and in that of `b`."""
    *lead, n = a.type.shape
    columns, rows = reshape(a, shape=(*lead, n, 1)), reshape(b, shape=(*lead, 1, b.type.shape[-1]))
    return total_of(mul(columns, rows), axes=tuple(range(len(lead))), keepdims=False)
