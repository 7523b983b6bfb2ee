"""Rewrites products of a stack of matrices and one matrix as one product of all rows.

y = a @ c, of a (n, p, k) and c (k, m)      becomes      y = (a as (n * p, k)) @ c, as (n, p, m)

A library multiplies the matrices of a stack one by one, however few rows each of them has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Atom, Block, For, Let, Statement, While, with_blocks
from tapeless.transforms.lowering.rewrite.formulas import parts_of
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.shapes import reshape

SMALL = 1 << 10  # numbers of a matrix by which loops multiply as fast as a library


def rows_of_stacks(block: Block, hints: Mapping[dims.Symbol, int]) -> Block:
    """The block with one product for each such stack; `hints` are the sizes of this call."""
    return replace(block, body=tuple(_Stacks(hints, set()).statements(block.body)))


@dataclass(frozen=True)
class _Stacks:
    """`views` are the parts of other arrays; `in_loop` says whether loops are around."""

    hints: Mapping[dims.Symbol, int]
    views: set[Atom]
    in_loop: bool = False

    def statements(self, body: tuple[Statement, ...]) -> Iterator[Statement]:
        for s in body:
            if isinstance(s, Let) and s.op.view and s.op is not reshape:
                self.views.update(s.outs)
            if isinstance(s, Let) and s.op is matmul and self.is_one_product(*s.args):
                yield from parts_of(s, _by_rows)
            else:
                inner = replace(self, in_loop=self.in_loop or isinstance(s, (For, While)))
                yield with_blocks(s, inner.block)

    def block(self, block: Block) -> Block:
        return replace(block, body=tuple(self.statements(block.body)))

    def is_one_product(self, a: Atom, b: Atom) -> bool:
        """Whether it pays to make one product of a stack. Its rows are copied for that where they
        do not follow one another, and in kernels: loops over small matrices take less."""
        if a.type.ndim <= 2 or b.type.ndim != 2:
            return False
        size = dims.evaluate(dims.product(b.type.shape), self.hints)
        copied = self.in_loop or a in self.views
        return not copied or size is None or size > SMALL


def _by_rows(a: Atom, b: Atom) -> Any:
    rows, inner = dims.product(a.type.shape[:-1]), a.type.shape[-1]
    products = matmul(reshape(a, shape=(rows, inner)), b)
    return reshape(products, shape=(*a.type.shape[:-1], b.type.shape[1]))
