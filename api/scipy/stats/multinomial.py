"""Computes the probability of counts under the multinomial distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from tapeless.numpy.array_functions import follow_arguments

__staged__ = True  # plain NumPy code: a staged run enters it


@follow_arguments
def logpmf(x: Any, n: Any, p: Any) -> Any:
    """The logarithm of the probability of the counts x; -inf where they do not add up to n.

    x  integers of shape (..., k)
    n  how many there are in all
    p  probabilities of shape (..., k)

    Returns an array of the leading shape. Differentiable in p.

    >>> import numpy as np
    >>> float(np.exp(logpmf(np.array([1, 1]), 2, np.array([0.5, 0.5]))).round(12))
    0.5
    """
    x = np.asarray(x)
    fits = (np.sum(x, axis=-1) == n) & np.all(x >= 0, axis=-1)
    counts = np.where(fits[..., None], 1.0 * x, 0.0)
    total = gammaln(n + 1.0) + np.sum(xlogy(counts, p) - gammaln(counts + 1), axis=-1)
    return np.where(fits, total, -np.inf)


@follow_arguments
def pmf(x: Any, n: Any, p: Any) -> Any:
    """The probability of the counts x. Arguments are those of `logpmf`."""
    return np.exp(logpmf(x, n, p))
