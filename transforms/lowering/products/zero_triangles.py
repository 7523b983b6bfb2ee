"""Finds which triangles of matrices are zero, whatever the numbers of a call, and which are read.

low = np.linalg.cholesky(k)      is zero above its diagonal; low.T below it
y = np.tril(a @ b)               reads nothing of a @ b above the diagonal
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeless.transforms.core.language import Atom, Block, Let, Literal, Var, statements
from tapeless.transforms.core.uses import reads_of
from tapeless.transforms.ops.linalg.factorisations import cholesky
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.linalg.solve import solve
from tapeless.transforms.ops.numpy.diagonals import tril, triu
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub
from tapeless.transforms.ops.primitives.elementwise import conjugate
from tapeless.transforms.ops.primitives.new_arrays import eye, tri
from tapeless.transforms.ops.primitives.shapes import copy, transpose

ABOVE, BELOW = "above", "below"
NONE: frozenset[str] = frozenset()
BOTH = frozenset([ABOVE, BELOW])
OTHER = {NONE: NONE, BOTH: BOTH, frozenset([ABOVE]): frozenset([BELOW])}
OTHER[frozenset([BELOW])] = frozenset([ABOVE])

Triangles = dict[Any, frozenset[str]]


def zero_triangles(block: Block) -> Triangles:
    """The triangles of each matrix that are zero, without the diagonal; of all others none."""
    zero: Triangles = {}
    for s in statements(block):
        if isinstance(s, Let) and len(s.outs) == 1 and _is_matrix(s.outs[0]):
            triangles = _zero_of(s, zero)
            if triangles:
                zero[s.outs[0]] = triangles
    return zero


def _is_matrix(a: Atom) -> bool:
    return getattr(a.type, "ndim", 0) == 2


def _zero_of(s: Let, zero: Mapping[Any, frozenset[str]]) -> frozenset[str]:
    of = [zero.get(a, NONE) for a in s.args]
    if s.op is cholesky:
        return frozenset([ABOVE])
    if s.op is tri:
        return frozenset([ABOVE]) if s.params["k"] <= 0 else NONE
    if s.op is eye:
        return BOTH if s.params["k"] == 0 else NONE
    if s.op is tril:
        return of[0] | (frozenset([ABOVE]) if s.params["k"] <= 0 else NONE)
    if s.op is triu:
        return of[0] | (frozenset([BELOW]) if s.params["k"] >= 0 else NONE)
    if s.op in (copy, neg, conjugate):
        return of[0]
    if s.op is transpose and s.params["axes"] == (1, 0):
        return OTHER[of[0]]
    if s.op in (add, sub, matmul, solve) and all(map(_is_matrix, s.args)):
        return of[0] & of[1]
    if s.op is mul and any(isinstance(a, Literal) for a in s.args):
        return of[0] | of[1]
    return NONE


def read_triangles(block: Block) -> Triangles:
    """For matrices of which only one triangle and the diagonal are read: the other one."""
    uses = reads_of(block)
    unread: Triangles = {}
    for s in reversed(list(statements(block))):
        if not isinstance(s, Let) or len(s.outs) != 1:
            continue
        for a in s.args:
            if isinstance(a, Var) and uses[a] == 1 and _is_matrix(a):
                triangles = _unread_by(s, unread)
                if triangles:
                    unread[a] = triangles
    return unread


def _unread_by(s: Let, unread: Mapping[Any, frozenset[str]]) -> frozenset[str]:
    """The triangle of its argument that a statement does not read."""
    of = unread.get(s.outs[0], NONE)
    if s.op is tril and s.params["k"] <= 0:
        return of | {ABOVE}
    if s.op is triu and s.params["k"] >= 0:
        return of | {BELOW}
    if s.op is transpose and s.params["axes"] == (1, 0):
        return OTHER[of]
    if not s.op.elementwise:
        return NONE
    full = all(not a.type.shape or a.type.shape == s.outs[0].type.shape for a in s.args)
    return of if full else NONE
