"""Products of rows that have several axes, row by row: the left operand is made row by row, too.

y = reshape(reshape(x, (n * p, k)) @ b, (n, i, j, m))      becomes      y[r] = x[r] @ b for each r
"""

from __future__ import annotations

from collections import Counter
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
    operands,
    statements,
)
from tapeless.transforms.core.op import Op

LEAST = 1 << 14  # elements of a row of the left operand, from which it is worth a call


def _kind(a: Atom, b: Atom, *, shape: tuple[Size, ...], flat: tuple[Size, ...]) -> Type:
    return Type(b.type.dtype, shape)


#: a, as the rows of a matrix of shape `flat`, by b
row_products = Op("row_products", _kind, "({0}.reshape({flat}) @ {1}).reshape({shape})")  # type: ignore[arg-type]


def by_rows(block: Block) -> Block:
    """The block with such products, where loops make the left operand for them alone."""
    made = {v: s for s in block.body if isinstance(s, (Let, For)) for v in s.outs}
    uses = Counter(a for s in statements(block) for a in operands(s))
    uses.update(block.results)
    gone: set[int] = set()
    new: dict[int, Let] = {}
    for s in block.body:
        found = _chain(s, made, uses) if isinstance(s, Let) else None
        if found is not None:
            inner, product, rows = found
            gone |= {id(inner), id(product)}
            new[id(s)] = rows
    if not new:
        return block
    body = [new.get(id(s), s) for s in block.body if id(s) not in gone]
    known = set(block.params)
    first = [s for s in body if isinstance(s, Let) and _is_ready(s, known)]
    rest = [s for s in body if s not in first]
    return replace(block, body=(*first, *rest))


def _is_ready(s: Let, known: set[Var]) -> bool:
    """Whether a statement is another shape of a parameter, which may come first."""
    return s.op.name == "reshape" and s.args[0] in known


def _chain(s: Let, made: dict[Var, Any], uses: Counter[Any]) -> tuple[Let, Let, Let] | None:
    """The three statements that end with this one, as the first two and what stands for all."""
    product = _only(s.args[0], made, uses, "matmul") if s.op.name == "reshape" else None
    inner = _only(product.args[0], made, uses, "reshape") if product is not None else None
    if product is None or inner is None or not isinstance(inner.args[0], Var):
        return None
    x, b, out = inner.args[0], product.args[1], s.outs[0].type
    if not isinstance(made.get(x), For) or uses[x] != 1 or b.type.ndim != 2 or out.ndim < 2:
        return None
    rows = x.type.shape[0]
    if rows == 1 or rows != out.shape[0] or out.dtype.kind != "f" or x.type.dtype != out.dtype:
        return None
    k, m = b.type.shape
    size = dims.product(x.type.shape[1:])
    if not isinstance(size, int) or not isinstance(k, int) or size < LEAST or size % k:
        return None
    if dims.product(out.shape[1:]) != size // k * m or b.type.dtype != out.dtype:
        return None
    params = {"shape": out.shape, "flat": inner.outs[0].type.shape}
    return inner, product, Let(s.outs, row_products, (x, b), params, product.origin)


def _only(a: Atom, made: dict[Var, Any], uses: Counter[Any], name: str) -> Let | None:
    s = made.get(a) if isinstance(a, Var) and uses[a] == 1 else None
    return s if isinstance(s, Let) and s.op.name == name else None
