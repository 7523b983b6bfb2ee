"""Implements scipy.stats.multivariate_normal as SciPy has it: numbers and vectors as parameters,
and also covariances without an inverse.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it

SMALL = 1e6 * np.finfo(float).eps  # of the greatest eigenvalue: less is taken for 0


def parameters(mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> tuple[Any, Any]:
    """The mean as a vector and the covariance as a matrix."""
    cov = np.asarray(cov, float)
    mean = np.zeros(len(cov) if cov.ndim else 1) if mean is None else np.asarray(mean, float)
    mean = mean.reshape(1) if mean.ndim == 0 else mean
    n = mean.shape[0]
    if cov.ndim == 2:
        if cov.shape != (n, n):
            raise ValueError(f"cov has shape {cov.shape}, and mean has {n} entries")
        return mean, cov
    return mean, cov * np.eye(n)


def logpdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    """The logarithm of the density at the rows of x."""
    mean, cov = parameters(mean, cov)
    n, x = mean.shape[0], np.asarray(x, float)
    if x.ndim < 2:
        x = x.reshape(-1, 1) if n == 1 else x.reshape(1, -1)
    off = x - mean
    if not allow_singular:
        root = np.linalg.cholesky(cov)
        far = np.sum(np.linalg.solve(root, _columns(off)) ** 2, axis=0).reshape(off.shape[:-1])
        log_density = -far / 2 - np.sum(np.log(np.diagonal(root))) - n * math.log(2 * math.pi) / 2
    else:
        log_density = _singular(off, cov)
    log_density = np.squeeze(log_density)
    return log_density if log_density.ndim else log_density[()]


def _columns(off: Any) -> Any:
    return off.reshape(-1, off.shape[-1]).T


def _singular(off: Any, cov: Any) -> Any:
    """On the space that eigenvectors of nonzero eigenvalues span; 0 is the density elsewhere."""
    n, cov = cov.shape[0], np.tril(cov) + np.tril(cov, -1).T
    lengths = np.linalg.eigvalsh(cov)
    if lengths[0] > SMALL * lengths[-1]:
        far = np.sum(_columns(off) * np.linalg.solve(cov, _columns(off)), axis=0)
        return -(far.reshape(off.shape[:-1]) + np.linalg.slogdet(cov)[1]) / 2 - (
            n * math.log(2 * math.pi) / 2
        )
    lengths, vectors = np.linalg.eigh(cov)
    small = SMALL * np.max(np.abs(lengths))
    there = lengths > small
    parts = off @ vectors
    on = np.where(there, vectors, 0.0)
    core = on.T @ cov @ on + np.diag(np.where(there, 0.0, 1.0))  # smooth where lengths are equal
    inner = _columns(np.where(there, parts, 0.0))
    far = np.sum(inner * np.linalg.solve(core, inner), axis=0).reshape(parts.shape[:-1])
    volume = np.linalg.slogdet(core)[1]
    log_density = -(far + volume + np.count_nonzero(there) * math.log(2 * math.pi)) / 2
    beside = np.linalg.norm(np.where(there, 0.0, parts), axis=-1) >= 1e3 * small
    return np.where(beside, -np.inf, log_density)


def pdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    """The density at the rows of x."""
    return np.exp(logpdf(x, mean, cov, allow_singular))


class Normal:
    """The methods of scipy.stats.multivariate_normal."""

    pdf = staticmethod(pdf)
    logpdf = staticmethod(logpdf)


normal = Normal()
METHODS = {"pdf": pdf, "logpdf": logpdf}
