"""Splits products of rows that have several axes row by row: the left operand is made row by row,
too.

y = reshape(reshape(x, (n * p, k)) @ b, (n, i, j, m))      becomes      y[r] = x[r] @ b for each r
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import (
    Atom,
    Block,
    For,
    Let,
    Type,
    Var,
    free_variables,
    operands,
    statements,
)
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.new_arrays import empty, zeros
from tapeless.transforms.ops.primitives.shapes import copy, reshape
from tapeless.transforms.optimize.dead_code import dead_code

LEAST = 1 << 14  # elements of a row of what is not made as a whole, from which it is worth a call
NARROW = 512  # the BLAS copies b at each call: that is little, or done for as many rows as this


def _kind(a: Atom, b: Atom, *, shape: tuple[Size, ...], **_: Any) -> Type:
    return Type(b.type.dtype, shape)


#: a, as the rows of a matrix of shape `flat`, by b; `rows` of them are one of a
row_products = Op("row_products", _kind, "({0}.reshape({flat}) @ {1}).reshape({shape})")


def split_row_products(block: Block, hints: Mapping[dims.Symbol, int]) -> Block:
    """The block with such products, where loops alone make the left operand or read the result.

    hints  sizes in the call that the program is made for, which say where it pays
    """
    return Rowwise(block, hints).run()


class Rowwise:
    """`made` says where values come from; `uses` how often they are read, `looped` by which
    loops."""

    def __init__(self, block: Block, hints: Mapping[dims.Symbol, int]) -> None:
        self.block, self.hints = block, hints
        self.made = {v: s for s in block.body if isinstance(s, (Let, For)) for v in s.outs}
        self.uses = Counter(a for s in statements(block) for a in operands(s))
        self.uses.update(block.results)
        loops = [s for s in block.body if isinstance(s, For)]
        self.looped = {v for s in loops for v in free_variables(s.body)}

    def run(self) -> Block:
        body: list[Any] = []
        for s in self.block.body:
            body += self.chain(s) if isinstance(s, Let) and s.op is reshape else [s]
        if len(body) == len(self.block.body) and all(map(operator.is_, body, self.block.body)):
            return self.block
        available = set(self.block.params)
        first = [s for s in body if isinstance(s, Let) and _is_ready(s, available)]
        return dead_code(replace(self.block, body=(*first, *(s for s in body if s not in first))))

    def chain(self, s: Let) -> list[Let]:
        """What stands for a product in another shape; its parts are dead code then."""
        product = self.made_by(s.args[0], matmul)
        inner = self.made_by(product.args[0], reshape) if product is not None else None
        if product is None or inner is None or self.uses[product.outs[0]] > 1:
            return [s]
        x, b, out = inner.args[0], product.args[1], s.outs[0].type
        if not isinstance(x, Var) or b.type.ndim != 2 or min(x.type.ndim, out.ndim) < 3:
            return [s]
        same = x.type.dtype == b.type.dtype == out.dtype and out.dtype.kind == "f"
        if not same or x.type.shape[0] != out.shape[0] or out.shape[0] in (0, 1):
            return [s]
        if inner.outs[0].type.shape[-1] != b.type.shape[0]:
            return [s]  # they may differ
        alone = self.is_filled_by_loops(x) and self.uses[x] == self.uses[inner.outs[0]] == 1
        rows = self.rows(x, s.outs[0], b, alone)
        if rows is None:
            return [s]
        params = {"shape": out.shape, "flat": inner.outs[0].type.shape, "rows": rows}
        if alone:
            return [Let(s.outs, row_products, (x, b), params, product.origin)]
        held = Var(x.type, x.name)
        kept = Let((held,), copy, (x,), {}, product.origin)
        return [kept, Let(s.outs, row_products, (held, b), params, product.origin)]

    def rows(self, x: Var, y: Var, b: Atom, before: bool) -> Size | None:
        """How many rows of the product belong to one of what loops make or read, if it pays."""
        after = y in self.looped and self.uses[y] == 1
        large, width = (x, b.type.shape[0]) if before else (y, b.type.shape[1])
        size = dims.product(large.type.shape[1:])
        rows = size // width if width != 0 else 0
        pairs = list(zip((x, y), b.type.shape, strict=True))
        fits = [dims.product(v.type.shape[1:]) == rows * n for v, n in pairs]
        if not (before or after) or not all(fits):
            return None
        return rows if self.pays(size, width, rows) else None

    def pays(self, size: Size, width: Size, rows: Size) -> bool:
        """Whether a call for each row is worth it, with the sizes of this call."""
        numbers = [dims.evaluate(n, self.hints) for n in (size, width, rows)]
        if None in numbers:
            return False
        total, wide, count = numbers
        return total >= LEAST and (wide <= NARROW or count >= NARROW)  # type: ignore[operator]

    def is_filled_by_loops(self, x: Var) -> bool:
        """Whether loops fill an array of the program's own."""
        s: Any = self.made.get(x)
        if not isinstance(s, For):
            return False
        while isinstance(s, For):
            x = s.inits[s.outs.index(x)]  # type: ignore[assignment]
            s = self.made.get(x)
        return isinstance(s, Let) and s.op in (zeros, empty)

    def made_by(self, a: Atom, op: Op) -> Let | None:
        s = self.made.get(a) if isinstance(a, Var) else None
        return s if isinstance(s, Let) and s.op is op else None


def _is_ready(s: Let, available: set[Var]) -> bool:
    """Whether a statement is another shape of a parameter, which may come first."""
    return s.op is reshape and s.args[0] in available
