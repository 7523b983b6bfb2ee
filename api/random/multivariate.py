"""Draws random vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.random.argument_checks import (
    checked_choice,
    checked_fit,
    checked_float,
    checked_key,
    checked_matrix,
    checked_shape,
)
from tapeless.random.continuous import standard_normal

__staged__ = True  # plain NumPy code: a staged run enters it


def multivariate_normal(
    key: Any,
    mean: Any,
    cov: Any,
    shape: Any = None,
    dtype: Any = None,
    method: str = "cholesky",
) -> Any:
    """Normal vectors of a mean and a covariance.

    mean    array of shape (..., n)
    cov     positive definite array of shape (..., n, n)
    shape   of the result without its last axis, to which the leading axes broadcast; theirs by
            default
    dtype   a float dtype, that of mean and cov by default
    method  how cov is factored: 'cholesky', 'svd' or 'eigh'; the last two also if it is singular

    Returns an array of shape (*shape, n). Differentiable in mean and cov.

    >>> from tapeless import random
    >>> cov = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> random.multivariate_normal(random.key(0), np.zeros(2), cov).round(4)
    Array([-0.2911, -1.1067], dtype=float64)
    """
    name = "multivariate_normal"
    checked_choice(name, "method", method, ("cholesky", "svd", "eigh"))
    mean, cov = checked_matrix(name, "mean", mean, 1), checked_matrix(name, "cov", cov, 2)
    if dtype is None:
        dtype = np.result_type(mean.dtype, cov.dtype, np.float16)
    dtype = checked_float(name, dtype)
    length = np.shape(mean)[-1]
    checked_fit(name, (length, length), np.shape(cov)[-2:])
    shape = checked_fit(name, shape, np.shape(mean)[:-1], np.shape(cov)[:-2])
    key = checked_key(name, key)
    z = standard_normal(key, (*shape, length), dtype)
    return mean + np.squeeze(_factor(cov, method) @ np.expand_dims(z, -1), -1)


def _factor(cov: Any, method: str) -> Any:
    if method == "svd":
        u, s, _ = np.linalg.svd(cov)
        return u * np.expand_dims(np.sqrt(s), -2)
    if method == "eigh":
        values, vectors = np.linalg.eigh(cov)
        return vectors * np.expand_dims(np.sqrt(values), -2)
    return np.linalg.cholesky((cov + np.swapaxes(cov, -1, -2)) / 2)


def orthogonal(key: Any, n: Any, shape: Any = (), dtype: Any = None, m: Any = None) -> Any:
    """Uniformly distributed orthogonal matrices, or parts of them.

    n, m   rows and columns; m is n by default. The shorter ones are orthonormal.
    shape  of the result without its last two axes
    dtype  a float dtype, float64 by default; complex ones give unitary matrices

    Returns an array of shape (*shape, n, m). F. Mezzadri, "How to generate random matrices from the
    classical compact groups", Notices of the AMS 54 (2007).

    >>> from tapeless import random
    >>> random.orthogonal(random.key(0), 2).round(4)
    Array([[-0.1126, -0.9936],
           [ 0.9936, -0.1126]], dtype=float64)
    """
    dtype, shape = checked_float("orthogonal", dtype, "fc"), checked_shape("orthogonal", shape)
    n, m = checked_shape("orthogonal", (n, n if m is None else m))
    key = checked_key("orthogonal", key)
    q, r = np.linalg.qr(standard_normal(key, (*shape, max(n, m), min(n, m)), dtype))
    signed = q * np.expand_dims(np.sign(np.diagonal(r, axis1=-2, axis2=-1)), -2)
    return np.swapaxes(signed, -1, -2) if n < m else signed
