"""Defines least squares, pseudoinverses and ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom_of_size, current, join, var_size
from tapeless.transforms.core.language import Atom, Type
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.linalg.factorisations import singular_values
from tapeless.transforms.ops.linalg.products import adjoint, conjugate_if_complex, matmul
from tapeless.transforms.ops.numpy.indexing import INDEX
from tapeless.transforms.ops.numpy.run_time_errors import require_size
from tapeless.transforms.ops.primitives.arithmetic import add, mul, neg, sub
from tapeless.transforms.ops.primitives.comparisons_and_rounding import equal, greater, logical_and
from tapeless.transforms.ops.primitives.elementwise import real
from tapeless.transforms.ops.primitives.joining import as_array
from tapeless.transforms.ops.primitives.lapack_types import check_matrix, lapack_dtype
from tapeless.transforms.ops.primitives.new_arrays import eye, zeros
from tapeless.transforms.ops.primitives.shapes import (
    Atoms,
    Params,
    batch_of_stack,
    cast,
    cast_to,
    reshape,
    sum,
)
from tapeless.transforms.ops.primitives.slices_and_gathers import part


def _pinv_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """Golub and Pereyra 1973, for a matrix whose rank does not change."""
    (a,), (a_dot,), (p,) = primals, tangents, outs
    if a_dot is None:
        return (None,)
    n, m = a.type.shape[-2:]
    turned = adjoint(a_dot)
    left = sub(eye(sides=(n, n), k=0, dtype=p.type.dtype), matmul(a, p))
    right = sub(eye(sides=(m, m), k=0, dtype=p.type.dtype), matmul(p, a))
    p_dot = neg(matmul(matmul(p, a_dot), p))
    p_dot = add(p_dot, matmul(matmul(matmul(p, adjoint(p)), turned), left))
    return (add(p_dot, matmul(matmul(right, turned), matmul(adjoint(p), p))),)


def _pinv_infer(a: Atom, *, scaled: bool = False) -> Type:
    check_matrix(a)
    *lead, n, m = a.type.shape
    return Type(lapack_dtype(a), (*lead, m, n))


def _pinv_source(args: Atoms, params: Params) -> str:
    return "np.linalg.pinv({0}, rtol=None)" if params.get("scaled") else "np.linalg.pinv({0})"


#: `scaled`: singular values are small by as much as np.linalg.lstsq says, not np.linalg.pinv.
pinv = Op("pinv", _pinv_infer, _pinv_source, _pinv_jvp, costly=True, batch=batch_of_stack)


def _least_squares_infer(a: Atom, b: Atom) -> Type:
    join(a.type.shape[-2], b.type.shape[0])
    return Type(lapack_dtype(a, b), (a.type.shape[1], *b.type.shape[1:]))


def _least_squares_jvp(primals: Atoms, tangents: Any, outs: Any, params: Params) -> Any:
    """Golub and Pereyra 1973, p b for p = pinv(a), where the rank does not change, whatever it is:
    p (b_dot - a_dot x) + p p^T a_dot^T (b - a x) + (1 - p a) a_dot^T p^T x."""
    (a, b), (a_dot, b_dot), (x,) = primals, tangents, outs
    if a_dot is None and b_dot is None:
        return (None,)
    p = pinv(a, scaled=True)
    if a_dot is None:
        return (matmul(p, b_dot),)
    moved, turned, across = matmul(a_dot, x), adjoint(a_dot), adjoint(p)
    change = neg(moved) if b_dot is None else sub(b_dot, moved)
    change = add(change, matmul(across, matmul(turned, sub(b, matmul(a, x)))))
    outside = matmul(turned, matmul(across, x))
    return (add(matmul(p, sub(change, matmul(a, outside))), outside),)


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
    batch=batch_of_stack,
)


def _lstsq(a: Any, b: Any, rcond: None = None) -> Any:
    a, b = as_array(a), as_array(b)
    check_matrix(a)
    if b.type.shape:
        lengths = a.type.shape[-2], b.type.shape[0]
        require_size(*lengths, np.linalg.LinAlgError, "Incompatible dimensions")
    x, rank = least_squares(a, b), matrix_rank(a)
    return x, _residuals(a, b, x, rank), cast_to(rank, np.dtype(np.int32)), singular_values(a)


def _residuals(a: Atom, b: Atom, x: Atom, rank: Atom) -> Any:
    """The sums of squares of what is left. NumPy gives none where all equations hold, or not all
    columns are independent: how many there are is known only when the program runs."""
    (n, m), columns = a.type.shape, b.type.shape[1] if b.type.ndim > 1 else 1
    residual = sub(b, matmul(a, x))
    square = (
        real(mul(residual, conjugate_if_complex(residual)))
        if residual.type.dtype.kind == "c"
        else mul(residual, residual)
    )
    squares = reshape(sum(square, axes=(0,), keepdims=True), shape=(columns,))
    more_rows = current().at_least(n, m + 1)
    if not more_rows.possible:
        return zeros(shape=(0,), dtype=squares.type.dtype)
    some = equal(rank, atom_of_size(m))
    some = (
        some if more_rows.certain else logical_and(some, greater(atom_of_size(n), atom_of_size(m)))
    )
    return part(squares, 0, 0, var_size(mul(cast(some, dtype=INDEX), columns), lower=0))


NUMPY: dict[Any, Any] = {
    np.linalg.lstsq: _lstsq,
    np.linalg.matrix_rank: lambda a: matrix_rank(as_array(a)),
    np.linalg.pinv: lambda a: pinv(as_array(a)),
}
