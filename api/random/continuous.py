"""Continuous distributions that are functions of uniform and normal numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.functions import stop_gradient
from tapeless.random import draws
from tapeless.random.checks import (
    as_array,
    checked_choice,
    checked_fit,
    checked_float,
    checked_key,
    checked_shape,
    scipy_special,
)
from tapeless.random.special import erf_inv, erf_inv_value
from tapeless.random.uniforms import signs

__staged__ = True  # plain NumPy code: a staged run enters it


def normal(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Standard normal numbers.

    shape  of the result, a tuple of integers
    dtype  a float dtype, float64 by default; of a complex one real and imaginary part have
           variance 1/2

    By inversion: a uniform number goes through the inverse error function.

    >>> from tapeless import random
    >>> random.normal(random.key(0), (3,), np.float32)
    array([ 1.6226422 ,  2.0252647 , -0.43359444], dtype=float32)
    """
    dtype, shape = checked_float("normal", dtype, "fc"), checked_shape("normal", shape)
    return standard_normal(checked_key("normal", key), shape, dtype)


def standard_normal(key: Any, shape: Any, dtype: Any) -> Any:
    """Standard normal numbers of a float or complex dtype."""
    if dtype.kind == "f":
        low, root = np.nextafter(dtype.type(-1), dtype.type(0)), dtype.type(np.sqrt(2))
        span = dtype.type(1) - low
        return draws.mapped(
            key, shape, dtype, lambda u: root * erf_inv_value(np.maximum(low, u * span + low))
        )
    keys, part = draws.split(key), np.finfo(dtype).dtype
    real = standard_normal(keys[0], shape, part).astype(dtype)
    imaginary = standard_normal(keys[1], shape, part).astype(dtype)
    return (real + 1j * imaginary) / dtype.type(np.sqrt(2))


