"""Computes the density of the Dirichlet distribution, which generalises the beta distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from tapeless.numpy.array_functions import follow_arguments
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


@follow_arguments
def logpdf(x: Any, alpha: Any) -> Any:
    """The logarithm of the density at x; -inf where x is negative or does not add up to 1.

    x      array of shape (n, ...) of proportions, or (n - 1, ...) without the last ones
    alpha  positive array of shape (n,)

    Returns an array of the trailing shape of x. Differentiable in both. Raises ValueError for
    other shapes.

    >>> import numpy as np
    >>> float(logpdf(np.array([0.2, 0.8]), np.array([1.0, 1.0])))
    0.0
    """
    x, alpha = np.asarray(x, float), np.asarray(alpha, float)
    if alpha.ndim != 1 or x.ndim < 1 or x.shape[0] not in (len(alpha), len(alpha) - 1):
        raise ArgumentError(
            f"dirichlet: x has shape {x.shape} and alpha {alpha.shape}",
            "give a proportion for each entry of alpha, or for all but the last",
        )
    if x.shape[0] != len(alpha):
        x = np.concatenate((x, 1 - np.sum(x, axis=0, keepdims=True)))
    fits = np.all(x >= 0, axis=0) & (np.abs(np.sum(x, axis=0) - 1) < 1e-6)
    shape = (len(alpha),) + (1,) * (x.ndim - 1)
    terms = xlogy(np.reshape(alpha, shape) - 1, np.where(fits, x, 1.0))
    constant = gammaln(np.sum(alpha)) - np.sum(gammaln(alpha))
    return np.where(fits, constant + np.sum(terms, axis=0), -np.inf)


@follow_arguments
def pdf(x: Any, alpha: Any) -> Any:
    """The density at x. Arguments and errors are those of `logpdf`."""
    return np.exp(logpdf(x, alpha))
