"""Solves matrix equations, and systems whose matrix is made from a vector: scipy.linalg."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapeless
from tapeless.scipy.linalg.functions import solve_sylvester
from tapeless.scipy.linalg.solvers import conjugate_transpose
from tapeless.scipy.linalg.special_matrices import circulant, toeplitz
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


def lstsq(
    a: Any,
    b: Any,
    cond: Any = None,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    lapack_driver: Any = None,
) -> Any:
    """The x for which a @ x is closest to b: (x, squares of what is left, rank, singular values).

    a     array of shape (m, n)
    b     array of shape (m,) or (m, k)
    cond  singular values below cond times the largest count as 0

    Differentiable where the rank does not change.

    >>> lstsq(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))[0].round(12)
    array([2.])
    """
    a, b = np.asarray(a), np.asarray(b)
    cond = np.finfo(np.result_type(a, b, np.float32)).eps if cond is None else cond
    x, residuals, rank, s = np.linalg.lstsq(a, b, rcond=cond)
    return x, (np.sum(residuals) if b.ndim == 1 and a.shape[0] > a.shape[1] else residuals), rank, s


def pinvh(
    a: Any,
    atol: Any = None,
    rtol: Any = None,
    lower: bool = True,
    return_rank: bool = False,
    check_finite: bool = True,
) -> Any:
    """The pseudo-inverse of a Hermitian matrix.

    a           array of shape (n, n), of which one triangle is read
    atol, rtol  eigenvalues up to atol + rtol times the largest count as 0; 0 and n eps by default
    lower       which triangle
    return_rank whether the number of the others is returned, too

    >>> pinvh(np.array([[2.0, 0.0], [0.0, 0.0]]))
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    a = np.asarray(a)
    half = np.tril(a, -1) if lower else np.triu(a, 1)
    whole = half + conjugate_transpose(half) + np.diag(np.diagonal(a))
    w, v = np.linalg.eigh(whole)
    size = np.abs(w)
    rtol = a.shape[0] * np.finfo(w.dtype).eps if rtol is None else rtol
    kept = size > (0.0 if atol is None else atol) + rtol * np.max(size, initial=0.0)
    v = np.where(kept, v, 0)
    core = conjugate_transpose(v) @ whole @ v + np.diag(
        (~kept).astype(w.dtype)
    )  # its inverse is smooth
    inverse = v @ np.linalg.solve(core, conjugate_transpose(v))
    return (inverse, np.sum(kept)) if return_rank else inverse


def _column_and_row(c_or_cr: Any) -> tuple[Any, Any]:
    if not isinstance(c_or_cr, tuple):
        return np.ravel(c_or_cr), np.conj(np.ravel(c_or_cr))
    c, r = c_or_cr
    return np.ravel(c), np.ravel(r)


def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> Any:
    """The x with toeplitz(c, r) @ x == b.

    c_or_cr  the first column, or a pair: the first column and the first row
    b        array of shape (n,) or (n, k)

    The matrix is made whole.

    >>> solve_toeplitz(np.array([2.0, 0.0]), np.array([4.0, 6.0]))
    array([2., 3.])
    """
    matrix = toeplitz(*_column_and_row(c_or_cr))
    return np.linalg.solve(matrix.astype(np.result_type(matrix, b, float)), np.asarray(b))


def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: bool = False, workers: Any = None) -> Any:
    """toeplitz(c, r) @ x. Arguments are those of `solve_toeplitz`.

    >>> matmul_toeplitz(np.array([2.0, 0.0]), np.array([4.0, 6.0]))
    array([ 8., 12.])
    """
    product = toeplitz(*_column_and_row(c_or_cr)) @ np.asarray(x)
    return product.astype(np.result_type(product, float))


def solve_circulant(c: Any, b: Any, singular: str = "raise", tol: Any = None) -> Any:
    """The x with circulant(c) @ x == b.

    c  vector of length n
    b  array of shape (n,) or (n, k)

    The matrix is made whole. Raises ValueError for another `singular`, LinAlgError for a singular
    matrix.

    >>> solve_circulant(np.array([2.0, 0.0]), np.array([4.0, 6.0]))
    array([2., 3.])
    """
    if singular != "raise" or tol is not None:
        raise ArgumentError("solve_circulant: only singular='raise' without tol is supported")
    return np.linalg.solve(circulant(c), np.asarray(b))


def sylvester(a: Any, b: Any, q: Any) -> Any:
    """The x with a @ x + x @ b == q, for square matrices a and b.

    >>> sylvester(np.array([[1.0]]), np.array([[3.0]]), np.array([[8.0]]))
    array([[2.]])
    """
    return solve_sylvester(a, b, q)


