"""Draws from distributions of counts: Poisson, binomial, multinomial, geometric."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.random import checked_bits
from tapeless.random.argument_checks import (
    as_array,
    checked_fit,
    checked_float,
    checked_integer,
    checked_key,
    checked_matrix,
    checked_probability,
)
from tapeless.random.binomials import binomial_counts
from tapeless.random.poissons import poisson_counts

__staged__ = True  # plain NumPy code: a staged run enters it


def poisson(key: Any, lam: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Poisson counts.

    lam    the mean: non-negative float or array; float32 is computed with, as in JAX
    shape  of the result, to which lam broadcasts; that of lam by default
    dtype  an integer dtype, int64 by default

    By Knuth's product of uniform numbers for means below 10, by transformed rejection for others
    (W. Hoermann, "The transformed rejection method for generating Poisson random variables", 1993).

    >>> from tapeless import random
    >>> random.poisson(random.key(0), 4.0, (5,))
    Array([0, 1, 5, 5, 2], dtype=int64)
    """
    dtype = checked_integer("poisson", dtype)
    shape = checked_fit("poisson", shape, np.shape(lam))
    key = checked_key("poisson", key)
    lam = np.broadcast_to(as_array(lam, np.float32), shape)
    return poisson_counts(key, lam, shape).astype(dtype)


def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Binomial counts, as floats.

    n      how many trials: integer, float or array
    p      the probability of success: float or array
    shape  of the result, to which both broadcast; theirs by default
    dtype  a float dtype, float64 by default; p is computed with as it is given

    nan where n or p is nan or negative. By inversion where n min(p, 1 - p) is at most 10, by
    transformed rejection elsewhere (W. Hoermann, "The generation of binomial random variates",
    Journal of Statistical Computation and Simulation 46, 1993).

    >>> from tapeless import random
    >>> random.binomial(random.key(0), 10, 0.5, (5,))
    Array([4., 7., 6., 6., 5.], dtype=float64)
    """
    dtype = checked_float("binomial", dtype)
    shape = checked_fit("binomial", shape, np.shape(n), np.shape(p))
    key = checked_key("binomial", key)
    p = _floats(p)
    return binomial_counts(key, as_array(n, p.dtype), p, shape).astype(dtype)


def _floats(x: Any) -> Any:
    x = as_array(x)
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def multinomial(key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = None) -> Any:
    """Counts of outcomes in n trials, as floats.

    n      how many trials: integer, float or array
    p      the probabilities, along the last axis: array
    shape  of the result, to which p broadcasts; that of p by default
    dtype  a float dtype, float64 by default

    >>> from tapeless import random
    >>> random.multinomial(random.key(0), 10, np.array([0.2, 0.3, 0.5]))
    Array([1., 4., 5.], dtype=float64)
    """
    dtype = checked_float("multinomial", dtype)
    p = _floats(checked_matrix("multinomial", "p", p, 1))
    shape = checked_fit("multinomial", shape, np.shape(p))
    key = checked_key("multinomial", key)
    n = np.broadcast_to(as_array(n, p.dtype), shape[:-1])
    p = np.broadcast_to(p, shape)
    remaining = np.flip(np.cumsum(np.flip(p, -1), axis=-1), -1)
    ratios = np.clip(p / np.where(remaining == 0, p.dtype.type(1), remaining), 0, 1)
    keys = checked_bits.split(key, (shape[-1],))
    counts = np.zeros(shape, p.dtype)
    for k in range(shape[-1]):
        count = binomial_counts(keys[k], n, ratios[..., k], shape[:-1])
        counts[..., k] = count
        n = n - count
    return counts.astype(dtype)


def geometric(key: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The number of trials up to the first success.

    p      the probability of success: float or array
    shape  of the result, to which p broadcasts; that of p by default
    dtype  an integer dtype, int64 by default

    >>> from tapeless import random
    >>> random.geometric(random.key(0), 0.3, (5,))
    Array([3, 5, 1, 2, 2], dtype=int64)
    """
    dtype = checked_integer("geometric", dtype)
    shape = checked_fit("geometric", shape, np.shape(p))
    checked_probability("geometric", p)
    key, p = checked_key("geometric", key), as_array(p)
    u = checked_bits.unit(key, shape, p.dtype)
    logarithm = np.log(np.where(u == 0, p.dtype.type(1), u))
    return (np.floor(logarithm / np.log1p(-p)) + 1).astype(dtype)
