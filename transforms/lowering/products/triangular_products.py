"""Multiplies matrices without the triangles that are zero, and without those that nobody reads: by
blocks of rows, each a product of rectangles.

low = np.linalg.cholesky(k); y = np.tril(low.T @ b)
    becomes      y = np.tril(upper_product_below(low.T, b)), with a sixth of the multiplications
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tapeless.transforms.core import dims
from tapeless.transforms.core.builder import building
from tapeless.transforms.core.language import Block, Let, Statement
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.products.zero_triangles import (
    ABOVE,
    BELOW,
    NONE,
    OTHER,
    read_triangles,
    zero_triangles,
)
from tapeless.transforms.lowering.rewrite.formulas import Formula
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.primitives.identities import identity
from tapeless.transforms.ops.primitives.shapes import transpose

STEP = 64  # rows of a block
LEAST = 2 * STEP  # rows and columns for which blocks pay
#: The part of a row of the first matrix that is not zero, and of the result that is wanted.
SUMMED = {"": ":", ABOVE: f": k + {STEP}", BELOW: "k:"}
MATRIX = {"": "", ABOVE: "lower_", BELOW: "upper_"}
DESCRIPTION = {"": "matrices", ABOVE: "a lower triangular matrix", BELOW: "an upper triangular one"}
KEPT = {"": "", ABOVE: "_below", BELOW: "_above"}


def _product(zero: str, unread: str) -> Op:
    """The operation for a first matrix with a zero triangle and a result of which one is not read.

    zero    the triangle, "" for none
    unread  the same of the result
    """
    name = f"{MATRIX[zero]}product{KEPT[unread]}"
    wanted = f", where it is not {unread} the diagonal" if unread else ""
    rows, summed, columns = f"k : k + {STEP}", SUMMED[zero], SUMMED[unread]
    fill = "    out[...] = 0\n" if unread else ""
    text = f'''
def {name}(a, b, out=None):
    """a @ b, of {DESCRIPTION[zero]}{wanted}, by blocks of rows."""
    out = np.empty((len(a), b.shape[1]), a.dtype) if out is None else out
{fill}    for k in range(0, len(a), {STEP}):
        out[{rows}, {columns}] = a[{rows}, {summed}] @ b[{summed}, {columns}]
    return out
'''
    return Op("matmul", matmul.infer, (f"{name}({{0}}, {{1}})", text), costly=True, word="product")


PRODUCTS = {
    (zero, unread): _product(zero, unread)
    for zero in ("", ABOVE, BELOW)
    for unread in ("", ABOVE, BELOW)
    if zero or unread
}


def triangular_products(block: Block, hints: Mapping[dims.Symbol, int]) -> Block:
    """The program, in which products outside of loops are made so where that pays.

    hints  sizes in the call that the program is made for
    """
    zero = zero_triangles(block)
    unread = read_triangles(block)
    body: list[Statement] = []
    for s in block.body:
        if not isinstance(s, Let) or s.op is not matmul or not _pays(s, hints):
            body.append(s)
            continue
        triangles = [zero.get(a, NONE) for a in s.args]
        kept = unread.get(s.outs[0], NONE) | (triangles[0] & triangles[1])
        body += _by_blocks(s, triangles, kept)
    return replace(block, body=tuple(body))


def _pays(s: Let, hints: Mapping[dims.Symbol, int]) -> bool:
    """Whether it is a product of large square matrices of one dtype."""
    types = [a.type for a in (*s.args, *s.outs)]
    if any(t.ndim != 2 or t.dtype != types[0].dtype or t.dtype.kind not in "fc" for t in types):
        return False
    lengths = [dims.evaluate(n, hints) for t in types for n in t.shape]
    return all(n is not None and n >= LEAST for n in lengths)


def _by_blocks(
    s: Let, triangles: list[frozenset[str]], unread: frozenset[str]
) -> Iterator[Statement]:
    """The product of blocks; where only the second matrix has zeros, that of the transposes."""
    first, second = map(_one_of, triangles)
    if not first and second:
        first, other = _one_of(OTHER[triangles[1]]), _one_of(OTHER[unread])
        b = Formula()
        b.origin = s.origin
        with building(b):
            operands = (transpose(a, axes=(1, 0)) for a in reversed(s.args))
            product = PRODUCTS[first, other](*operands)
            result = transpose(product, axes=(1, 0))
        yield from b.blocks[0]
        yield Let(s.outs, identity, (result,), {}, s.origin)
        return
    kept = _one_of(unread)
    yield replace(s, op=PRODUCTS[first, kept]) if first or kept else s


def _one_of(triangles: frozenset[str]) -> str:
    return next((t for t in (ABOVE, BELOW) if t in triangles), "")
