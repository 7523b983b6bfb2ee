"""Defines the operation that solves by an LU factorisation; only to run it takes SciPy.

x = lu_solve(lu, exchanged, b, trans=False, checked=True)      l @ u @ x = b[row_order(exchanged)]

where l and u are the parts of lu. As in SciPy, a singular factor gives inf and nan, where systems
that are triangular raise; `checked`: infinities in what is given are an error of SciPy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.linalg.products import matmul
from tapeless.transforms.ops.linalg.solve import solve
from tapeless.transforms.ops.numpy.diagonals import tril, triu
from tapeless.transforms.ops.numpy.indexing import get
from tapeless.transforms.ops.numpy.sorting import argsort
from tapeless.transforms.ops.primitives.arithmetic import add, neg, sub
from tapeless.transforms.ops.primitives.new_arrays import eye
from tapeless.transforms.ops.primitives.shapes import Atoms, Params, swap

ROWS = '''
def row_order(exchanged):
    """The order of rows that exchanging each row with another, one after the other, gives."""
    rows = np.arange(len(exchanged))
    for k, other in enumerate(exchanged):
        rows[[k, other]] = rows[[other, k]]
    return rows
'''
row_order = Op(
    "row_order",
    lambda exchanged: Type(np.dtype(np.intp), exchanged.type.shape),
    ("row_order({0})", ROWS),
    costly=True,
)


def lower_and_upper(lu: Atom) -> tuple[Any, Any]:
    """The two factors."""
    n = lu.type.shape[0]
    return add(tril(lu, k=-1), eye(sides=(n, n), k=0, dtype=lu.type.dtype)), triu(lu, k=0)


def _jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """Of l u x = p b, and of u^T l^T p x = b, with p x = x[rows]."""
    (lu, exchanged, _), (lu_dot, _, b_dot) = primals, tangents
    if lu_dot is not None:
        (low, high), rows = lower_and_upper(lu), row_order(exchanged)
        low_dot, high_dot = tril(lu_dot, k=-1), triu(lu_dot, k=0)
        if params["trans"]:
            x, left, left_dot, right, right_dot = (
                get(outs[0], rows), swap(high), swap(high_dot), swap(low), swap(low_dot)
            )  # fmt: skip
        else:
            x, left, left_dot, right, right_dot = outs[0], low, low_dot, high, high_dot
        moved = add(matmul(left_dot, matmul(right, x)), matmul(left, matmul(right_dot, x)))
        moved = moved if params["trans"] else get(moved, argsort(rows, axis=0))
        b_dot = neg(moved) if b_dot is None else sub(b_dot, moved)
    return (
        None if b_dot is None else lu_solve(lu, exchanged, b_dot, **{**params, "checked": False}),
    )


def _transpose(ct: Atom, args: Atoms, linear: Any, params: Params) -> tuple[Any, ...]:
    return None, None, lu_solve(args[0], args[1], ct, trans=not params["trans"], checked=False)


def _source(args: Atoms, params: Params) -> str:
    options = ", trans=1" if params["trans"] else ""
    options += "" if params["checked"] else ", check_finite=False"
    return f"scipy.linalg.lu_solve(({{0}}, {{1}}), {{2}}{options})"


lu_solve: Op = Op(
    "lu_solve",
    lambda lu, exchanged, b, **options: solve.infer(lu, b),
    _source,
    _jvp,
    _transpose,
    costly=True,
)
