"""Defines distributions of integers, by the logarithm of their probabilities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import betaln, gammaincc, gammaln, xlog1py, xlogy

from tapeless.scipy.stats.distribution_base import Discrete

__staged__ = True  # plain NumPy code: a staged run enters it

MANY = 300  # terms of a sum that is exact up to a mean of 100


def _log_choices(n: Any, k: Any) -> Any:
    """The logarithm of the number of ways in which k of n are chosen."""
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def _poisson_log_mass(k: Any, mu: Any) -> Any:
    return xlogy(k, mu) - gammaln(k + 1) - mu


def _poisson_entropy(mu: Any) -> Any:
    """By its sum, and from 100 on by its expansion (R. J. Evans, J. Boersma, SIAM Review 30)."""
    mu = np.asarray(mu, float)
    few = np.where(mu < 100, mu, 1.0)
    terms = _poisson_log_mass(np.arange(MANY), few[..., None])
    total = -np.sum(np.exp(terms) * terms, axis=-1)
    many = np.where(mu < 100, 100.0, mu)
    series = -1 / (12 * many) - 1 / (24 * many**2) - 19 / (360 * many**3) - 9 / (80 * many**4)
    return np.where(mu < 100, total, (np.log(2 * math.pi * many) + 1) / 2 + series)


bernoulli = Discrete(
    "bernoulli",
    ("p",),
    lambda p: (0, 1),
    0.0,
    log_mass=lambda k, p: xlogy(k, p) + xlog1py(1 - k, -p),
    below=lambda k, p: np.where(k < 1, 1 - p, 1.0),
    quantile=lambda q, p: np.where(q <= 1 - p, 0.0, 1.0),
)
binom = Discrete(
    "binom",
    ("n", "p"),
    lambda n, p: (0, n),
    0.0,
    log_mass=lambda k, n, p: _log_choices(n, k) + xlogy(k, p) + xlog1py(n - k, -p),
)
betabinom = Discrete(
    "betabinom",
    ("n", "a", "b"),
    lambda n, a, b: (0, n),
    0.0,
    log_mass=lambda k, n, a, b: _log_choices(n, k) + betaln(k + a, n - k + b) - betaln(a, b),
)
geom = Discrete(
    "geom",
    ("p",),
    lambda p: (1, np.inf),
    1.0,
    log_mass=lambda k, p: xlog1py(k - 1, -p) + np.log(p),
)
nbinom = Discrete(
    "nbinom",
    ("n", "p"),
    lambda n, p: (0, np.inf),
    0.0,
    log_mass=lambda k, n, p: (
        gammaln(k + n) - gammaln(1.0 * n) - gammaln(k + 1) + n * np.log(p) + xlog1py(k, -p)
    ),
)
poisson = Discrete(
    "poisson",
    ("mu",),
    lambda mu: (0, np.inf),
    0.0,
    log_mass=_poisson_log_mass,
    below=lambda k, mu: gammaincc(k + 1, mu),
    uncertainty=_poisson_entropy,
)
