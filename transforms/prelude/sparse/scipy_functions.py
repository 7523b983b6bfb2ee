"""Names what stands for the classes and functions of scipy.sparse and scipy.sparse.linalg."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.prelude.sparse.construction import (
    any_sparse,
    block_diagonal,
    block_matrix,
    diagonal_matrix,
    identity_matrix,
    kronecker_product,
    make_matrix,
)
from tapeless.transforms.prelude.sparse.entries import as_sparse, is_sparse
from tapeless.transforms.prelude.sparse.growing import make_growing
from tapeless.transforms.prelude.sparse.systems import solve_entries

__staged__ = True  # plain code: a staged run enters it


def of_class(
    format: str,
    arraylike: bool,
    arg1: Any,
    shape: Any = None,
    dtype: Any = None,
    copy: bool = False,
    **options: Any,
) -> Any:
    if options:
        raise UnsupportedError("a sparse matrix that is made with options", "leave them out")
    make = make_growing if format in GROWING else make_matrix
    return make(format, arraylike, arg1, shape, dtype)


def diags(
    diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> Any:
    return diagonal_matrix(diagonals, offsets, shape, format, dtype, False)


def diags_array(
    diagonals: Any,
    /,
    *,
    offsets: Any = 0,
    shape: Any = None,
    format: Any = None,
    dtype: Any = None,
) -> Any:
    return diagonal_matrix(diagonals, offsets, shape, format, dtype, True)


def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: Any = None) -> Any:
    if m is None:
        m = (np.shape(data)[-1],) * 2
    shape = m if n is None else (m, n)
    return make_matrix("dia", False, (data, diags), shape, None).asformat(format)


def eye(m: Any, n: Any = None, k: int = 0, dtype: Any = float, format: Any = None) -> Any:
    return identity_matrix(m, n, k, dtype, format, False)


def eye_array(m: Any, n: Any = None, *, k: int = 0, dtype: Any = float, format: Any = None) -> Any:
    return identity_matrix(m, n, k, dtype, format, True)


def identity(n: Any, dtype: Any = "d", format: Any = None) -> Any:
    return identity_matrix(n, n, 0, dtype, format, False)


def hstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    return block_matrix([blocks], format, dtype)


def vstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    return block_matrix([[b] for b in blocks], format, dtype)


def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: Any = True) -> Any:  # noqa: N803 (SciPy's)
    b = np.asarray(b)
    solution = Factors(A).solve(b)
    return np.ravel(solution) if b.ndim == 2 and b.shape[1] == 1 else solution


class Factors:
    """What splu gives: a matrix with which systems are solved."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = any_sparse(matrix)
        self.shape = self.matrix.shape
        if self.shape[0] != self.shape[1]:
            raise ValueError(
                f"matrix must be square (has shape ({self.shape[0]}, {self.shape[1]}))"
            )

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        rhs, matrix = np.asarray(rhs), self.matrix
        if rhs.shape[0] != self.shape[0]:
            raise ValueError("the lengths of the matrix and of the right-hand side differ")
        if trans != "N":
            matrix = matrix.T if trans == "T" else matrix.T.conj()
        if rhs.ndim == 2 and rhs.shape[1] == 1:
            return solve_entries(matrix.entries, matrix.rows, matrix.cols, rhs[:, 0])[:, None]
        return solve_entries(matrix.entries, matrix.rows, matrix.cols, rhs)


def splu(
    A: Any,  # noqa: N803 (SciPy's)
    permc_spec: Any = None,
    diag_pivot_thresh: Any = None,
    relax: Any = None,
    panel_size: Any = None,
    options: Any = None,
) -> Any:
    return Factors(A)


def solver_of(A: Any) -> Any:  # noqa: N803 (SciPy's)
    return Factors(A).solve


GROWING = ("lil", "dok")


def issparse(x: Any) -> bool:
    return is_sparse(x)


def isspmatrix(x: Any) -> bool:
    return is_sparse(x) and not as_sparse(x).arraylike


FORMATS = ("coo", "csr", "csc", "dia", *GROWING)
CLASSES = {
    f"{format}_{kind}": functools.partial(of_class, format, kind == "array")
    for format in FORMATS
    for kind in ("matrix", "array")
}
CONSTRUCTING = {
    "diags": diags,
    "diags_array": diags_array,
    "spdiags": spdiags,
    "eye": eye,
    "eye_array": eye_array,
    "identity": identity,
    "hstack": hstack,
    "vstack": vstack,
    "kron": kronecker_product,
    "bmat": block_matrix,
    "block_array": block_matrix,
    "block_diag": block_diagonal,
    "issparse": issparse,
    "isspmatrix": isspmatrix,
}
SOLVING = {"spsolve": spsolve, "splu": splu, "factorized": solver_of}


def standing_for(f: Any) -> Any:
    """Ours for a class or function of scipy.sparse or scipy.sparse.linalg."""
    module, name = getattr(f, "__module__", ""), getattr(f, "__name__", "")
    if module.startswith("scipy.sparse.linalg"):
        return SOLVING.get(name)
    return (CLASSES if isinstance(f, type) else CONSTRUCTING).get(name)
