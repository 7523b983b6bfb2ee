"""Rewrites products of matrices one of which is an outer product as outer products.

y = x @ (u[:, None] * v)      becomes      y = (x @ u)[:, None] * v
"""

from __future__ import annotations

from collections.abc import Iterator

from tapeless.transforms.core.language import Atom, Block, Let, Statement
from tapeless.transforms.lowering.rewrite.formulas import Definitions, parts_of, rewritten_lets
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.arithmetic import mul
from tapeless.transforms.ops.primitives.shapes import column, reshape, transpose
from tapeless.transforms.optimize.dead_code import dead_code

Factors = tuple[Atom, Atom]


def products_of_outer_products(block: Block) -> Block:
    """The program, in which vectors are multiplied in the place of such matrices."""
    rewritten = rewritten_lets(block, _statement)
    return block if rewritten is block else dead_code(rewritten)


def _statement(s: Let, definitions: Definitions) -> Iterator[Statement]:
    if s.op is not matmul or any(a.type.ndim != 2 for a in s.args):
        yield s
        return
    first, second = (_factors(a, definitions) for a in s.args)
    if second is not None:
        yield from parts_of(s, lambda a, _: mul(column(matmul(a, second[0])), second[1]))
    elif first is not None:
        yield from parts_of(s, lambda _, b: mul(column(first[0]), matmul(first[1], b)))
    else:
        yield s


def _factors(a: Atom, definitions: Definitions) -> Factors | None:
    """u and v of a matrix u[:, None] * v; None if it is no such product."""
    match definitions.get(a):
        case Let(op=op, args=(b,)) if op is transpose and (factors := _factors(b, definitions)):
            return factors[1], factors[0]
        case Let(op=op, args=(x, y)) if op is mul and x.type.dtype == y.type.dtype:
            u, v = _vector(x, 0, definitions), _vector(y, 1, definitions)
            if u is None or v is None:
                u, v = _vector(y, 0, definitions), _vector(x, 1, definitions)
            return None if u is None or v is None else (u, v)
    return None


def _vector(a: Atom, axis: int, definitions: Definitions) -> Atom | None:
    """The vector that runs along an axis of a matrix, and stretches along the other."""
    if a.type.ndim == 1:
        return a if axis == 1 else None
    s = definitions.get(a)
    if (
        not isinstance(s, Let)
        or s.op is not reshape
        or s.args[0].type.ndim != 1
        or a.type.ndim != 2
    ):
        return None
    (n,) = s.args[0].type.shape
    return s.args[0] if a.type.shape == ((n, 1) if axis == 0 else (1, n)) else None
