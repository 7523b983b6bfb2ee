"""Implements least squares, pseudoinverses and ranks up to a tolerance, and QR with all columns, of
np.linalg.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it


def adjoint(a: Any) -> Any:
    """The conjugate transpose of each matrix."""
    flipped = np.swapaxes(a, -1, -2)
    return np.conj(flipped) if a.dtype.kind == "c" else flipped


def smallest(a: Any) -> Any:
    """How far apart numbers of the dtype are, as many times as the matrix is long."""
    return np.finfo(a.dtype).eps * max(a.shape[-2], a.shape[-1])


def floating(a: Any) -> Any:
    a = np.asarray(a)
    return a if a.dtype.kind in "fc" else a.astype(float)


def without_small(a: Any, rtol: Any) -> Any:
    """The pseudoinverse without singular values up to rtol times the largest; these, and which are
    larger. Derivatives go through a within the spaces that vectors of larger ones span, which are
    smooth where some of these are equal."""
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    large = s > np.asarray(rtol)[..., None] * np.max(s, axis=-1, keepdims=True)
    left, right = adjoint(u), adjoint(vt)
    core = keep_block(left @ a @ right, large)
    kept = np.where(large[..., None], left, 0)
    return np.where(large[..., None, :], right, 0) @ np.linalg.solve(core, kept), s, large


def keep_block(core: Any, kept: Any) -> Any:
    """A square matrix where both rows and columns are kept, and the identity elsewhere."""
    rest = np.eye(core.shape[-1], dtype=core.dtype)
    return np.where(kept[..., None, :] & kept[..., None], core, rest)


def lstsq(a: Any, b: Any, rcond: Any) -> Any:
    """np.linalg.lstsq without the singular values up to rcond times the largest."""
    a, b = floating(a), floating(b)
    fits = (np.asarray(rcond) > 0) & (np.asarray(rcond) < 1)  # LAPACK takes no other
    rcond = np.where(fits, rcond, np.finfo(a.dtype).eps)
    inverse, s, large = without_small(a, rcond)
    x = inverse @ b
    rest = b - a @ x
    squares, rank = np.atleast_1d(np.sum((rest * np.conj(rest)).real, axis=0)), np.sum(large)
    if a.shape[0] <= a.shape[1]:
        squares = squares[:0]
    else:  # none where columns depend on others
        squares = squares[: np.where(rank == a.shape[1], squares.shape[0], 0)]
    return x, squares, rank.astype(np.int32), s


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """np.linalg.norm of vectors, whose order is a number that the program computes."""
    size = np.abs(floating(x))
    if ord == np.inf:
        return np.max(size, axis=axis, keepdims=keepdims, initial=0.0)
    if ord == -np.inf:
        return np.min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((size != 0).astype(size.dtype), axis=axis, keepdims=keepdims)
    powers = np.power(size, ord).astype(size.dtype)
    total = np.sum(powers, axis=axis, keepdims=keepdims)
    if ord < 0:
        return np.power(total, np.divide(1, ord)).astype(size.dtype)
    flat = total == 0
    roots = np.power(np.where(flat, 1, total), np.divide(1, ord)).astype(size.dtype)
    return np.where(flat, total, roots)[()]


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """np.linalg.vector_norm with such an order."""
    length = norm(np.ravel(x) if axis is None else x, ord, axis, keepdims)
    return np.reshape(length, (1,) * np.ndim(x)) if axis is None and keepdims else length


def scipy_norm(
    a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True
) -> Any:
    """scipy.linalg.norm with such an order, and of finite numbers."""
    return norm(a, ord, axis, keepdims)


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """np.linalg.pinv without the singular values up to a tolerance times the largest."""
    a = floating(a)
    rtol = rcond if rtol is None else rtol
    return without_small(a, smallest(a) if rtol is None else rtol)[0]


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:  # noqa: N803 (NumPy's)
    """How many singular values are greater than tol, or than rtol times the largest."""
    a = floating(A)
    if a.ndim < 2:
        return int(np.any(a != 0))
    s = np.linalg.svdvals(a)
    if tol is None:
        rtol = smallest(a) if rtol is None else rtol
        tol = np.asarray(rtol)[..., None] * np.max(s, axis=-1, keepdims=True, initial=0)
    return np.sum(s > tol, axis=-1)


def reflection(x: Any, k: Any) -> Any:
    """The vector and the factor of the reflection that leaves of x what is above row k, and one
    number there, as LAPACK's larfg chooses it."""
    rows = np.arange(x.shape[0])
    first = x[k]
    below = np.where(rows > k, x, 0)
    rest = np.sum((below * np.conj(below)).real)
    idle = (rest == 0) & (np.imag(first) == 0)
    size = np.sqrt(np.where(idle, 1.0, rest + (first * np.conj(first)).real))
    new = np.where(np.real(first) < 0, size, -size)
    factor = np.where(idle, 0, (new - first) / new)
    return np.where(rows == k, 1, below / np.where(idle, 1, first - new)), factor


def complete_qr(a: Any, dtype: Any = None) -> Any:
    """q with all its columns, and r, by Householder's reflections."""
    r = floating(a).copy() if dtype is None else a.astype(dtype)
    q = np.eye(r.shape[0], dtype=r.dtype)
    for k in range(min(r.shape)):
        v, factor = reflection(r[:, k], k)
        turned = np.conj(v)
        r = r - np.conj(factor) * np.outer(v, turned @ r)
        q = q - factor * np.outer(q @ v, turned)
    return q, np.triu(r)
