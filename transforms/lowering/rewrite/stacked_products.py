"""Rewrites products of a stack of matrices and one matrix as one product of all rows.

y = a @ c, of a (n, p, k) and c (k, m)      becomes      y = (a as (n * p, k)) @ c, as (n, p, m)

A library multiplies the matrices of a stack one by one, however few rows each of them has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import Atom, Block, Let, Statement, with_blocks
from tapeless.transforms.lowering.rewrite.formulas import parts_of
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.shapes import reshape


def rows_of_stacks(block: Block) -> Block:
    """The block with one product for each such stack."""
    return replace(block, body=tuple(_statements(block.body)))


def _statements(body: tuple[Statement, ...]) -> Iterator[Statement]:
    for s in body:
        if isinstance(s, Let) and s.op is matmul and _is_stack_by_matrix(*s.args):
            yield from parts_of(s, _by_rows)
        else:
            yield with_blocks(s, rows_of_stacks)


def _is_stack_by_matrix(a: Atom, b: Atom) -> bool:
    return bool(a.type.ndim > 2 and b.type.ndim == 2)


def _by_rows(a: Atom, b: Atom) -> Any:
    rows, inner = dims.product(a.type.shape[:-1]), a.type.shape[-1]
    products = matmul(reshape(a, shape=(rows, inner)), b)
    return reshape(products, shape=(*a.type.shape[:-1], b.type.shape[1]))
