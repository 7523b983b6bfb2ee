"""Samples by rejection, with trials until every element has an accepted number."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.random.checked_bits import unit_of
from tapeless.random.special_functions import inside_erf_inv
from tapeless.random.threefry import words_of
from tapeless.transforms.ops.primitives.module_functions import threefry2x32

__staged__ = True  # plain NumPy code: a staged run enters it


def split_each(keys: Any, number: int) -> list[Any]:
    """New keys for each key of an array of shape (n, 2)."""
    count = np.arange(number, dtype=np.uint64)
    new_keys = np.stack(words_of(threefry2x32(keys[:, 0:1], keys[:, 1:2], count)), axis=-1)
    return [new_keys[:, k] for k in range(number)]


def unit_each(keys: Any, dtype: Any) -> Any:
    """One uniform number in [0, 1) for each key."""
    return unit_of(threefry2x32(keys[:, 0], keys[:, 1], np.zeros(1, np.uint64)), dtype)


def normal_each(keys: Any, dtype: Any) -> Any:
    """One standard normal number for each key."""
    low = np.nextafter(dtype.type(-1), dtype.type(0))
    u = np.maximum(low, unit_each(keys, dtype) * (dtype.type(1) - low) + low)
    return dtype.type(np.sqrt(2)) * inside_erf_inv(u)


def marsaglia_tsang(keys: Any, a: Any, logarithm: bool) -> Any:
    """A gamma number, or its logarithm, for each key and shape parameter."""
    dtype = a.dtype
    large = a >= 1
    d = np.where(large, a, a + 1) - dtype.type(1 / 3)
    c = dtype.type(1 / 3) / np.sqrt(d)
    keys, boost_keys = split_each(keys, 2)
    v = _accepted_cubes(keys, c, d)
    u = unit_each(boost_keys, dtype)
    if logarithm:
        boost = np.log1p(-u)
        boost = np.where(large | (boost == 0), dtype.type(0), boost * (1 / a))
        return np.log(d) + np.log(v) + boost
    return d * v * np.where(large, dtype.type(1), (1 - u) ** (1 / a))


def _accepted_cubes(keys: Any, c: Any, d: Any) -> Any:
    """(1 + c x)**3 of a normal number x, so often as it takes for it to be accepted."""
    v = np.ones_like(c)
    todo = np.ones(c.shape, bool)
    while np.any(todo):
        keys, normal_keys, uniform_keys = split_each(keys, 3)
        x, root = _positive(normal_keys, c, todo)
        trial = root * root * root
        u = unit_each(uniform_keys, c.dtype)
        square = x * x
        sure = u < 1 - c.dtype.type(0.0331) * (square * square)
        logarithm = np.log(np.where(u > 0, u, np.finfo(c.dtype).tiny))
        safe = np.where(trial > 0, trial, c.dtype.type(1))
        fair = logarithm < square * c.dtype.type(0.5) + d * (1 - safe + np.log(safe))
        v = np.where(todo, trial, v)
        todo = todo & ~(sure | fair)
    return v


def _positive(keys: Any, c: Any, todo: Any) -> tuple[Any, Any]:
    """Normal numbers x with 1 + c x > 0, and that."""
    x, root = np.zeros_like(c), np.where(todo, -1, np.ones_like(c))
    while np.any(root <= 0):
        keys, draw_keys = split_each(keys, 2)
        again = root <= 0
        x = np.where(again, normal_each(draw_keys, c.dtype), x)
        root = np.where(again, 1 + x * c, root)
    return x, root
