"""Least squares, pseudoinverses and ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import current, join
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.op import Op
from tapeless.transforms.ops.arithmetic import add, mul, neg, sub
from tapeless.transforms.ops.elementwise import real
from tapeless.transforms.ops.factorisations import singular_values
from tapeless.transforms.ops.fresh import eye, zeros
from tapeless.transforms.ops.joining import as_array
from tapeless.transforms.ops.linalg import adjoint, conjugated, matmul
from tapeless.transforms.ops.matrices import lapack_dtype
from tapeless.transforms.ops.shapes import Atoms, Params, cast_to, reshape, stacked, sum


def _pinv_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """Golub and Pereyra 1973, for a matrix whose rank does not change."""
    (a,), (a_dot,), (p,) = primals, tangents, outs
    if a_dot is None:
        return (None,)
    n, m = a.type.shape[-2:]
    turned = adjoint(a_dot)
    left = sub(eye(sides=(n, n), k=0, dtype=p.type.dtype), matmul(a, p))
    right = sub(eye(sides=(m, m), k=0, dtype=p.type.dtype), matmul(p, a))
    made = neg(matmul(matmul(p, a_dot), p))
    made = add(made, matmul(matmul(matmul(p, adjoint(p)), turned), left))
    return (add(made, matmul(matmul(right, turned), matmul(adjoint(p), p))),)


def _pinv_infer(a: Atom) -> Type:
    *lead, n, m = a.type.shape
    return Type(lapack_dtype(a), (*lead, m, n))


pinv = Op("pinv", _pinv_infer, "np.linalg.pinv({0})", _pinv_jvp, costly=True, batch=stacked)


def _least_squares_infer(a: Atom, b: Atom, *, tall: bool) -> Type:
    join(a.type.shape[-2], b.type.shape[0])
    return Type(lapack_dtype(a, b), (a.type.shape[1], *b.type.shape[1:]))


def _least_squares_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """p (b_dot - a_dot x) + p p^T a_dot^T (b - a x) for p = pinv(a), a of full column rank; for
    more unknowns than equations there is (1 - p a) a_dot^T p^T x instead."""
    (a, b), (a_dot, b_dot), (x,) = primals, tangents, outs
    if a_dot is None and b_dot is None:
        return (None,)
    p, total = pinv(a), b_dot
    if a_dot is None:
        return (matmul(p, total),)
    moved = matmul(a_dot, x)
    made = matmul(p, neg(moved) if total is None else sub(total, moved))
    if params["tall"]:
        pulled = matmul(adjoint(a_dot), sub(b, matmul(a, x)))
        return (add(made, matmul(p, matmul(adjoint(p), pulled))),)
    pulled = matmul(adjoint(a_dot), matmul(adjoint(p), x))
    return (add(made, sub(pulled, matmul(p, matmul(a, pulled)))),)


least_squares = Op(
    "least_squares",
    _least_squares_infer,
    "np.linalg.lstsq({0}, {1})[0]",
    _least_squares_jvp,
    costly=True,
)
matrix_rank = Op(
    "matrix_rank",
    lambda a: Type(np.dtype(np.intp), a.type.shape[:-2]),
    "np.linalg.matrix_rank({0})",
    costly=True,
    batch=stacked,
)


def _lstsq(a: Any, b: Any, rcond: None = None) -> Any:
    a, b = as_array(a), as_array(b)
    n, m = a.type.shape
    tall = current().clamp(m, n) == m
    x = least_squares(a, b, tall=tall)
    left = sub(b, matmul(a, x))
    square = real(mul(left, conjugated(left))) if left.type.dtype.kind == "c" else mul(left, left)
    squares = sum(square, axes=(0,), keepdims=True)
    residuals = reshape(squares, shape=(b.type.shape[1] if b.type.ndim > 1 else 1,))
    if not tall or current().clamp(n, m) == n:  # all equations hold: NumPy gives none
        residuals = zeros(shape=(0,), dtype=residuals.type.dtype)
    return x, residuals, cast_to(matrix_rank(a), np.dtype(np.int32)), singular_values(a)


NUMPY: dict[Any, Any] = {
    np.linalg.lstsq: _lstsq,
    np.linalg.matrix_rank: lambda a: matrix_rank(as_array(a)),
    np.linalg.pinv: lambda a: pinv(as_array(a)),
}