def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """The x with a @ x + x @ a^H == q, for matrices of shape (n, n).

    >>> solve_continuous_lyapunov(np.array([[1.0]]), np.array([[8.0]]))
    array([[4.]])
    """
    return solve_sylvester(a, conjugate_transpose(np.asarray(a)), q)


def solve_discrete_lyapunov(a: Any, q: Any, method: Any = None) -> Any:
    """The x with a @ x @ a^H - x + q == 0, for matrices of shape (n, n).

    method is what SciPy takes: one system of n * n equations is solved.

    >>> solve_discrete_lyapunov(np.array([[0.5]]), np.array([[3.0]]))
    array([[4.]])
    """
    a, q = np.asarray(a), np.asarray(q)
    whole = np.eye(q.size) - np.kron(a, np.conj(a))
    return np.reshape(np.linalg.solve(whole, np.ravel(q)), q.shape)


def solve_continuous_are(
    a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True
) -> Any:
    """The x with a^H @ x + x @ a - x @ b @ inv(r) @ b^H @ x + q == 0 for which a - b @ inv(r) @
    b^H @ x is stable.

    a, q  arrays of shape (n, n)
    b     array of shape (n, m)
    r     array of shape (m, m)

    The stable eigenvectors of the Hamiltonian matrix give a solution, and two steps of Newton's
    method (D. L. Kleinman, "On an iterative technique for Riccati equation computations", 1968) a
    better one, and its first and second derivatives. Raises LinAlgError where there is none.

    >>> solve_continuous_are(*np.array([1.0, 1.0, 3.0, 1.0]).reshape(4, 1, 1))
    array([[3.]])
    """
    if e is not None or s is not None:
        raise ArgumentError("solve_continuous_are: e and s are not supported")
    a, b, q, r = (np.asarray(matrix) for matrix in (a, b, q, r))
    n = a.shape[0]
    gains = b @ np.linalg.solve(r, conjugate_transpose(b))
    hamiltonian = np.block([[a, -gains], [-q, -conjugate_transpose(a)]])
    values, vectors = np.linalg.eig(tapeless.stop_gradient(hamiltonian))
    order = np.argsort(values.real)
    if not values.real[order[n - 1]] < 0:
        raise np.linalg.LinAlgError("Failed to find a finite solution.")
    stable = vectors[:, order[:n]]
    x = stable[n:] @ np.linalg.inv(stable[:n])
    if np.result_type(a, b, q, r).kind != "c":
        x = x.real
    for _ in range(2):
        closed = conjugate_transpose(a - gains @ x)
        x = solve_continuous_lyapunov(closed, -(q + x @ gains @ x))
    return (x + conjugate_transpose(x)) / 2


def khatri_rao(a: Any, b: Any) -> Any:
    """The Kronecker products of the columns of a, of shape (n, k), and b, of shape (m, k).

    >>> khatri_rao(np.array([[1, 2]]), np.array([[3, 4], [5, 6]]))
    array([[ 3,  8],
           [ 5, 12]])
    """
    a, b = np.asarray(a), np.asarray(b)
    return np.reshape(a[:, None, :] * b[None, :, :], (-1, a.shape[1]))


def orthogonal_procrustes(A: Any, B: Any, check_finite: bool = True) -> Any:  # noqa: N803 (SciPy's)
    """The orthogonal r for which A @ r is closest to B, and the sum of singular values of A^T B.

    A, B  arrays of shape (m, n)

    >>> turn, size = orthogonal_procrustes(np.eye(2), np.array([[0.0, 1.0], [-1.0, 0.0]]))
    >>> turn.round(12) + 0
    array([[ 0.,  1.],
           [-1.,  0.]])
    """
    product = conjugate_transpose(np.asarray(A)) @ np.asarray(B)
    u, _, vh = np.linalg.svd(product, full_matrices=False)
    turn = u @ vh
    return turn, np.sum(np.real(np.conj(turn) * product))  # smooth where singular values are equal


def eigvalsh_tridiagonal(
    d: Any,
    e: Any,
    select: str = "a",
    select_range: Any = None,
    check_finite: bool = True,
    tol: float = 0.0,
    lapack_driver: str = "auto",
) -> Any:
    """The eigenvalues of a symmetric matrix with two diagonals: d, and e beside it.

    select  'a': all; 'i': those with the numbers from select_range[0] to select_range[1]

    The matrix is made whole. Raises ValueError for another select.

    >>> eigvalsh_tridiagonal(np.array([2.0, 2.0]), np.array([1.0]))
    array([1., 3.])
    """
    if select not in ("a", "i"):
        raise ArgumentError(f"eigvalsh_tridiagonal: select must be 'a' or 'i', not {select!r}")
    w = np.linalg.eigvalsh(np.diag(d) + np.diag(e, 1) + np.diag(e, -1))
    return w if select == "a" else w[select_range[0] : select_range[1] + 1]
