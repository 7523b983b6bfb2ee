"""Draws gamma numbers, and from the distributions that are made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.random import checked_bits
from tapeless.random.argument_checks import (
    as_array,
    checked_fit,
    checked_float,
    checked_key,
    checked_matrix,
    checked_shape,
)
from tapeless.random.continuous import standard_exponential, standard_normal
from tapeless.random.gamma_derivative import gamma_slope
from tapeless.random.rejection import marsaglia_tsang
from tapeless.random.uniforms import signs
from tapeless.transformations.custom_rules import CustomJvp

__staged__ = True  # plain NumPy code: a staged run enters it


def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Gamma numbers: of density proportional to x**(a - 1) exp(-x).

    a      positive float or array
    shape  of the result, to which a broadcasts; that of a by default
    dtype  a float dtype, float64 by default

    Differentiable in a, by the implicit derivative of the distribution function (M. Figurnov,
    S. Mohamed, A. Mnih, "Implicit reparameterization gradients", 2018), which needs SciPy.

    By rejection: G. Marsaglia, W. Tsang, "A simple method for generating gamma variables", ACM
    Transactions on Mathematical Software 26 (2000).

    >>> from tapeless import random
    >>> random.gamma(random.key(0), 2.0, (3,)).round(4)
    Array([1.352 , 1.1244, 3.7324], dtype=float64)
    """
    return _gamma("gamma", key, a, shape, dtype, False)


def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Logarithms of gamma numbers, which do not underflow where a is small.

    The arguments are those of `gamma`.

    >>> from tapeless import random
    >>> random.loggamma(random.key(0), 2.0, (3,)).round(4)
    Array([0.3016, 0.1172, 1.3171], dtype=float64)
    """
    return _gamma("loggamma", key, a, shape, dtype, True)


def _gamma(name: str, key: Any, a: Any, shape: Any, dtype: Any, logarithm: bool) -> Any:
    dtype = checked_float(name, dtype)
    shape = checked_fit(name, shape, np.shape(a))
    return standard_gamma(checked_key(name, key), as_array(a, dtype), shape, logarithm)


def standard_gamma(key: Any, a: Any, shape: Any, logarithm: bool) -> Any:
    """Gamma numbers of shape parameters `a`, or their logarithms."""
    a = np.broadcast_to(a, shape)
    flat = np.reshape(a, (-1,))
    keys = checked_bits.split(key, (flat.shape[0],))
    numbers = log_samples(keys, flat) if logarithm else samples(keys, flat)
    return np.reshape(numbers, shape)


samples = CustomJvp(lambda keys, a: marsaglia_tsang(keys, a, False))
log_samples = CustomJvp(lambda keys, a: marsaglia_tsang(keys, a, True))


@samples.defjvp
def _samples_jvp(primals: Any, tangents: Any) -> Any:
    numbers = samples(*primals)
    return numbers, gamma_slope(primals[1], numbers) * tangents[1]


@log_samples.defjvp
def _log_samples_jvp(primals: Any, tangents: Any) -> Any:
    logarithms = log_samples(*primals)
    x = np.exp(logarithms)
    x = np.where(x == 0, np.finfo(x.dtype).tiny, x)
    return logarithms, gamma_slope(primals[1], x) / x * tangents[1]


def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Beta numbers: of density proportional to x**(a - 1) (1 - x)**(b - 1).

    a, b   positive floats or arrays
    shape  of the result, to which they broadcast; theirs by default
    dtype  a float dtype, float64 by default

    Differentiable in a and b, as `gamma` is.

    >>> from tapeless import random
    >>> random.beta(random.key(0), 2.0, 3.0, (2,)).round(4)
    Array([0.328 , 0.6138], dtype=float64)
    """
    dtype = checked_float("beta", dtype)
    shape = checked_fit("beta", shape, np.shape(a), np.shape(b))
    keys = checked_bits.split(checked_key("beta", key))
    first = standard_gamma(keys[0], as_array(a, dtype), shape, True)
    second = standard_gamma(keys[1], as_array(b, dtype), shape, True)
    top = np.maximum(first, second)
    first, second = np.exp(first - top), np.exp(second - top)
    return first / (first + second)


