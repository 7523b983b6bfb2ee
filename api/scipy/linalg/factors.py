"""Factorises a matrix into triangular and orthogonal ones: Cholesky, LU, QR."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless.scipy.linalg.solvers import conjugate_transpose, solve_triangular
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


def cholesky(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """The triangular factor of a positive definite matrix: r.T @ r == a, or l @ l.T == a.

    a      array of shape (..., n, n), of which one triangle is read
    lower  whether that is the lower one, and l is returned

    Raises LinAlgError where a is not positive definite.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 2.0]]))
    array([[2., 1.],
           [0., 1.]])
    """
    return (
        np.linalg.cholesky(a)
        if lower
        else conjugate_transpose(np.linalg.cholesky(conjugate_transpose(a)))
    )


def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """What `cho_solve` takes: a pair (factor, lower). Arguments are those of `cholesky`; the other
    triangle of the factor is 0.

    >>> cho_factor(np.array([[4.0]]))
    (array([[2.]]), False)
    """
    return cholesky(a, lower), lower


def cho_solve(
    c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """The x with a @ x == b, of what `cho_factor(a)` returned.

    b  array of shape (n,) or (..., n, k)

    >>> cho_solve(cho_factor(np.array([[4.0]])), np.array([8.0]))
    array([2.])
    """
    factor, lower = c_and_lower
    first, second = (0, 2) if lower else (2, 0)
    half = solve_triangular(factor, b, trans=first, lower=lower)
    return solve_triangular(factor, half, trans=second, lower=lower)


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """What `lu_solve` takes: both factors in one matrix, and with which row each was exchanged.

    a  array of shape (m, n)

    By elimination with exchange of rows (Golub, Van Loan, "Matrix computations", 3.4).

    >>> lu_factor(np.array([[1.0, 3.0], [2.0, 4.0]]))
    (array([[2. , 4. ],
           [0.5, 1. ]]), array([1, 1]))
    """
    both = np.array(a, dtype=np.result_type(a, np.float32))
    m, n = map(operator.index, both.shape)
    pivots = np.arange(min(m, n))
    for k in range(min(m, n)):
        p = k + np.argmax(np.abs(both[k:, k]))
        pivots[k] = p
        row = both[p].copy()
        both[p] = both[k]
        both[k] = row
        pivot = np.where(row[k] == 0, 1, row[k])  # a column of zeros stays
        scaled = both[:, k] / pivot
        scaled = np.where(np.arange(m) > k, scaled, 0)
        rest = np.where(np.arange(n) > k, row, 0)
        both = both - scaled[:, None] * rest
        both[:, k] = np.where(np.arange(m) > k, scaled, both[:, k])
    return both, pivots


def lu_solve(
    lu_and_piv: Any,
    b: Any,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """The x with a @ x == b, of what `lu_factor(a)` returned.

    b      array of shape (n,) or (n, k)
    trans  1: a.T is meant; 2: its conjugate

    >>> lu_solve(lu_factor(np.array([[1.0, 3.0], [2.0, 4.0]])), np.array([4.0, 6.0]))
    array([1., 1.])
    """
    both, pivots = lu_and_piv
    order = _order(pivots, both.shape[0])
    if trans == 0:
        half = solve_triangular(both, np.asarray(b)[order], lower=True, unit_diagonal=True)
        return solve_triangular(both, half)
    half = solve_triangular(both, b, trans=trans)
    solution = solve_triangular(both, half, trans=trans, lower=True, unit_diagonal=True)
    return solution[np.argsort(order)]


def _order(pivots: Any, m: Any) -> Any:
    """Which row of the matrix each row of the factors is."""
    order = np.arange(m)
    for k in range(len(pivots)):
        there = order[pivots[k]]
        order[pivots[k]] = order[k]
        order[k] = there
    return order


def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """p, l, u with a == p @ l @ u: a permutation and two triangular matrices, the first with ones
    on its diagonal.

    a          array of shape (m, n)
    permute_l  whether the pair (p @ l, u) is returned

    >>> lu(np.array([[1.0, 3.0], [2.0, 4.0]]), permute_l=True)
    (array([[0.5, 1. ],
           [1. , 0. ]]), array([[2., 4.],
           [0., 1.]]))
    """
    both, pivots = lu_factor(a)
    m, n = map(operator.index, both.shape)
    k = min(m, n)
    lower, upper = np.tril(both[:, :k], -1) + np.eye(m, k), np.triu(both[:k])
    permutation = np.eye(m, dtype=both.dtype)[_order(pivots, m)].T
    return (permutation @ lower, upper) if permute_l else (permutation, lower, upper)


def qr(
    a: Any,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> Any:
    """q, r with a == q @ r: a matrix of orthonormal columns and an upper triangular one.

    a     array of shape (..., m, n)
    mode  'full': q is square; 'economic': it has min(m, n) columns; 'r': only r, as a tuple

    Transformed with mode 'full' where m <= n only, and differentiable where m >= n. Raises
    ValueError for another mode and for pivoting=True.

    >>> q, r = qr(np.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> np.abs(r).round(4)
    array([[5. , 2.2],
           [0. , 0.4]])
    """
    if mode not in ("full", "economic", "r") or pivoting:
        raise ArgumentError(
            "qr: mode must be 'full', 'economic' or 'r', and pivoting is not supported"
        )
    if mode == "r":
        return (np.linalg.qr(a, mode="r"),)
    m, n = map(operator.index, np.shape(a)[-2:])
    if mode == "full" and m > n:
        return tuple(np.linalg.qr(a, mode="complete"))
    return tuple(np.linalg.qr(a))


def qr_multiply(
    a: Any,
    c: Any,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> Any:
    """c @ q, or q @ c with mode 'left', and r, of the q and r of `qr(a, mode='economic')`.

    a  array of shape (m, n)
    c  a matrix that fits, or a vector

    Raises ValueError as `qr` does.

    >>> product, r = qr_multiply(np.eye(2), np.array([1.0, 2.0]))
    >>> np.abs(product)
    array([1., 2.])
    """
    if mode not in ("left", "right"):
        raise ArgumentError(f"qr_multiply: mode must be 'left' or 'right', not {mode!r}")
    q, r = qr(a, mode="economic", pivoting=pivoting)
    q = np.conj(q) if conjugate else q
    return (q @ c if mode == "left" else c @ q), r
