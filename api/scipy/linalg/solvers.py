"""Solves linear systems, and computes inverses, determinants, singular values and eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular as _solve_triangular

from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it

TURNED = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}


def conjugate_transpose(a: Any) -> Any:
    """The conjugate transpose."""
    return np.conj(np.swapaxes(a, -1, -2))


def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Any:
    """The x with a @ x == b, of a triangular matrix.

    a      array of shape (n, n), of which one triangle is read; or several, (..., n, n)
    b      array of shape (n,) or (..., n, k)
    trans  1 or 'T': a.T is meant; 2 or 'C': its conjugate
    lower  which triangle
    unit_diagonal  whether the diagonal is 1, and not read

    Raises ValueError for another trans.

    >>> solve_triangular(np.array([[2.0, 1.0], [9.0, 4.0]]), np.array([3.0, 4.0]))
    array([1., 1.])
    """
    if trans not in TURNED:
        raise ArgumentError(f"solve_triangular: trans must be 0, 1 or 2, not {trans!r}")
    a, b = np.asarray(a), np.asarray(b)
    kind = TURNED[trans]
    if kind == 2:
        a = np.conj(a)
    if a.ndim == 2 and b.ndim < 3:
        return _solve_triangular(a, b, trans=min(kind, 1), lower=lower, unit_diagonal=unit_diagonal)
    part = np.tril(a, -1) if lower else np.triu(a, 1)
    n = a.shape[-1]
    diagonal = np.ones(n) if unit_diagonal else np.diagonal(a, axis1=-2, axis2=-1)
    whole = part + diagonal[..., None] * np.eye(n)
    return np.linalg.solve(np.swapaxes(whole, -1, -2) if kind else whole, b)


def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Any:
    """The x with a @ x == b.

    a         array of shape (..., n, n)
    b         array of shape (n,) or (..., n, k)
    assume_a  'gen', 'sym', 'her', or 'pos': positive definite, by Cholesky's factors
    lower     which triangle of a positive definite matrix is read

    Raises ValueError for another assume_a, LinAlgError for singular matrices.

    >>> solve(np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([3.0, 4.0]))
    array([1., 1.])
    """
    if assume_a not in ("gen", "sym", "her", "pos"):
        raise ArgumentError(
            f"solve: assume_a must be 'gen', 'sym', 'her' or 'pos', not {assume_a!r}"
        )
    if assume_a != "pos":
        return np.linalg.solve(a, b)
    root = np.linalg.cholesky(np.asarray(a) if lower else conjugate_transpose(a))
    return solve_triangular(root, solve_triangular(root, b, lower=True), trans=2, lower=True)


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The inverse of a matrix of shape (..., n, n).

    Raises LinAlgError for singular matrices.

    >>> inv(np.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return np.linalg.inv(a)


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The determinant of a matrix of shape (..., n, n).

    >>> float(det(np.array([[2.0, 0.0], [0.0, 4.0]])).round(12))
    8.0
    """
    return np.linalg.det(a)


def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """The singular value decomposition: u, s, vh with a == u @ diag(s) @ vh.

    a              array of shape (..., m, n)
    full_matrices  whether u and vh are square
    compute_uv     whether there are u and vh: without them, s alone is returned

    Differentiable where the singular values differ; with full_matrices=True of square a only.

    >>> svd(np.array([[3.0, 0.0], [0.0, 4.0]]), compute_uv=False)
    array([4., 3.])
    """
    if not compute_uv:
        return np.linalg.svd(a, compute_uv=False)
    return tuple(np.linalg.svd(a, full_matrices=full_matrices))


def eigh(
    a: Any,
    b: Any = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Eigenvalues and eigenvectors of a symmetric matrix: a @ v == v * w.

    a      array of shape (..., n, n), of which one triangle is read
    b      positive definite, of the same shape: a @ v == b @ v * w is solved
    lower  which triangle
    eigvals_only  whether w alone is returned

    Differentiable as np.linalg.eigh is. Raises ValueError for eigvals and another type.

    >>> eigh(np.array([[2.0, 1.0], [1.0, 2.0]]), eigvals_only=True)
    array([1., 3.])
    """
    if eigvals is not None or type != 1:
        raise ArgumentError("eigh: eigvals and type are not supported", "leave them out")
    a = np.asarray(a)
    whole = _symmetric(a, lower)
    if b is None:
        w, v = np.linalg.eigh(whole)
        return w if eigvals_only else (w, v)
    root = np.linalg.cholesky(np.asarray(b) if lower else conjugate_transpose(b))
    half = solve_triangular(root, whole, lower=True)
    w, y = np.linalg.eigh(
        conjugate_transpose(solve_triangular(root, conjugate_transpose(half), lower=True))
    )
    return w if eigvals_only else (w, solve_triangular(root, y, trans=2, lower=True))


def _symmetric(a: Any, lower: bool) -> Any:
    half = np.tril(a, -1) if lower else np.triu(a, 1)
    diagonal = np.diagonal(a, axis1=-2, axis2=-1)
    return half + conjugate_transpose(half) + diagonal[..., None] * np.eye(a.shape[-1])


def eigh_tridiagonal(
    d: Any,
    e: Any,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: Any = None,
    tol: Any = None,
    key: Any = None,
) -> Any:
    """Eigenvalues and eigenvectors of a symmetric matrix with two diagonals.

    d             the diagonal, of shape (n,)
    e             the one beside it, of shape (n - 1,)
    eigvals_only  whether the eigenvalues alone are returned
    select        'a': all; 'i': those with the numbers from select_range[0] to select_range[1]

    tol and key are what JAX takes. The matrix is made whole. Raises ValueError for another select.

    >>> eigh_tridiagonal(np.array([2.0, 2.0]), np.array([1.0]), eigvals_only=True)
    array([1., 3.])
    """
    if select not in ("a", "i"):
        raise ArgumentError(f"eigh_tridiagonal: select must be 'a' or 'i', not {select!r}")
    w, v = np.linalg.eigh(np.diag(d) + np.diag(e, 1) + np.diag(np.conj(e), -1))
    if select == "i":
        first, last = select_range
        w, v = w[first : last + 1], v[:, first : last + 1]
    return w if eigvals_only else (w, v)
