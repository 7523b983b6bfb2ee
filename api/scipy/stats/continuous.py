"""Defines distributions with a density, each by formulas in its standard form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import (
    betainc,
    betaincinv,
    betaln,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
    i0e,
    log_ndtr,
    ndtr,
    ndtri,
    stdtr,
    stdtrit,
    xlog1py,
    xlogy,
)

from tapeless.nn.activations import log1mexp, log_sigmoid, sigmoid
from tapeless.scipy.stats.distribution_base import Continuous

__staged__ = True  # plain NumPy code: a staged run enters it

ROOT_2PI_LOG = math.log(2 * math.pi) / 2


def positive(*shapes: Any) -> tuple[float, float]:
    return 0.0, np.inf


def unit(*shapes: Any) -> tuple[float, float]:
    return 0.0, 1.0


norm = Continuous(
    "norm",
    (),
    None,
    0.0,
    log_density=lambda z: -np.square(z) / 2 - ROOT_2PI_LOG,
    below=ndtr,
    above=lambda z: ndtr(-z),
    log_below=log_ndtr,
    log_above=lambda z: log_ndtr(-z),
    quantile=ndtri,
    upper_quantile=lambda q: -ndtri(q),
    total=True,
)
uniform = Continuous(
    "uniform",
    (),
    unit,
    0.5,
    log_density=lambda z: z * 0.0,
    below=lambda z: z,
    above=lambda z: 1 - z,
    quantile=lambda q: q,
)
expon = Continuous(
    "expon",
    (),
    positive,
    1.0,
    log_density=lambda z: -z,
    below=lambda z: -np.expm1(-z),
    above=lambda z: np.exp(-z),
    log_above=lambda z: -z,
    quantile=lambda q: -np.log1p(-q),
    upper_quantile=lambda q: -np.log(q),
)
gamma = Continuous(
    "gamma",
    ("a",),
    positive,
    1.0,
    log_density=lambda z, a: xlogy(a - 1, z) - z - gammaln(a),
    below=lambda z, a: gammainc(a, z),
    above=lambda z, a: gammaincc(a, z),
    quantile=lambda q, a: gammaincinv(a, q),
    upper_quantile=lambda q, a: gammainccinv(a, q),
)
chi2 = Continuous(
    "chi2",
    ("df",),
    positive,
    1.0,
    log_density=lambda z, df: (
        xlogy(df / 2 - 1, z) - z / 2 - df * (math.log(2) / 2) - gammaln(df / 2)
    ),
    below=lambda z, df: gammainc(df / 2, z / 2),
    above=lambda z, df: gammaincc(df / 2, z / 2),
    quantile=lambda q, df: 2 * gammaincinv(df / 2, q),
    upper_quantile=lambda q, df: 2 * gammainccinv(df / 2, q),
)
beta = Continuous(
    "beta",
    ("a", "b"),
    unit,
    0.5,
    log_density=lambda z, a, b: xlogy(a - 1, z) + xlog1py(b - 1, -z) - betaln(a, b),
    below=lambda z, a, b: betainc(a, b, z),
    above=lambda z, a, b: betainc(b, a, 1 - z),
    quantile=lambda q, a, b: betaincinv(a, b, q),
    upper_quantile=lambda q, a, b: 1 - betaincinv(b, a, q),
)
cauchy = Continuous(
    "cauchy",
    (),
    None,
    0.0,
    log_density=lambda z: -math.log(math.pi) - np.log1p(np.square(z)),
    below=lambda z: np.arctan2(1.0, -z) / math.pi,
    above=lambda z: np.arctan2(1.0, z) / math.pi,
    quantile=lambda q: -1 / np.tan(math.pi * q),
    upper_quantile=lambda q: 1 / np.tan(math.pi * q),
)
t = Continuous(
    "t",
    ("df",),
    None,
    0.0,
    log_density=lambda z, df: (
        gammaln((df + 1) / 2)
        - gammaln(df / 2)
        - np.log(df * math.pi) / 2
        - (df + 1) / 2 * np.log1p(np.square(z) / df)
    ),
    below=lambda z, df: stdtr(df, z),
    above=lambda z, df: stdtr(df, -z),
    quantile=lambda q, df: stdtrit(df, q),
    upper_quantile=lambda q, df: -stdtrit(df, q),
)
laplace = Continuous(
    "laplace",
    (),
    None,
    0.0,
    log_density=lambda z: -np.abs(z) - math.log(2),
    below=lambda z: np.where(z < 0, np.exp(-np.abs(z)) / 2, 1 - np.exp(-np.abs(z)) / 2),
    above=lambda z: np.where(z > 0, np.exp(-np.abs(z)) / 2, 1 - np.exp(-np.abs(z)) / 2),
    quantile=lambda q: np.where(q > 0.5, -np.log(2 * (1 - q)), np.log(2 * q)),
    upper_quantile=lambda q: np.where(q > 0.5, np.log(2 * (1 - q)), -np.log(2 * q)),
)
logistic = Continuous(
    "logistic",
    (),
    None,
    0.0,
    log_density=lambda z: z + 2 * log_sigmoid(-z),
    below=sigmoid,
    above=lambda z: sigmoid(-z),
    log_below=log_sigmoid,
    log_above=lambda z: log_sigmoid(-z),
    quantile=lambda q: np.log(q) - np.log1p(-q),
    upper_quantile=lambda q: np.log1p(-q) - np.log(q),
    total=True,
)
gumbel_r = Continuous(
    "gumbel_r",
    (),
    None,
    0.0,
    log_density=lambda z: -z - np.exp(-z),
    below=lambda z: np.exp(-np.exp(-z)),
    above=lambda z: -np.expm1(-np.exp(-z)),
    log_below=lambda z: -np.exp(-z),
    log_above=lambda z: log1mexp(np.exp(-z)),
    quantile=lambda q: -np.log(-np.log(q)),
    total=True,
)
gumbel_l = Continuous(
    "gumbel_l",
    (),
    None,
    0.0,
    log_density=lambda z: z - np.exp(z),
    below=lambda z: -np.expm1(-np.exp(z)),
    above=lambda z: np.exp(-np.exp(z)),
    log_below=lambda z: log1mexp(np.exp(z)),
    log_above=lambda z: -np.exp(z),
    quantile=lambda q: np.log(-np.log1p(-q)),
    total=True,
)
pareto = Continuous(
    "pareto",
    ("b",),
    lambda b: (1.0, np.inf),
    1.0,
    log_density=lambda z, b: np.log(b) - (b + 1) * np.log(z),
    below=lambda z, b: -np.expm1(-b * np.log(z)),
    above=lambda z, b: np.exp(-b * np.log(z)),
    log_above=lambda z, b: -b * np.log(z),
    quantile=lambda q, b: np.exp(-np.log1p(-q) / b),
)
gennorm = Continuous(
    "gennorm",
    ("beta",),
    None,
    0.0,
    log_density=lambda z, beta: np.log(beta / 2) - gammaln(1 / beta) - np.abs(z) ** beta,
    below=lambda z, beta: 0.5 + np.sign(z) * gammainc(1 / beta, np.abs(z) ** beta) / 2,
)
vonmises = Continuous(
    "vonmises",
    ("kappa",),
    None,
    0.0,
    log_density=lambda z, kappa: (
        kappa * (np.cos(z) - 1) - math.log(2 * math.pi) - np.log(i0e(kappa))
    ),
)
wrapcauchy = Continuous(
    "wrapcauchy",
    ("c",),
    lambda c: (0.0, 2 * math.pi),
    1.0,
    log_density=lambda z, c: (
        np.log1p(-np.square(c)) - np.log(2 * math.pi * (1 + np.square(c) - 2 * c * np.cos(z)))
    ),
)


def _log_mass(a: Any, b: Any) -> Any:
    """The logarithm of the probability that a standard normal number is between a and b, with all
    digits in both tails: the interval is turned to the left one."""
    right = a > 0
    low, high = np.where(right, -b, a), np.where(right, -a, b)
    left = high <= 0
    top, bottom = log_ndtr(np.where(left, high, -1.0)), log_ndtr(np.where(left, low, -2.0))
    apart = np.where(top > bottom, top - bottom, 1.0)
    tail = np.where(top > bottom, top + log1mexp(apart), -np.inf)
    outside = np.where(left, 0.0, ndtr(low) + ndtr(-high))
    return np.where(left, tail, np.log1p(-outside))


truncnorm = Continuous(
    "truncnorm",
    ("a", "b"),
    lambda a, b: (a, b),
    0.0,
    log_density=lambda z, a, b: -np.square(z) / 2 - ROOT_2PI_LOG - _log_mass(a, b),
    below=lambda z, a, b: np.exp(_log_mass(a, z) - _log_mass(a, b)),
    above=lambda z, a, b: np.exp(_log_mass(z, b) - _log_mass(a, b)),
    log_below=lambda z, a, b: _log_mass(a, z) - _log_mass(a, b),
    log_above=lambda z, a, b: _log_mass(z, b) - _log_mass(a, b),
)
