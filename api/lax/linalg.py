"""Factorises matrices and solves linear equations, with the conventions of jax.lax.linalg."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.lax.missing import refuse_linalg
from tapeless.lax.operand_checks import checked_kind, checked_kinds, checked_operands
from tapeless.lax.reflections import reduce_to_hessenberg
from tapeless.numpy.array_functions import follow_arguments
from tapeless.scipy.scipy_import import scipy_linalg
from tapeless.transforms.errors import ArgumentError, UnsupportedError

__staged__ = True  # plain NumPy code: a staged run enters it


def _matrix(name: str, x: Any) -> Any:
    x = checked_kind(name, x, "fc")
    if x.ndim < 2:
        raise ArgumentError(f"lax.linalg.{name}: takes matrices, not an array of {x.ndim} axes")
    return x


def _adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2)) if x.dtype.kind == "c" else np.swapaxes(x, -1, -2)


@follow_arguments
def cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
    """The lower triangular factor of positive definite matrices.

    x                 array of shape (..., n, n)
    symmetrize_input  takes (x + x.T) / 2

    Raises LinAlgError where a matrix is not positive definite, where JAX gives NaN.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 2.0]]))
    array([[2., 0.],
           [1., 1.]])
    """
    x = _matrix("cholesky", x)
    return np.linalg.cholesky((x + _adjoint(x)) / 2 if symmetrize_input else x)


@follow_arguments
def cholesky_update(r_matrix: Any, w_vector: Any) -> Any:
    """The upper triangular factor of r.T @ r + outer(w, w), for one r.

    r_matrix  upper triangular array of shape (n, n)
    w_vector  array of shape (n,)

    By rotations: P. Gill, G. Golub, W. Murray, M. Saunders, "Methods for modifying matrix
    factorizations", Mathematics of Computation 28 (1974).

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.linalg.cholesky_update(np.array([[3.0]]), np.array([4.0]))
    array([[5.]])
    """
    r, w = map(np.copy, checked_kinds("linalg.cholesky_update", "f", r_matrix, w_vector))
    for k in range(w.shape[0]):
        length = np.hypot(r[k, k], w[k])
        cosine, sine = r[k, k] / length, w[k] / length
        row = cosine * r[k] + sine * w
        w = cosine * w - sine * r[k]
        r[k] = row
    return np.triu(r)


@follow_arguments
def eigh(
    x: Any,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: Any = None,
    implementation: Any = None,
) -> tuple[Any, Any]:
    """Eigenvectors and eigenvalues of symmetric matrices, in this order.

    x      array of shape (..., n, n)
    lower  which triangle is read where the input is not symmetrised

    Eigenvalues grow. sort_eigenvalues and implementation are accepted, and of no effect.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.linalg.eigh(np.diag([2.0, 1.0]))[1]
    array([1., 2.])
    """
    if subset_by_index is not None:
        raise UnsupportedError(
            "lax.linalg.eigh: some eigenvalues only", "take a part of the result"
        )
    x = _matrix("eigh", x)
    x = (x + _adjoint(x)) / 2 if symmetrize_input else x
    values, vectors = np.linalg.eigh(x, UPLO="L" if lower else "U")
    return vectors, values


@follow_arguments
def eig(
    x: Any,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
    implementation: Any = None,
    use_magma: Any = None,
) -> list[Any]:
    """Eigenvalues, and left and right eigenvectors of length 1 where they are wanted.

    x  array of shape (..., n, n)

    Returns a list of complex arrays; the last three options are accepted, and of no effect.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.linalg.eig(np.array([[0.0, 1.0], [-1.0, 0.0]]))[0].imag
    array([ 1., -1.])
    """
    x = _matrix("eig", x)
    values, right = np.linalg.eig(x.astype(np.result_type(x.dtype, 1j)))
    results = [values]
    if compute_left_eigenvectors:
        left = _adjoint(np.linalg.inv(right))
        results.append(left / np.sqrt(np.sum(np.abs(left) ** 2, axis=-2, keepdims=True)))
    return [*results, right] if compute_right_eigenvectors else results


@follow_arguments
def qr(
    x: Any, *, pivoting: bool = False, full_matrices: bool = True, use_magma: Any = None
) -> tuple[Any, Any]:
    """Orthogonal and upper triangular factors.

    x              array of shape (..., m, n)
    full_matrices  q is square

    >>> import numpy as np
    >>> from tapeless import lax
    >>> q, r = lax.linalg.qr(np.array([[3.0], [4.0]]), full_matrices=False)
    >>> (q @ r).round(6)[:, 0]
    array([3., 4.])
    """
    if pivoting:
        raise UnsupportedError("lax.linalg.qr with pivoting", "leave it out")
    q, r = np.linalg.qr(_matrix("qr", x), mode="complete" if full_matrices else "reduced")
    return q, r


@follow_arguments
def svd(
    x: Any,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: Any = None,
    algorithm: Any = None,
) -> Any:
    """Singular values, and the vectors that belong to them.

    x              array of shape (..., m, n)
    full_matrices  u and vh are square
    compute_uv     (u, s, vh) is returned, and not s alone

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.linalg.svd(np.diag([3.0, 4.0]), compute_uv=False)
    array([4., 3.])
    """
    if subset_by_index is not None:
        raise UnsupportedError("lax.linalg.svd of a subset", "take a part of the result")
    x = _matrix("svd", x)
    if not compute_uv:
        return np.linalg.svd(x, compute_uv=False)
    u, s, vh = np.linalg.svd(x, full_matrices=full_matrices)
    return u, s, vh


@follow_arguments
def lu(x: Any) -> tuple[Any, Any, Any]:
    """Lower and upper triangular factors of a matrix whose rows are exchanged.

    x  array of shape (..., m, n)

    Returns both factors in one matrix (the diagonal of ones of the lower one left out), the row
    that each row was exchanged with, and the order of rows that results: x[order] = lower @ upper.

    Gaussian elimination with partial pivoting: G. Golub, C. Van Loan, "Matrix Computations", 3.4.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.linalg.lu(np.array([[1.0, 2.0], [2.0, 2.0]]))[0]
    array([[2. , 2. ],
           [0.5, 1. ]])
    """
    a = _matrix("lu", x)
    m, n = a.shape[-2:]
    rows, columns, steps = np.arange(m), np.arange(n), min(m, n)
    order = np.broadcast_to(rows, a.shape[:-1])
    pivots = np.zeros((*a.shape[:-2], steps), np.int32)
    for k in range(steps):
        size = np.where(rows >= k, np.abs(a[..., k]), -1.0)
        best = np.argmax(size, axis=-1, keepdims=True)
        pivots[..., k] = best[..., 0]
        swap = np.where(rows == k, best, np.where(rows == best, k, rows))
        a = np.take_along_axis(a, swap[..., np.newaxis], axis=-2)
        order = np.take_along_axis(order, swap, axis=-1)
        pivot = np.expand_dims(a[..., k, k], -1)
        factor = np.where(rows > k, a[..., k] / np.where(pivot == 0, 1, pivot), 0)
        right = np.where(columns > k, a[..., k, :], 0)
        a = a - factor[..., np.newaxis] * right[..., np.newaxis, :]
        here = (rows > k)[:, np.newaxis] & (columns == k)
        a = np.where(here, factor[..., np.newaxis], a)
    return a, pivots, order.astype(np.int32)


@follow_arguments
def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Any:
    """The order of rows that exchanges make, one after the other.

    pivots            integers of shape (..., k): row number i was exchanged with row pivots[i]
    permutation_size  how many rows there are

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.linalg.lu_pivots_to_permutation(np.array([2, 2]), 3)
    array([2, 0, 1])
    """
    pivots = checked_kind("linalg.lu_pivots_to_permutation", pivots, "iu")
    rows = np.arange(permutation_size)
    order = np.broadcast_to(rows, (*pivots.shape[:-1], permutation_size))
    for k in range(pivots.shape[-1]):
        other = np.expand_dims(pivots[..., k], -1)
        swap = np.where(rows == k, other, np.where(rows == other, k, rows))
        order = np.take_along_axis(order, swap, axis=-1)
    return order.astype(pivots.dtype)


@follow_arguments
def triangular_solve(
    a: Any,
    b: Any,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    """x with a @ x = b, or with x @ a = b, for triangular matrices.

    a              array of shape (..., n, n), of which one triangle is read
    b              array of shape (..., n, m) or (..., m, n)
    left_side      a stands on the left
    lower          the lower triangle
    transpose_a    a is transposed first
    conjugate_a    a is conjugated first
    unit_diagonal  the diagonal is taken to be 1

    >>> import numpy as np
    >>> from tapeless import lax
    >>> a = np.array([[2.0, 0.0], [1.0, 1.0]])
    >>> lax.linalg.triangular_solve(a, np.array([[2.0], [3.0]]), left_side=True, lower=True)
    array([[1.],
           [2.]])
    """
    a, b = checked_kinds("linalg.triangular_solve", "fc", a, b)
    n = a.shape[-1]
    part = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        part = np.where(np.eye(n, dtype=bool), np.ones_like(part), part)
    part = np.conj(part) if conjugate_a else part
    part = np.swapaxes(part, -1, -2) if transpose_a else part
    if left_side:
        return np.linalg.solve(part, b)
    return np.swapaxes(np.linalg.solve(np.swapaxes(part, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)


@follow_arguments
def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool = False) -> Any:
    """x with a @ x = b, for a matrix with three diagonals.

    dl, d, du  arrays of shape (n,): below, on and above the diagonal; dl[0] and du[-1] are not read
    b          array of shape (n, m)

    Elimination without pivoting: L. Thomas (1949).

    >>> import numpy as np
    >>> from tapeless import lax
    >>> one = np.ones(3)
    >>> lax.linalg.tridiagonal_solve(one, 4 * one, one, np.array([[5.0], [6.0], [5.0]]))[:, 0]
    array([1., 1., 1.])
    """
    if perturb_singular:
        raise UnsupportedError("lax.linalg.tridiagonal_solve of singular matrices")
    dl, d, du = checked_operands("linalg.tridiagonal_solve", "f", dl, d, du)
    x, ratio = np.copy(b), np.copy(du)
    n = d.shape[0]
    ratio[0] = du[0] / d[0]
    x[0] = b[0] / d[0]
    for k in range(1, n):
        pivot = d[k] - dl[k] * ratio[k - 1]
        ratio[k] = du[k] / pivot
        x[k] = (x[k] - dl[k] * x[k - 1]) / pivot
    for k in range(1, n):
        x[n - 1 - k] = x[n - 1 - k] - ratio[n - 1 - k] * x[n - k]
    return x


@follow_arguments
def householder_product(a: Any, taus: Any) -> Any:
    """The first columns of a product of reflections 1 - tau v v.T.

    a     array of shape (m, n): the vectors in its columns, below a 1 on the diagonal
    taus  array of shape (k,)

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.linalg.householder_product(np.array([[9.0], [1.0]]), np.array([1.0]))[:, 0]
    array([ 0., -1.])
    """
    a = checked_kind("linalg.householder_product", a, "fc")
    return ormqr(a, taus, np.eye(a.shape[0], a.shape[1], dtype=a.dtype))


@follow_arguments
def ormqr(a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False) -> Any:
    """The product of reflections 1 - tau v v.T, times a matrix.

    a          array of shape (m, n): the vectors in its columns, below a 1 on the diagonal
    taus       array of shape (k,)
    c          the matrix
    left       the reflections stand on the left
    transpose  their product is transposed

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.linalg.ormqr(np.array([[9.0], [1.0]]), np.array([1.0]), np.ones((2, 1)))[:, 0]
    array([-1., -1.])
    """
    a, taus, product = checked_kinds("linalg.ormqr", "fc", a, taus, c)
    rows, k = np.arange(a.shape[0]), taus.shape[0]
    for i in range(k):
        j = k - 1 - i if left != transpose else i
        v = np.where(rows == j, 1, np.where(rows > j, a[:, j], 0))
        tau = np.conj(taus[j]) if transpose else taus[j]
        if left:
            product = product - tau * v[:, np.newaxis] * (np.conj(v) @ product)
        else:
            product = product - tau * (product @ v)[:, np.newaxis] * np.conj(v)
    return product


@follow_arguments
def symmetric_product(
    a_matrix: Any,
    c_matrix: Any,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Any:
    """alpha a @ a.T + beta c.

    a_matrix  array of shape (..., n, m)
    c_matrix  array of shape (..., n, n)

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.linalg.symmetric_product(np.ones((2, 3)), np.zeros((2, 2)))
    array([[3., 3.],
           [3., 3.]])
    """
    a = _matrix("symmetric_product", a_matrix)
    return alpha * (a @ np.swapaxes(a, -1, -2)) + beta * c_matrix


@follow_arguments
def schur(
    x: Any,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Any = None,
) -> Any:
    """The t and v of x = v @ t @ v^H: t is upper triangular; of real matrices it has blocks of two
    rows on the diagonal for pairs of complex eigenvalues.

    x                      array of shape (..., n, n)
    compute_schur_vectors  without it the result is (t,)

    Without a derivative, as in JAX; eigenvalues cannot be sorted. Needs SciPy.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> t, v = lax.linalg.schur(np.array([[0.0, 2.0], [-2.0, 0.0]]))
    >>> np.allclose(v @ t @ v.T, [[0.0, 2.0], [-2.0, 0.0]])
    True
    """
    if sort_eig_vals or select_callable is not None:
        raise UnsupportedError(
            "lax.linalg.schur: eigenvalues cannot be sorted", "scipy.linalg.schur sorts outside"
        )
    x = _matrix("schur", x)
    if x.ndim == 2:
        t, v = scipy_linalg("lax.linalg.schur").schur(x)
        return (t, v) if compute_schur_vectors else (t,)
    rows = np.reshape(x, (-1, *x.shape[-2:]))
    ts, vs = np.zeros_like(rows), np.zeros_like(rows)
    for k in range(rows.shape[0]):
        ts[k], vs[k] = scipy_linalg("lax.linalg.schur").schur(rows[k])
    ts, vs = np.reshape(ts, x.shape), np.reshape(vs, x.shape)
    return (ts, vs) if compute_schur_vectors else (ts,)


def _pack_reflections(h: Any, vectors: Any) -> Any:
    """The matrix with the vectors of the reflections below its subdiagonal."""
    n = h.shape[0]
    below = np.zeros_like(h)
    below[:, : vectors.shape[1]] = vectors
    return np.where(np.tri(n, n, -2) > 0, below, h)


def _one_matrix(name: str, a: Any) -> Any:
    a = _matrix(name, a)
    if a.ndim > 2:
        raise UnsupportedError(f"lax.linalg.{name}: several matrices at once", "use vmap")
    return a


@follow_arguments
def hessenberg(a: Any) -> tuple[Any, Any]:
    """The h of a = q @ h @ q^H with zeros below its first subdiagonal, where the vectors of the
    reflections are instead; and the factors tau of these, as LAPACK's gehrd gives them.

    a  array of shape (n, n)

    Differentiable where no column of h has zeros there already.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> h, taus = lax.linalg.hessenberg(np.array([[1.0, 2, 3], [3, 0, 1], [4, 1, 2]]))
    >>> h[:, 0], taus
    (array([ 1. , -5. ,  0.5]), array([1.6, 0. ]))
    """
    h, vectors, taus = reduce_to_hessenberg(_one_matrix("hessenberg", a))
    return _pack_reflections(h, vectors), taus


@follow_arguments
def tridiagonal(a: Any, *, lower: bool = True) -> tuple[Any, Any, Any, Any]:
    """A Hermitian matrix brought to tridiagonal form by reflections: the matrix with their vectors
    below its subdiagonal, its diagonal and subdiagonal, and the factors tau, as LAPACK's sytrd
    gives them.

    a      array of shape (n, n), whose lower triangle is read
    lower  True

    >>> import numpy as np
    >>> from tapeless import lax
    >>> _, d, e, _ = lax.linalg.tridiagonal(np.array([[1.0, 3, 4], [3, 0, 1], [4, 1, 2]]))
    >>> np.round(d, 6), np.round(e, 6)
    (array([ 1.  ,  2.24, -0.24]), array([-5.  , -0.68]))
    """
    if not lower:
        raise UnsupportedError(
            "lax.linalg.tridiagonal: the lower triangle is read", "pass np.conj(a.T)"
        )
    a = _one_matrix("tridiagonal", a)
    h, vectors, taus = reduce_to_hessenberg(np.tril(a) + _adjoint(np.tril(a, -1)))
    packed = np.where(np.tri(*h.shape) > 0, _pack_reflections(h, vectors), a)
    return packed, np.real(np.diagonal(h)), np.real(np.diagonal(h, -1)), taus


__path__: list[str] = []  # so that `from ... import` of a name says why it is missing


def __getattr__(name: str) -> Any:
    """Says why a name of jax.lax.linalg is not here."""
    return refuse_linalg(name)
