"""Products of matrices that a driver makes, in memory that was used before.

y = x @ w      becomes      y = matmul(x, w)
"""

from __future__ import annotations

from dataclasses import replace

from tapeless.transforms.core.language import Block, Let, Statement, with_blocks
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.linalg.products import matmul

MATMUL = '''
def matmul(a, b):
    """a @ b, of matrices."""
    return a @ b
'''
#: A product of matrices; the backend puts memory there that was used before.
pooled = Op(
    "matmul", matmul.infer, lambda args, params: ("matmul({0}, {1})", MATMUL), word="product"
)


def with_pooled(block: Block) -> Block:
    """The driver whose products of matrices are made in such memory."""
    return replace(block, body=tuple(map(_statement, block.body)))


def _statement(s: Statement) -> Statement:
    if isinstance(s, Let) and s.op is matmul and _of_matrices(s):
        return replace(s, op=pooled)
    return with_blocks(s, with_pooled)


def _of_matrices(s: Let) -> bool:
    """Whether a product is one of two matrices of floats of one dtype."""
    types = [a.type for a in (*s.args, *s.outs)]
    return (
        all(t.ndim == 2 for t in types)
        and types[0].dtype.kind in "fc"
        and (len({t.dtype for t in types}) == 1)
    )
