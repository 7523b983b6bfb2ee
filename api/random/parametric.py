"""Draws from continuous distributions with parameters, as functions of uniform and normal
numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.random import checked_bits
from tapeless.random.argument_checks import (
    as_array,
    checked_fit,
    checked_float,
    checked_key,
    checked_shape,
)
from tapeless.random.continuous import standard_exponential, standard_normal
from tapeless.random.uniforms import signs

__staged__ = True  # plain NumPy code: a staged run enters it


def pareto(key: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Pareto numbers: of density b / x**(b + 1), x at least 1.

    b      positive float or array
    shape  of the result, to which b broadcasts; that of b by default
    dtype  a float dtype, float64 by default

    Differentiable in b.

    >>> from tapeless import random
    >>> random.pareto(random.key(0), 2.0, (2,)).round(4)
    Array([1.3113, 1.1296], dtype=float64)
    """
    dtype = checked_float("pareto", dtype)
    shape = checked_fit("pareto", shape, np.shape(b))
    e = standard_exponential(checked_key("pareto", key), shape, dtype)
    return np.exp(e / as_array(b, dtype))


def rayleigh(key: Any, scale: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Rayleigh numbers: of density x exp(-x**2 / (2 scale**2)) / scale**2.

    scale  positive float or array
    shape  of the result, to which scale broadcasts; that of scale by default
    dtype  a float dtype, float64 by default

    Differentiable in scale.

    >>> from tapeless import random
    >>> random.rayleigh(random.key(0), 1.0, (2,)).round(4)
    Array([1.32  , 1.7499], dtype=float64)
    """
    dtype = checked_float("rayleigh", dtype)
    shape = checked_fit("rayleigh", shape, np.shape(scale))
    u = checked_bits.unit(checked_key("rayleigh", key), shape, dtype)
    logarithm = np.where(u == 0, dtype.type(-np.inf), np.log(np.where(u == 0, dtype.type(1), u)))
    return as_array(scale, dtype) * np.sqrt(logarithm * dtype.type(-2))


def weibull_min(
    key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None
) -> Any:
    """Weibull numbers: scale times an exponential number to the power 1 / concentration.

    scale, concentration  positive floats or arrays
    shape                 of the uniform numbers, which broadcast with the parameters
    dtype                 a float dtype, float64 by default

    Differentiable in both parameters.

    >>> from tapeless import random
    >>> random.weibull_min(random.key(0), 1.0, 2.0, (2,)).round(4)
    Array([0.7363, 0.4937], dtype=float64)
    """
    dtype, shape = checked_float("weibull_min", dtype), checked_shape("weibull_min", shape)
    e = standard_exponential(checked_key("weibull_min", key), shape, dtype)
    power = dtype.type(1) / as_array(concentration, dtype)
    return e**power * as_array(scale, dtype)


def lognormal(key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers whose logarithm is normal, of mean 0 and standard deviation sigma.

    sigma  float or array
    shape  of the result, to which sigma broadcasts; that of sigma by default
    dtype  a float dtype, float64 by default

    Differentiable in sigma.

    >>> from tapeless import random
    >>> random.lognormal(random.key(0), 0.5, (2,)).round(4)
    Array([0.9022, 0.6754], dtype=float64)
    """
    dtype = checked_float("lognormal", dtype)
    shape = checked_fit("lognormal", shape, np.shape(sigma))
    z = standard_normal(checked_key("lognormal", key), shape, dtype)
    return np.exp(z * as_array(sigma, dtype))


def maxwell(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Maxwell numbers: the length of a standard normal vector in three dimensions.

    shape  of the result, a tuple of integers
    dtype  a float dtype, float64 by default

    >>> from tapeless import random
    >>> random.maxwell(random.key(0), (2,)).round(4)
    Array([1.9891, 0.4246], dtype=float64)
    """
    dtype, shape = checked_float("maxwell", dtype), checked_shape("maxwell", shape)
    return _maxwell(checked_key("maxwell", key), shape, dtype)


def _maxwell(key: Any, shape: Any, dtype: Any) -> Any:
    return np.linalg.norm(standard_normal(key, (*shape, 3), dtype), axis=-1)


def double_sided_maxwell(key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Maxwell numbers of either sign, times scale, plus loc.

    loc, scale  floats or arrays
    shape       put in front of the shape of the parameters; without one, or with (), that is
                doubled, as in JAX
    dtype       a float dtype, float64 by default

    Differentiable in loc and scale.

    >>> from tapeless import random
    >>> random.double_sided_maxwell(random.key(0), 1.0, 2.0, (2,)).round(4)
    Array([ 4.9692, -3.9564], dtype=float64)
    """
    name = "double_sided_maxwell"
    dtype, shape = checked_float(name, dtype), checked_shape(name, shape)
    common = checked_fit(name, None, np.shape(loc), np.shape(scale))
    keys = checked_bits.split(checked_key(name, key))
    shape = (*(shape if len(shape) else common), *common)
    sizes = _maxwell(keys[0], shape, dtype)
    return signs(keys[1], shape, dtype) * sizes * as_array(scale, dtype) + as_array(loc, dtype)


def triangular(
    key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = None
) -> Any:
    """Numbers whose density rises from left to mode, and falls from there to right.

    left, mode, right  floats or arrays
    shape              of the result, to which they broadcast; theirs by default
    dtype              a float dtype, float64 by default

    Differentiable in the three parameters.

    >>> from tapeless import random
    >>> random.triangular(random.key(0), 0.0, 0.5, 2.0, (2,)).round(4)
    Array([0.6792, 0.4651], dtype=float64)
    """
    dtype = checked_float("triangular", dtype)
    shape = checked_fit("triangular", shape, np.shape(left), np.shape(mode), np.shape(right))
    u = checked_bits.unit(checked_key("triangular", key), shape, dtype)
    left, mode, right = (as_array(x, dtype) for x in (left, mode, right))
    rising = left + np.sqrt(u * (right - left) * (mode - left))
    falling = right - np.sqrt((1 - u) * (right - left) * (right - mode))
    return np.where(u < (mode - left) / (right - left), rising, falling)


def wald(key: Any, mean: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Wald (inverse Gaussian) numbers of shape parameter 1.

    mean   positive float or array
    shape  of the result, to which mean broadcasts; that of mean by default
    dtype  a float dtype, float64 by default

    Differentiable in mean. J. Michael, W. Schucany, R. Haas, The American Statistician 30 (1976).

    >>> from tapeless import random
    >>> random.wald(random.key(0), 1.0, (2,)).round(4)
    Array([0.187 , 1.6107], dtype=float64)
    """
    dtype = checked_float("wald", dtype)
    shape = checked_fit("wald", shape, np.shape(mean))
    keys = checked_bits.split(checked_key("wald", key))
    mean = as_array(mean, dtype)
    y = standard_normal(keys[0], shape, dtype) ** 2
    u = checked_bits.unit(keys[1], shape, dtype)
    root = np.sqrt(4 * mean * y + mean**2 * y**2)
    x = mean + mean**2 * y / 2 - mean / 2 * root
    return np.where(u <= mean / (mean + x), x, mean**2 / x)
