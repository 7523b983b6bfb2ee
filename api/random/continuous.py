"""Draws from continuous distributions in standard form, as functions of uniform numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.random import checked_bits
from tapeless.random.argument_checks import (
    as_array,
    checked_choice,
    checked_fit,
    checked_float,
    checked_key,
    checked_shape,
)
from tapeless.random.special_functions import erf_inv, inside_erf_inv
from tapeless.scipy.scipy_import import scipy_special
from tapeless.transformations.public_functions import stop_gradient

__staged__ = True  # plain NumPy code: a staged run enters it


def normal(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Standard normal numbers.

    shape  of the result, a tuple of integers
    dtype  a float dtype, float64 by default; of a complex one real and imaginary part have
           variance 1/2

    By inversion: a uniform number goes through the inverse error function.

    >>> from tapeless import random
    >>> random.normal(random.key(0), (3,), np.float32).round(4)
    Array([ 1.6226,  2.0253, -0.4336], dtype=float32)
    """
    dtype, shape = checked_float("normal", dtype, "fc"), checked_shape("normal", shape)
    return standard_normal(checked_key("normal", key), shape, dtype)


def standard_normal(key: Any, shape: Any, dtype: Any) -> Any:
    """Standard normal numbers of a float or complex dtype."""
    if dtype.kind == "f":
        low, root = np.nextafter(dtype.type(-1), dtype.type(0)), dtype.type(np.sqrt(2))
        span = dtype.type(1) - low

        def invert_cdf(u: Any) -> Any:
            u *= span
            u += low
            return root * inside_erf_inv(np.maximum(low, u))

        return checked_bits.map_uniform(key, shape, dtype, invert_cdf)
    keys, part = checked_bits.split(key), np.finfo(dtype).dtype
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
    Array([0.3661, 0.1861, 0.9522], dtype=float64)
    """
    dtype = checked_float("truncated_normal", dtype)
    shape = checked_fit("truncated_normal", shape, np.shape(lower), np.shape(upper))
    special = scipy_special("random.truncated_normal")
    key = checked_key("truncated_normal", key)
    root = dtype.type(np.sqrt(2))
    lower, upper = as_array(lower, dtype), as_array(upper, dtype)
    low, high = (special.erf(x / root).astype(dtype) for x in (lower, upper))
    u = checked_bits.uniform_between(key, shape, dtype, low, high)
    lowest = np.nextafter(stop_gradient(lower), dtype.type(np.inf))
    highest = np.nextafter(stop_gradient(upper), dtype.type(-np.inf))
    return np.clip(root * erf_inv(u), lowest, highest)


def exponential(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Exponential numbers of mean 1.

    shape  of the result, a tuple of integers
    dtype  a float dtype, float64 by default

    >>> from tapeless import random
    >>> random.exponential(random.key(0), (2,), np.float32).round(4)
    Array([2.9501, 3.8434], dtype=float32)
    """
    dtype, shape = checked_float("exponential", dtype), checked_shape("exponential", shape)
    return standard_exponential(checked_key("exponential", key), shape, dtype)


def standard_exponential(key: Any, shape: Any, dtype: Any) -> Any:
    """Exponential numbers of mean 1."""
    return checked_bits.map_uniform(key, shape, dtype, lambda u: -np.log1p(-u))


def gumbel(key: Any, shape: Any = (), dtype: Any = None, mode: Any = None) -> Any:
    """Gumbel numbers: -log(-log(u)) of uniform u.

    shape  of the result, a tuple of integers
    dtype  a float dtype, float64 by default
    mode   'low' (the default), 'high' or 'highest': more bits, for larger values in the tail

    >>> from tapeless import random
    >>> random.gumbel(random.key(0), (2,)).round(4)
    Array([ 0.1379, -0.426 ], dtype=float64)
    """
    dtype, shape = checked_float("gumbel", dtype), checked_shape("gumbel", shape)
    checked_choice("gumbel", "mode", mode, (None, "low", "high", "highest"))
    return standard_gumbel(checked_key("gumbel", key), shape, dtype, mode)


def standard_gumbel(key: Any, shape: Any, dtype: Any, mode: Any = None) -> Any:
    """Gumbel numbers."""
    info = np.finfo(dtype)
    if mode == "highest" and dtype == np.float32:
        return _gumbel_of_fixed_point(checked_bits.bits(key, (2, *shape), 32))
    tiny = info.tiny
    if mode in ("high", "highest"):
        both = checked_bits.unit(key, (2, *shape), dtype)
        fine = both[0] + dtype.type(2.0**-info.nmant) * both[1] + tiny
        x = np.where(both[0] >= 0.5, both[0], fine)
        return -np.log(-np.log1p(-x))
    span = dtype.type(1) - tiny
    return checked_bits.map_uniform(
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
    Array([0.178, 0.838], dtype=float64)
    """
    dtype, shape = checked_float("laplace", dtype), checked_shape("laplace", shape)
    low = dtype.type(-1) + np.finfo(dtype).epsneg
    u = checked_bits.uniform_between(checked_key("laplace", key), shape, dtype, low, dtype.type(1))
    return np.sign(u) * np.log1p(-np.abs(u))


def logistic(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Logistic numbers of mean 0 and scale 1.

    shape  of the result, a tuple of integers
    dtype  a float dtype, float64 by default

    >>> from tapeless import random
    >>> random.logistic(random.key(0), (2,)).round(4)
    Array([-0.3291, -1.2874], dtype=float64)
    """
    dtype, shape = checked_float("logistic", dtype), checked_shape("logistic", shape)
    tiny = np.finfo(dtype).tiny
    u = checked_bits.uniform_between(
        checked_key("logistic", key), shape, dtype, tiny, dtype.type(1)
    )
    return np.log(u) - np.log1p(-u)


def cauchy(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Cauchy numbers of location 0 and scale 1.

    shape  of the result, a tuple of integers
    dtype  a float dtype, float64 by default

    >>> from tapeless import random
    >>> random.cauchy(random.key(0), (2,)).round(4)
    Array([-0.2619, -1.2378], dtype=float64)
    """
    dtype, shape = checked_float("cauchy", dtype), checked_shape("cauchy", shape)
    key, eps = checked_key("cauchy", key), np.finfo(dtype).eps
    u = checked_bits.uniform_between(key, shape, dtype, eps, dtype.type(1))
    return np.tan(dtype.type(np.pi) * (u - dtype.type(0.5)))
