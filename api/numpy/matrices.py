"""Decomposes and inverts matrices with the keywords of jax.numpy.linalg."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError

__staged__ = True  # plain NumPy code: a staged run enters it


def conjugate_transpose(a: Any) -> Any:
    """The conjugate transpose of each matrix."""
    a = np.asarray(a)
    flipped = np.swapaxes(a, -1, -2)
    return np.conj(flipped) if a.dtype.kind == "c" else flipped


def symmetrise(a: Any, wanted: bool) -> Any:
    return (np.asarray(a) + conjugate_transpose(a)) / 2 if wanted else np.asarray(a)


def cholesky(a: Any, *, upper: bool = False, symmetrize_input: bool = True) -> Any:
    """np.linalg.cholesky, of the symmetric part of `a` if `symmetrize_input`, which makes the
    derivative symmetric too.

    >>> import tapeless.numpy as jnp
    >>> jnp.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float64)
    """
    low = np.linalg.cholesky(symmetrise(a, symmetrize_input))
    return conjugate_transpose(low) if upper else low


def eigh(a: Any, UPLO: Any = None, symmetrize_input: bool = True) -> Any:  # noqa: N803 (JAX's)
    """np.linalg.eigh, of the symmetric part of `a` if `symmetrize_input`."""
    return np.linalg.eigh(symmetrise(a, symmetrize_input), "L" if UPLO is None else UPLO)


def eigvalsh(a: Any, UPLO: Any = "L", *, symmetrize_input: bool = True) -> Any:  # noqa: N803 (JAX's)
    """np.linalg.eigvalsh, of the symmetric part of `a` if `symmetrize_input`."""
    return np.linalg.eigvalsh(symmetrise(a, symmetrize_input), "L" if UPLO is None else UPLO)


def svd(
    a: Any,
    full_matrices: Any = True,
    compute_uv: Any = True,
    hermitian: Any = False,
    subset_by_index: Any = None,
) -> Any:
    """np.linalg.svd."""
    if subset_by_index is not None:
        raise UnsupportedError("jnp.linalg.svd with subset_by_index=", "slice what it gives")
    return np.linalg.svd(a, full_matrices, compute_uv, hermitian)


def slogdet(a: Any, *, method: str | None = None) -> Any:
    """np.linalg.slogdet; `method` is a hint."""
    return np.linalg.slogdet(a)


def pinv(a: Any, rtol: Any = None, hermitian: bool = False, *, rcond: Any = None) -> Any:
    """np.linalg.pinv; singular values up to `rtol` times the largest count as zero."""
    rtol = rcond if rtol is None else rtol
    return np.linalg.pinv(a) if rtol is None else np.linalg.pinv(a, rtol)


def matrix_rank(M: Any, rtol: Any = None, *, hermitian: bool = False, tol: Any = None) -> Any:  # noqa: N803 (JAX's)
    """np.linalg.matrix_rank; singular values up to `rtol` times the largest count as zero."""
    if rtol is None and tol is None:
        return np.linalg.matrix_rank(M)
    return np.linalg.matrix_rank(M, tol) if rtol is None else np.linalg.matrix_rank(M, rtol=rtol)


def lstsq(a: Any, b: Any, rcond: Any = None, *, numpy_resid: bool = False) -> Any:
    """np.linalg.lstsq; residuals are given whatever the rank, unless `numpy_resid`.

    >>> import tapeless.numpy as jnp
    >>> x, residuals, rank, s = jnp.linalg.lstsq(jnp.eye(2), jnp.array([1.0, 2.0]))
    >>> x, residuals
    (Array([1., 2.], dtype=float64), Array([0.], dtype=float64))
    """
    x, residuals, rank, s = np.linalg.lstsq(a, b, rcond)
    if not numpy_resid:
        difference = np.asarray(b) - np.asarray(a) @ x
        residuals = np.atleast_1d(np.sum(difference * np.conj(difference), axis=0).real)
    return x, residuals, rank, s
