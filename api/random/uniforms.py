"""Draws bits, uniform numbers and uniform integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.random import checked_bits
from tapeless.random.argument_checks import (
    as_array,
    checked_choice,
    checked_fit,
    checked_float,
    checked_integer,
    checked_key,
    checked_probability,
    checked_shape,
)

__staged__ = True  # plain NumPy code: a staged run enters it


def bits(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Random bits, as unsigned integers.

    shape  of the result, a tuple of integers
    dtype  an unsigned integer dtype, uint64 by default

    >>> from tapeless import random
    >>> random.bits(random.key(0), (2,), np.uint32)
    Array([4070199207, 4202968722], dtype=uint32)
    """
    dtype = checked_integer("bits", np.uint64 if dtype is None else dtype, "u")
    shape, key = checked_shape("bits", shape), checked_key("bits", key)
    return checked_bits.bits(key, shape, 8 * dtype.itemsize)


def uniform(
    key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0
) -> Any:
    """Uniform numbers in [minval, maxval).

    shape           of the result, a tuple of integers
    dtype           a float dtype, float64 by default
    minval, maxval  floats or arrays that broadcast to the shape

    Differentiable in minval and maxval.

    >>> from tapeless import random
    >>> random.uniform(random.key(0), (2,), np.float32)
    Array([0.947667 , 0.9785799], dtype=float32)
    """
    dtype, shape = checked_float("uniform", dtype), checked_shape("uniform", shape)
    checked_fit("uniform", shape, np.shape(minval), np.shape(maxval))
    key = checked_key("uniform", key)
    if minval is UNIT[0] and maxval is UNIT[1]:
        return checked_bits.unit(key, shape, dtype)
    low, high = as_array(minval, dtype), as_array(maxval, dtype)
    return checked_bits.uniform_scaled(key, shape, dtype, low, high)


UNIT = uniform.__defaults__[-2:]  # type: ignore[index]  # the interval where nothing is to do


def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None) -> Any:
    """Uniform integers in [minval, maxval).

    shape           of the result, a tuple of integers
    minval, maxval  integers or arrays that broadcast to the shape; where maxval is not larger,
                    minval is drawn; what the dtype cannot hold is clipped
    dtype           an integer dtype, int64 by default

    Numbers of twice as many bits as the dtype has are reduced modulo the length of the interval;
    for lengths near the range of the dtype the result is slightly uneven.

    >>> from tapeless import random
    >>> random.randint(random.key(0), (5,), 0, 10)
    Array([5, 1, 5, 7, 3], dtype=int64)
    """
    dtype, shape = checked_integer("randint", dtype), checked_shape("randint", shape)
    checked_fit("randint", shape, np.shape(minval), np.shape(maxval))
    key = checked_key("randint", key)
    low, high = np.atleast_1d(_integers(minval)), np.atleast_1d(_integers(maxval))
    info = np.iinfo(dtype)
    if info.bits >= 32:
        return integers_between(key, shape, low, high, dtype)
    low, high = _narrow(low, info.min, info.max), _narrow(high, info.min, info.max + 1)
    return integers_between(key, shape, low, high, np.dtype(np.int32)).astype(dtype)


def _integers(x: Any) -> Any:
    x = as_array(x)
    return x if x.dtype.kind in "iu" else x.astype(np.int64)


def _narrow(x: Any, low: int, high: int) -> Any:
    return np.clip(x.astype(np.int32), low, high)


def integers_between(key: Any, shape: Any, low: Any, high: Any, dtype: Any) -> Any:
    """Uniform integers of 32 or 64 bits between the elements of arrays of at least one axis."""
    width = 8 * dtype.itemsize
    unsigned = np.dtype(f"u{width // 8}")
    top, more = np.iinfo(dtype).max, np.iinfo(high.dtype).max > np.iinfo(dtype).max
    beyond = more and high > high.dtype.type(top)  # the largest number may be drawn too
    low, high = _clip_to_dtype(low, dtype), _clip_to_dtype(high, dtype)
    empty = high <= low
    span = np.where(empty, unsigned.type(1), (high - low).astype(unsigned))
    if more:
        span = np.where(beyond & ~empty, span + unsigned.type(1), span)
    keys = checked_bits.split(key)
    flat = shape if len(shape) else (1,)
    upper, lower = checked_bits.bits(keys[0], flat, width), checked_bits.bits(keys[1], flat, width)
    whole = span == 0  # 2**width, which wraps around
    span = np.where(whole, unsigned.type(1), span)
    half = unsigned.type(2 ** (width // 2)) % span
    offset = (upper % span) * (half * half % span) + lower % span
    offset = np.where(whole, lower, offset % span)
    return np.reshape(low + offset.astype(dtype), shape)


def _clip_to_dtype(x: Any, dtype: Any) -> Any:
    have, wanted = np.iinfo(x.dtype), np.iinfo(dtype)
    if have.min < wanted.min:
        x = np.maximum(x, x.dtype.type(wanted.min))
    if have.max > wanted.max:
        x = np.minimum(x, x.dtype.type(wanted.max))
    return x.astype(dtype)


def bernoulli(key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low") -> Any:
    """True with probability p.

    p      a float or an array of floats
    shape  of the result, to which p broadcasts; that of p by default
    mode   'low', or 'high': with twice the bits, for p near the resolution of its dtype

    Returns booleans.

    >>> from tapeless import random
    >>> random.bernoulli(random.key(0), 0.9, (4,))
    Array([ True,  True, False,  True], dtype=bool)
    """
    checked_choice("bernoulli", "mode", mode, ("low", "high"))
    dtype = checked_probability("bernoulli", p)
    shape = checked_fit("bernoulli", shape, np.shape(p))
    return _bernoulli(checked_key("bernoulli", key), as_array(p, dtype), shape, mode)


def _bernoulli(key: Any, p: Any, shape: Any, mode: str = "low") -> Any:
    if mode == "low":
        return checked_bits.unit(key, shape, p.dtype) < p
    both = checked_bits.unit(key, (2, *shape), p.dtype)
    return both[1] * p.dtype.type(2.0 ** -np.finfo(p.dtype).nmant) < p - both[0]


def rademacher(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """1 or -1, each with probability 1/2.

    shape  of the result, a tuple of integers
    dtype  of the result, a signed number; int64 by default

    >>> from tapeless import random
    >>> random.rademacher(random.key(0), (4,))
    Array([ 1,  1, -1, -1], dtype=int64)
    """
    dtype, shape = checked_integer("rademacher", dtype, "if"), checked_shape("rademacher", shape)
    return signs(checked_key("rademacher", key), shape, dtype)


def signs(key: Any, shape: Any, dtype: Any) -> Any:
    """1 or -1, each with probability 1/2."""
    ones = _bernoulli(key, as_array(0.5), shape).astype(dtype)
    return (2 * ones - 1).astype(dtype)