def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Dirichlet vectors, whose entries add up to 1.

    alpha  positive array of shape (..., n)
    shape  of the result without its last axis, to which alpha.shape[:-1] broadcasts; that by
           default
    dtype  a float dtype, float64 by default

    Returns an array of shape (*shape, n). Differentiable in alpha, as `gamma` is.

    >>> from tapeless import random
    >>> random.dirichlet(random.key(0), np.ones(3)).round(4)
    Array([0.1576, 0.1155, 0.727 ], dtype=float64)
    """
    dtype = checked_float("dirichlet", dtype)
    alpha = checked_matrix("dirichlet", "alpha", alpha, 1)
    shape = checked_fit("dirichlet", shape, np.shape(alpha)[:-1])
    key = checked_key("dirichlet", key)
    whole = (*shape, np.shape(alpha)[-1])
    logarithms = standard_gamma(key, as_array(alpha, dtype), whole, True)
    weights = np.exp(logarithms - np.max(logarithms, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True)


def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Chi-square numbers.

    df     degrees of freedom: positive float or array
    shape  of the result, to which df broadcasts; that of df by default
    dtype  a float dtype, float64 by default

    Differentiable in df, as `gamma` is.

    >>> from tapeless import random
    >>> random.chisquare(random.key(0), 4.0, (2,)).round(4)
    Array([2.7041, 2.2487], dtype=float64)
    """
    dtype = checked_float("chisquare", dtype)
    shape = checked_fit("chisquare", shape, np.shape(df))
    return _chisquare(checked_key("chisquare", key), as_array(df, dtype), shape)


def _chisquare(key: Any, df: Any, shape: Any) -> Any:
    return np.exp(standard_gamma(key, df / 2, shape, True)) * 2


def f(key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = None) -> Any:
    """F numbers: the ratio of two chi-square numbers, each over its degrees of freedom.

    dfnum, dfden  degrees of freedom: positive floats or arrays
    shape         of the result, to which they broadcast; theirs by default
    dtype         a float dtype, float64 by default

    Differentiable in both, as `gamma` is.

    >>> from tapeless import random
    >>> random.f(random.key(0), 4.0, 6.0, (2,)).round(4)
    Array([1.4716, 0.4122], dtype=float64)
    """
    dtype = checked_float("f", dtype)
    shape = checked_fit("f", shape, np.shape(dfnum), np.shape(dfden))
    keys = checked_bits.split(checked_key("f", key))
    dfnum, dfden = as_array(dfnum, dtype), as_array(dfden, dtype)
    above, below = _chisquare(keys[1], dfnum, shape), _chisquare(keys[0], dfden, shape)
    return above / dfnum / (below / dfden)


def t(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Student's t numbers.

    df     degrees of freedom: positive float or array
    shape  of the result, to which df broadcasts; that of df by default
    dtype  a float dtype, float64 by default

    Differentiable in df, as `gamma` is.

    >>> from tapeless import random
    >>> random.t(random.key(0), 4.0, (2,)).round(4)
    Array([ 1.4388, -0.5762], dtype=float64)
    """
    dtype = checked_float("t", dtype)
    shape = checked_fit("t", shape, np.shape(df))
    keys = checked_bits.split(checked_key("t", key))
    half = as_array(df, dtype) / 2
    z = standard_normal(keys[0], shape, dtype)
    return z * np.sqrt(half / standard_gamma(keys[1], half, shape, False))


def generalized_normal(key: Any, p: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Numbers of density proportional to exp(-|x|**p).

    p      positive float
    shape  of the result, a tuple of integers
    dtype  a float dtype, float64 by default

    Differentiable in p, as `gamma` is.

    >>> from tapeless import random
    >>> random.generalized_normal(random.key(0), 1.0, (2,)).round(4)
    Array([ 1.1113, -2.1559], dtype=float64)
    """
    name = "generalized_normal"
    dtype, shape = checked_float(name, dtype), checked_shape(name, shape)
    checked_fit(name, shape, np.shape(p))
    return _generalized_normal(checked_key(name, key), as_array(p, dtype), shape, dtype)


def _generalized_normal(key: Any, p: Any, shape: Any, dtype: Any) -> Any:
    keys = checked_bits.split(key)
    g = standard_gamma(keys[0], 1 / p, shape, False)
    return signs(keys[1], shape, dtype) * g ** (1 / p)


def ball(key: Any, d: Any, p: Any = 2.0, shape: Any = (), dtype: Any = None) -> Any:
    """Points that are uniform in the unit ball of the p-norm in d dimensions.

    d      an integer
    p      positive float
    shape  of the result without its last axis
    dtype  a float dtype, float64 by default

    Returns an array of shape (*shape, d). F. Barthe, O. Guedon, S. Mendelson, A. Naor, "A
    probabilistic approach to the geometry of the l_p^n ball", Annals of Probability 33 (2005).

    >>> from tapeless import random
    >>> random.ball(random.key(0), 2).round(4)
    Array([-0.8702, -0.4547], dtype=float64)
    """
    dtype, shape = checked_float("ball", dtype), checked_shape("ball", shape)
    (d,) = checked_shape("ball", (d,))
    keys = checked_bits.split(checked_key("ball", key))
    p = as_array(p, dtype)
    g = _generalized_normal(keys[0], p, (*shape, d), dtype)
    e = standard_exponential(keys[1], shape, dtype)
    return g / np.expand_dims((np.sum(np.abs(g) ** p, axis=-1) + e) ** (1 / p), -1)
