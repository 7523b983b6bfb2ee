"""Computes the density of the multivariate normal distribution, as jax.scipy.stats does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeless.numpy.array_functions import follow_arguments
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


@follow_arguments
def logpdf(x: Any, mean: Any, cov: Any, allow_singular: Any = None) -> Any:
    """The logarithm of the density at x.

    x     array of shape (..., n), or a number
    mean  of shape (..., n), or a number for all entries
    cov   positive definite array of shape (..., n, n), or the variance of numbers

    Returns an array of the leading shape of all three. Differentiable in all. Raises ValueError for
    other shapes, and for allow_singular=True.

    >>> import numpy as np
    >>> float(logpdf(np.zeros(2), np.zeros(2), np.eye(2)).round(4))
    -1.8379
    """
    if allow_singular:
        raise ArgumentError("multivariate_normal: allow_singular=True is not supported")
    x, mean, cov = np.asarray(x, float), np.asarray(mean, float), np.asarray(cov, float)
    if mean.ndim == 0 and cov.ndim == 0:
        return -np.square(x - mean) / (2 * cov) - np.log(2 * math.pi * cov) / 2
    n = mean.shape[-1] if mean.ndim else x.shape[-1]
    if cov.ndim == 0:
        cov = cov * np.eye(n)
    if cov.ndim < 2 or cov.shape[-1] != n or cov.shape[-2] != n:
        raise ArgumentError(
            f"multivariate_normal: mean has shape {mean.shape} and cov {cov.shape}",
            "cov needs a row and a column for each entry of mean",
        )
    root = np.linalg.cholesky(cov)
    off = np.linalg.solve(root, (x - mean)[..., None])[..., 0]
    size = np.sum(np.log(np.diagonal(root, axis1=-1, axis2=-2)), axis=-1)
    return -np.sum(np.square(off), axis=-1) / 2 - size - n * (math.log(2 * math.pi) / 2)


@follow_arguments
def pdf(x: Any, mean: Any, cov: Any) -> Any:
    """The density at x. Arguments and errors are those of `logpdf`."""
    return np.exp(logpdf(x, mean, cov))
