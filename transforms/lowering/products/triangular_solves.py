"""Solves systems of triangular matrices by blocks, without another factorisation.

a = np.linalg.cholesky(k); x = np.linalg.solve(a.T, np.linalg.solve(a, b))
    becomes      a = np.linalg.cholesky(k); x = solve_upper(a.T, solve_lower(a, b))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tapeless.transforms.core.language import Block, Let, Statement, with_blocks
from tapeless.transforms.core.operation import Op
from tapeless.transforms.lowering.products.zero_triangles import ABOVE, BELOW, NONE, zero_triangles
from tapeless.transforms.ops.linalg.solve import solve

Halves = Mapping[object, frozenset[str]]
#: Blocks along the diagonal are inverted, as in libraries for GPUs: products with them are faster
#: than systems are (J. Du Croz and N. Higham, "Stability of Methods for Matrix Inversion", 1992).
LOWER, UPPER = "lower", "upper"
HELPERS = {
    LOWER: '''
def solve_lower(a, b, out=None):
    """np.linalg.solve(a, b) of a lower triangular matrix, by blocks of rows."""
    x = np.empty(b.shape, a.dtype) if out is None else out
    x[...] = b
    for k in range(0, len(a), 32):
        rows = slice(k, k + 32)
        x[rows] -= a[rows, :k] @ x[:k]
        x[rows] = np.linalg.inv(a[rows, rows]) @ x[rows]
    return x
''',
    UPPER: '''
def solve_upper(a, b, out=None):
    """np.linalg.solve(a, b) of an upper triangular matrix, by blocks of rows."""
    x = np.empty(b.shape, a.dtype) if out is None else out
    x[...] = b
    for k in reversed(range(0, len(a), 32)):
        rows = slice(k, k + 32)
        x[rows] -= a[rows, k + 32 :] @ x[k + 32 :]
        x[rows] = np.linalg.inv(a[rows, rows]) @ x[rows]
    return x
''',
}


SOLVERS = {
    half: Op("solve", solve.infer, (f"solve_{half}({{0}}, {{1}})", text), costly=True)
    for half, text in HELPERS.items()
}


def solve_triangles_by_blocks(block: Block) -> Block:
    """The program, in which the systems of triangular matrices are solved so."""
    zero = zero_triangles(block)
    return _solve_by_blocks(block, zero) if zero else block


def _half(triangles: frozenset[str]) -> str:
    """Which half of a matrix is not zero; "" for both."""
    return LOWER if ABOVE in triangles else UPPER if BELOW in triangles else ""


def _solve_by_blocks(block: Block, zero: Halves) -> Block:
    return replace(block, body=tuple(_statement(s, zero) for s in block.body))


def _statement(s: Statement, zero: Halves) -> Statement:
    if not isinstance(s, Let):
        return with_blocks(s, lambda b: _solve_by_blocks(b, zero))
    half = _half(zero.get(s.args[0], NONE)) if s.op is solve else ""
    if not half:
        return s
    matrix, values, result = s.args[0].type, s.args[1].type, s.outs[0].type
    if matrix.dtype != result.dtype or values.ndim > 2:
        return s
    return replace(s, op=SOLVERS[half])
