"""Systems of triangular matrices that a driver solves: by blocks, without another factorisation.

a = np.linalg.cholesky(k); x = np.linalg.solve(a.T, np.linalg.solve(a, b))
    becomes      a = np.linalg.cholesky(k); x = solve_upper(a.T, solve_lower(a, b))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tapeless.transforms.core.language import Block, Let, Statement, statements, with_blocks
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.linalg.factorisations import cholesky
from tapeless.transforms.ops.linalg.solve import solve
from tapeless.transforms.ops.numpy.diagonals import tril, triu
from tapeless.transforms.ops.primitives.arithmetic import neg
from tapeless.transforms.ops.primitives.elementwise import conjugate
from tapeless.transforms.ops.primitives.shapes import copy, transpose

LOWER, UPPER = "lower", "upper"
OTHER = {LOWER: UPPER, UPPER: LOWER}
Halves = dict[Any, str]
#: What NumPy's own solver does in blocks along the diagonal costs little, whatever their size.
HELPERS = {
    LOWER: '''
def solve_lower(a, b):
    """np.linalg.solve(a, b) of a lower triangular matrix, by blocks of rows."""
    x = b.astype(a.dtype, order="C")
    for k in range(0, len(a), 64):
        rows = slice(k, k + 64)
        x[rows] -= a[rows, :k] @ x[:k]
        x[rows] = np.linalg.solve(a[rows, rows], x[rows])
    return x
''',
    UPPER: '''
def solve_upper(a, b):
    """np.linalg.solve(a, b) of an upper triangular matrix, by blocks of rows."""
    x = b.astype(a.dtype, order="C")
    for k in reversed(range(0, len(a), 64)):
        rows = slice(k, k + 64)
        x[rows] -= a[rows, k + 64 :] @ x[k + 64 :]
        x[rows] = np.linalg.solve(a[rows, rows], x[rows])
    return x
''',
}


SOLVERS = {
    half: Op("solve", solve.infer, (f"solve_{half}({{0}}, {{1}})", text), costly=True)
    for half, text in HELPERS.items()
}


def triangles_by_blocks(block: Block) -> Block:
    """The program, in which the systems of triangular matrices are solved so."""
    halves: Halves = {}
    for s in statements(block):
        half = _half(s, halves) if isinstance(s, Let) else None
        if half is not None and s.outs[0].type.ndim == 2:
            halves[s.outs[0]] = half
    return _solve_by_blocks(block, halves) if halves else block


def _half(s: Let, halves: Mapping[Any, str]) -> str | None:
    """Which half of a result is zero: what is above the diagonal of a lower triangle."""
    if s.op is cholesky:
        return LOWER
    if s.op is tril and s.params["k"] <= 0:
        return LOWER
    if s.op is triu and s.params["k"] >= 0:
        return UPPER
    if s.op in (copy, neg, conjugate):
        return halves.get(s.args[0])
    if s.op is transpose and s.params["axes"] == (1, 0) and s.args[0] in halves:
        return OTHER[halves[s.args[0]]]
    return None


def _solve_by_blocks(block: Block, halves: Mapping[Any, str]) -> Block:
    return replace(block, body=tuple(_statement(s, halves) for s in block.body))


def _statement(s: Statement, halves: Mapping[Any, str]) -> Statement:
    if not isinstance(s, Let):
        return with_blocks(s, lambda b: _solve_by_blocks(b, halves))
    if s.op is not solve or s.args[0] not in halves:
        return s
    matrix, values, result = s.args[0].type, s.args[1].type, s.outs[0].type
    if matrix.dtype != result.dtype or values.ndim > 2:
        return s
    return replace(s, op=SOLVERS[halves[s.args[0]]])
