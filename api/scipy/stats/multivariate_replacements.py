"""Implements methods of SciPy's distributions of vectors and matrices, as functions of x and
parameters.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from scipy.special import gammaln, ive, multigammaln, psi, xlogy

from tapeless.scipy.stats import dirichlet, multinomial
from tapeless.scipy.stats import multivariate_normal_scipy as normal

__staged__ = True  # plain NumPy code: a staged run enters it

LOG_2, LOG_PI, LOG_2PI = math.log(2), math.log(math.pi), math.log(2 * math.pi)


def _number(value: Any) -> Any:
    """Without axes of length 1; a number if there is no other axis."""
    value = np.squeeze(value)
    return value if value.ndim else value[()]


def _of_log(log_density: Any) -> Any:
    """The density, by its logarithm."""

    def density(*args: Any, **kwargs: Any) -> Any:
        return np.exp(log_density(*args, **kwargs))

    density.__name__ = log_density.__name__.removeprefix("log")
    return density


# -- normal and t distribution of vectors, normal distribution of matrices


def normal_entropy(mean: Any = None, cov: Any = 1) -> Any:
    mean, cov = normal.parameters(mean, cov)
    return (mean.shape[0] * (LOG_2PI + 1) + np.linalg.slogdet(cov)[1]) / 2


def t_logpdf(x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
    """The logarithm of the density at the rows of x; that of a normal one for infinite df."""
    loc, shape = normal.parameters(loc, shape)
    n, x = loc.shape[0], np.asarray(x, float)
    if x.ndim < 2:
        x = x.reshape(-1, 1) if n == 1 else x.reshape(1, -1)
    off = x - loc
    flat = off.reshape(-1, n).T
    far = np.sum(flat * np.linalg.solve(shape, flat), axis=0).reshape(off.shape[:-1])
    volume = np.linalg.slogdet(shape)[1]
    ends = gammaln((df + n) / 2) - gammaln(df / 2) - n / 2 * (np.log(df) + LOG_PI) - volume / 2
    return _number(ends - (df + n) / 2 * np.log1p(far / df))


def t_entropy(loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
    loc, shape = normal.parameters(loc, shape)
    n = loc.shape[0]
    half = (n + df) / 2
    ends = -gammaln(half) + gammaln(df / 2) + n / 2 * (np.log(df) + LOG_PI)
    return ends + half * (psi(half) - psi(df / 2)) + np.linalg.slogdet(shape)[1] / 2


def _square(cov: Any, n: int) -> Any:
    """A covariance as a matrix, where a number or the diagonal is given."""
    cov = np.asarray(cov, float)
    return cov if cov.ndim == 2 else cov * np.eye(n)


def matrix_logpdf(X: Any, mean: Any = None, rowcov: Any = 1, colcov: Any = 1) -> Any:  # noqa: N803 (scipy's)
    x = np.asarray(X, float)
    n, m = x.shape[-2:]
    rows, columns = _square(rowcov, n), _square(colcov, m)
    off = x if mean is None else x - mean
    inner = np.swapaxes(np.linalg.solve(rows, off) @ np.linalg.inv(columns), -1, -2)
    far = np.trace(inner @ off, axis1=-2, axis2=-1)
    volume = m * np.linalg.slogdet(rows)[1] + n * np.linalg.slogdet(columns)[1]
    return _number(-(n * m * LOG_2PI + volume + far) / 2)


# -- proportions and counts


def dirichlet_mean(alpha: Any) -> Any:
    alpha = np.asarray(alpha, float)
    return _number(alpha / np.sum(alpha))


def dirichlet_var(alpha: Any) -> Any:
    share, total = np.asarray(alpha, float) / np.sum(alpha), np.sum(alpha)
    return _number(share * (1 - share) / (total + 1))


def dirichlet_cov(alpha: Any) -> Any:
    share, total = np.asarray(alpha, float) / np.sum(alpha), np.sum(alpha)
    return (np.diag(share) - np.outer(share, share)) / (total + 1)


def dirichlet_entropy(alpha: Any) -> Any:
    alpha = np.asarray(alpha, float)
    total, n = np.sum(alpha), alpha.shape[0]
    ends = np.sum(gammaln(alpha)) - gammaln(total) + (total - n) * psi(total)
    return ends - np.sum((alpha - 1) * psi(alpha))


def multinomial_mean(n: Any, p: Any) -> Any:
    return n * np.asarray(p, float)


def multinomial_cov(n: Any, p: Any) -> Any:
    p = np.asarray(p, float)
    return n * (np.diag(p) - np.outer(p, p))


def mixed_logpmf(x: Any, alpha: Any, n: Any) -> Any:
    """Of counts with proportions that have a Dirichlet distribution."""
    x, alpha = np.asarray(x), np.asarray(alpha, float)
    total = np.sum(alpha, axis=-1)
    fits = np.sum(x, axis=-1) == n
    ends = gammaln(total) + gammaln(n + 1.0) - gammaln(n + total)
    terms = gammaln(x + alpha) - gammaln(alpha) - gammaln(x + 1.0)
    return _number(np.where(fits, ends + np.sum(terms, axis=-1), -np.inf))


def mixed_mean(alpha: Any, n: Any) -> Any:
    return n * np.asarray(alpha, float) / np.sum(alpha)


def mixed_cov(alpha: Any, n: Any) -> Any:
    total = np.sum(alpha)
    share = np.asarray(alpha, float) / total
    return n * (np.diag(share) - np.outer(share, share)) * (n + total) / (1 + total)


def mixed_var(alpha: Any, n: Any) -> Any:
    total = np.sum(alpha)
    share = np.asarray(alpha, float) / total
    return n * share * (1 - share) * (n + total) / (1 + total)


# -- covariances


def _matrix(scale: Any) -> Any:
    scale = np.asarray(scale, float)
    if scale.ndim == 2:
        return scale
    return np.diag(scale) if scale.ndim == 1 else scale.reshape(1, 1)


def _points(x: Any, n: int) -> Any:
    """Matrices along the first axis, of an array with them along the last one."""
    x = np.asarray(x, float)
    if x.ndim < 2:
        x = x * np.eye(n)[..., None] if x.ndim else x.reshape(1, 1)
    return np.moveaxis(x, -1, 0) if x.ndim == 3 else x[None]


def wishart_logpdf(x: Any, df: Any, scale: Any) -> Any:
    scale = _matrix(scale)
    n = scale.shape[0]
    points = _points(x, n)
    volume = np.linalg.slogdet(points)[1]
    far = np.trace(np.linalg.solve(scale, points), axis1=-2, axis2=-1)
    ends = n * df / 2 * LOG_2 + df / 2 * np.linalg.slogdet(scale)[1] + multigammaln(df / 2, n)
    return _number((df - n - 1) / 2 * volume - far / 2 - ends)


def wishart_mean(df: Any, scale: Any) -> Any:
    return _number(df * _matrix(scale))


def wishart_mode(df: Any, scale: Any) -> Any:
    scale = _matrix(scale)
    return _number((df - scale.shape[0] - 1) * scale)


def wishart_var(df: Any, scale: Any) -> Any:
    scale = _matrix(scale)
    diagonal = np.diagonal(scale)
    return _number(df * (scale**2 + np.outer(diagonal, diagonal)))


def wishart_entropy(df: Any, scale: Any) -> Any:
    scale = _matrix(scale)
    n = scale.shape[0]
    slopes = np.sum(psi((df - np.arange(n)) / 2))
    ends = (n + 1) / 2 * np.linalg.slogdet(scale)[1] + n * (n + 1) / 2 * LOG_2
    return ends + multigammaln(df / 2, n) - (df - n - 1) / 2 * slopes + df * n / 2


def inverse_logpdf(x: Any, df: Any, scale: Any) -> Any:
    scale = _matrix(scale)
    n = scale.shape[0]
    points = _points(x, n)
    volume = np.linalg.slogdet(points)[1]
    far = np.trace(np.linalg.solve(points, scale + 0 * points), axis1=-2, axis2=-1)
    ends = n * df / 2 * LOG_2 - df / 2 * np.linalg.slogdet(scale)[1] + multigammaln(df / 2, n)
    return _number(-(df + n + 1) / 2 * volume - far / 2 - ends)


def inverse_mean(df: Any, scale: Any) -> Any:
    scale = _matrix(scale)
    return _number(scale / (df - scale.shape[0] - 1))


def inverse_mode(df: Any, scale: Any) -> Any:
    scale = _matrix(scale)
    return _number(scale / (df + scale.shape[0] + 1))


def inverse_var(df: Any, scale: Any) -> Any:
    scale = _matrix(scale)
    n, diagonal = scale.shape[0], np.diagonal(scale)
    top = (df - n + 1) * scale**2 + (df - n - 1) * np.outer(diagonal, diagonal)
    return _number(top / ((df - n) * (df - n - 1) ** 2 * (df - n - 3)))


# -- directions, and a normal number with its variance


def direction_logpdf(x: Any, mu: Any = None, kappa: Any = 1) -> Any:
    x, mu = np.asarray(x, float), np.asarray(mu, float)
    half = mu.shape[0] / 2
    ends = (half - 1) * np.log(kappa) - half * LOG_2PI - np.log(ive(half - 1, kappa)) - kappa
    return _number(ends + kappa * (x @ mu))


def direction_entropy(mu: Any = None, kappa: Any = 1) -> Any:
    half = np.asarray(mu).shape[0] / 2
    ends = (half - 1) * np.log(kappa) - half * LOG_2PI - np.log(ive(half - 1, kappa)) - kappa
    return -ends - kappa * ive(half, kappa) / ive(half - 1, kappa)


def pair_logpdf(x: Any, s2: Any, mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1) -> Any:
    x, s2 = np.asarray(x, float), np.asarray(s2, float)
    there = s2 > 0
    s2 = np.where(there, s2, 1.0)
    ends = (np.log(lmbda) - LOG_2PI) / 2 + xlogy(a, b) - gammaln(a)
    value = ends - (a + 1.5) * np.log(s2) - (2 * b + lmbda * (x - mu) ** 2) / (2 * s2)
    value = np.where(there, value, -np.inf)
    return value if value.ndim else value[()]


def pair_mean(mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1) -> Any:
    return mu, np.where(np.asarray(a) > 1, b / (a - 1), np.nan)[()]


def pair_var(mu: Any = 0, lmbda: Any = 1, a: Any = 1, b: Any = 1) -> Any:
    of_mean = np.where(np.asarray(a) > 1, b / ((a - 1) * lmbda), np.nan)[()]
    return of_mean, np.where(np.asarray(a) > 2, b**2 / ((a - 1) ** 2 * (a - 2)), np.nan)[()]


#: Methods by the class of a distribution in SciPy.
DISTRIBUTIONS: dict[str, dict[str, Any]] = {
    "multivariate_normal_gen": {**normal.METHODS, "entropy": normal_entropy},
    "multivariate_t_gen": {"logpdf": t_logpdf, "pdf": _of_log(t_logpdf), "entropy": t_entropy},
    "matrix_normal_gen": {"logpdf": matrix_logpdf, "pdf": _of_log(matrix_logpdf)},
    "dirichlet_gen": {
        "logpdf": dirichlet.logpdf,
        "pdf": dirichlet.pdf,
        "mean": dirichlet_mean,
        "var": dirichlet_var,
        "cov": dirichlet_cov,
        "entropy": dirichlet_entropy,
    },
    "multinomial_gen": {
        "logpmf": multinomial.logpmf,
        "pmf": multinomial.pmf,
        "mean": multinomial_mean,
        "cov": multinomial_cov,
    },
    "dirichlet_multinomial_gen": {
        "logpmf": mixed_logpmf,
        "pmf": _of_log(mixed_logpmf),
        "mean": mixed_mean,
        "var": mixed_var,
        "cov": mixed_cov,
    },
    "wishart_gen": {
        "logpdf": wishart_logpdf,
        "pdf": _of_log(wishart_logpdf),
        "mean": wishart_mean,
        "mode": wishart_mode,
        "var": wishart_var,
        "entropy": wishart_entropy,
    },
    "invwishart_gen": {
        "logpdf": inverse_logpdf,
        "pdf": _of_log(inverse_logpdf),
        "mean": inverse_mean,
        "mode": inverse_mode,
        "var": inverse_var,
    },
    "vonmises_fisher_gen": {
        "logpdf": direction_logpdf,
        "pdf": _of_log(direction_logpdf),
        "entropy": direction_entropy,
    },
    "normal_inverse_gamma_gen": {
        "logpdf": pair_logpdf,
        "pdf": _of_log(pair_logpdf),
        "mean": pair_mean,
        "var": pair_var,
    },
}
#: Where a distribution of fixed parameters keeps them.
FIXED: dict[str, tuple[str, ...]] = {
    "multivariate_normal_frozen": ("mean", "cov", "allow_singular"),
    "multivariate_t_frozen": ("loc", "shape", "df"),
    "matrix_normal_frozen": ("mean", "rowcov", "colcov"),
    "dirichlet_frozen": ("alpha",),
    "multinomial_frozen": ("n", "p"),
    "dirichlet_multinomial_frozen": ("alpha", "n"),
    "wishart_frozen": ("df", "scale"),
    "invwishart_frozen": ("df", "scale"),
    "vonmises_fisher_frozen": ("mu", "kappa"),
}


def method_of_frozen(owner: Any, name: str) -> Any:
    """A method of a distribution whose parameters are fixed; None if there is none."""
    kind = type(owner).__name__
    method = DISTRIBUTIONS[kind.replace("_frozen", "_gen")].get(name)
    if method is None:
        return None
    names = tuple(n for n in FIXED[kind] if name != "entropy" or n != "allow_singular")
    return functools.partial(_read, method, owner, names)


def _read(method: Any, owner: Any, names: Any, *args: Any) -> Any:
    """Calls a method with the parameters that an object has now."""
    return method(*args, *[getattr(owner, name) for name in names])