def truncated_normal(key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Standard normal numbers of the open interval (lower, upper).

    lower, upper  floats or arrays
    shape         of the result, to which the bounds broadcast; theirs by default
    dtype         a float dtype, float64 by default

    Differentiable in the bounds. Needs SciPy.

    >>> from tapeless import random
    >>> random.truncated_normal(random.key(0), 0.0, 1.0, (3,)).round(4)
    array([0.3661, 0.1861, 0.9522])
    """
    dtype = checked_float("truncated_normal", dtype)
    shape = checked_fit("truncated_normal", shape, np.shape(lower), np.shape(upper))
    special = scipy_special("truncated_normal")
    key = checked_key("truncated_normal", key)
    root = dtype.type(np.sqrt(2))
    lower, upper = as_array(lower, dtype), as_array(upper, dtype)
    u = draws.between(key, shape, dtype, special.erf(lower / root), special.erf(upper / root))
    lowest = np.nextafter(stop_gradient(lower), dtype.type(np.inf))
    highest = np.nextafter(stop_gradient(upper), dtype.type(-np.inf))
    return np.clip(root * erf_inv(u), lowest, highest)


def exponential(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Exponential numbers of mean 1.

    shape  of the result, a tuple of integers
    dtype  a float dtype, float64 by default

    >>> from tapeless import random
    >>> random.exponential(random.key(0), (2,), np.float32)
    array([2.950128 , 3.8434246], dtype=float32)
    """
    dtype, shape = checked_float("exponential", dtype), checked_shape("exponential", shape)
    return standard_exponential(checked_key("exponential", key), shape, dtype)


def standard_exponential(key: Any, shape: Any, dtype: Any) -> Any:
    """Exponential numbers of mean 1."""
    return draws.mapped(key, shape, dtype, lambda u: -np.log1p(-u))


def gumbel(key: Any, shape: Any = (), dtype: Any = None, mode: Any = None) -> Any:
    """Gumbel numbers: -log(-log(u)) of uniform u.

    shape  of the result, a tuple of integers
    dtype  a float dtype, float64 by default
    mode   'low' (the default), 'high' or 'highest': more bits, for larger values in the tail

    >>> from tapeless import random
    >>> random.gumbel(random.key(0), (2,)).round(4)
    array([ 0.1379, -0.426 ])
    """
    dtype, shape = checked_float("gumbel", dtype), checked_shape("gumbel", shape)
    checked_choice("gumbel", "mode", mode, (None, "low", "high", "highest"))
    return standard_gumbel(checked_key("gumbel", key), shape, dtype, mode)


def standard_gumbel(key: Any, shape: Any, dtype: Any, mode: Any = None) -> Any:
    """Gumbel numbers."""
    info = np.finfo(dtype)
    if mode == "highest" and dtype == np.float32:
        return _gumbel_of_fixed_point(draws.bits(key, (2, *shape), 32))
    tiny = info.tiny
    if mode in ("high", "highest"):
        both = draws.unit(key, (2, *shape), dtype)
        fine = both[0] + dtype.type(2.0**-info.nmant) * both[1] + tiny
        x = np.where(both[0] >= 0.5, both[0], fine)
        return -np.log(-np.log1p(-x))
    span = dtype.type(1) - tiny
    return draws.mapped(
        key, shape, dtype, lambda u: -np.log(-np.log(np.maximum(tiny, u * span + tiny)))
    )


def _gumbel_of_fixed_point(words: Any) -> Any:
    """From 64 random bits, as a fraction that is exact at both ends."""
    value = (words[0].astype(np.uint64) << np.uint64(32)) | words[1].astype(np.uint64)
    small = words[0] < np.uint32(1 << 31)
    x = _fraction(np.where(small, value, ~value + np.uint64(1)))
    return np.where(small, -np.log(-np.log1p(-x)), -np.log(-np.log(x)))


def _fraction(value: Any) -> Any:
    """A 64-bit fraction as float32, cut off behind the leading 24 bits."""
    high, low = value >> np.uint64(32), value & np.uint64(0xFFFFFFFF)
    length = np.where(high > 0, _bit_length(high) + 32, _bit_length(low))
    drop = np.maximum(length - 24, 0).astype(np.uint64)
    return np.ldexp((value >> drop).astype(np.float32), drop.astype(np.int32) - 64)


def _bit_length(x: Any) -> Any:
    return np.floor(np.log2(np.maximum(x, np.uint64(1)) * 1.0)) + 1


def laplace(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Laplace numbers of mean 0 and scale 1.

    shape  of the result, a tuple of integers
    dtype  a float dtype, float64 by default

    >>> from tapeless import random
    >>> random.laplace(random.key(0), (2,)).round(4)
    array([0.178, 0.838])
    """
    dtype, shape = checked_float("laplace", dtype), checked_shape("laplace", shape)
    low = dtype.type(-1) + np.finfo(dtype).epsneg
    u = draws.between(checked_key("laplace", key), shape, dtype, low, dtype.type(1))
    return np.sign(u) * np.log1p(-np.abs(u))


def logistic(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Logistic numbers of mean 0 and scale 1.

    shape  of the result, a tuple of integers
    dtype  a float dtype, float64 by default

    >>> from tapeless import random
    >>> random.logistic(random.key(0), (2,)).round(4)
    array([-0.3291, -1.2874])
    """
    dtype, shape = checked_float("logistic", dtype), checked_shape("logistic", shape)
    tiny = np.finfo(dtype).tiny
    u = draws.between(checked_key("logistic", key), shape, dtype, tiny, dtype.type(1))
    return np.log(u) - np.log1p(-u)


def cauchy(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Cauchy numbers of location 0 and scale 1.

    shape  of the result, a tuple of integers
    dtype  a float dtype, float64 by default

    >>> from tapeless import random
    >>> random.cauchy(random.key(0), (2,)).round(4)
    array([-0.2619, -1.2378])
    """
    dtype, shape = checked_float("cauchy", dtype), checked_shape("cauchy", shape)
    key, eps = checked_key("cauchy", key), np.finfo(dtype).eps
    u = draws.between(key, shape, dtype, eps, dtype.type(1))
    return np.tan(dtype.type(np.pi) * (u - dtype.type(0.5)))


def pareto(key: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Pareto numbers: of density b / x**(b + 1), x at least 1.

    b      positive float or array
    shape  of the result, to which b broadcasts; that of b by default
    dtype  a float dtype, float64 by default

    Differentiable in b.

    >>> from tapeless import random
    >>> random.pareto(random.key(0), 2.0, (2,)).round(4)
    array([1.3113, 1.1296])
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
    array([1.32  , 1.7499])
    """
    dtype = checked_float("rayleigh", dtype)
    shape = checked_fit("rayleigh", shape, np.shape(scale))
    u = draws.unit(checked_key("rayleigh", key), shape, dtype)
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
    array([0.7363, 0.4937])
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
    array([0.9022, 0.6754])
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
    array([1.9891, 0.4246])
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
    array([ 4.9692, -3.9564])
    """
    name = "double_sided_maxwell"
    dtype, shape = checked_float(name, dtype), checked_shape(name, shape)
    common = checked_fit(name, None, np.shape(loc), np.shape(scale))
    keys = draws.split(checked_key(name, key))
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
    array([0.6792, 0.4651])
    """
    dtype = checked_float("triangular", dtype)
    shape = checked_fit("triangular", shape, np.shape(left), np.shape(mode), np.shape(right))
    u = draws.unit(checked_key("triangular", key), shape, dtype)
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
    array([0.187 , 1.6107])
    """
    dtype = checked_float("wald", dtype)
    shape = checked_fit("wald", shape, np.shape(mean))
    keys = draws.split(checked_key("wald", key))
    mean = as_array(mean, dtype)
    y = standard_normal(keys[0], shape, dtype) ** 2
    u = draws.unit(keys[1], shape, dtype)
    root = np.sqrt(4 * mean * y + mean**2 * y**2)
    x = mean + mean**2 * y / 2 - mean / 2 * root
    return np.where(u <= mean / (mean + x), x, mean**2 / x)
