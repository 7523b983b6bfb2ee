"""Draws Poisson counts, by products of uniform numbers or by rejection."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.random import checked_bits
from tapeless.random.special_functions import log_gamma

__staged__ = True  # plain NumPy code: a staged run enters it

FEW = 10  # the mean from which on trials are rejected instead of uniform numbers multiplied


def poisson_counts(key: Any, lam: Any, shape: Any) -> Any:
    """Poisson counts as float32; all elements make as many trials as the slowest one needs."""
    few = np.isnan(lam) | (lam < FEW)
    counts = np.where(
        few,
        _product(key, np.where(few, lam, np.float32(0)), shape),
        _rejection(key, np.where(few, np.float32(1e5), lam), shape),
    )
    return np.where(lam == 0, np.float32(0), counts)


def _product(key: Any, lam: Any, shape: Any) -> Any:
    """How many uniform numbers can be multiplied until the product is below exp(-lam)."""
    count, logarithm = np.zeros_like(lam), np.zeros_like(lam)
    going = logarithm > -lam
    while np.any(going):
        count = np.where(going, count + 1, count)
        keys = checked_bits.split(key)
        key = keys[0]
        u = checked_bits.unit(keys[1], shape, np.dtype(np.float32))
        zero = u == 0
        logarithm = logarithm + np.where(
            zero, np.float32(-np.inf), np.log(np.where(zero, np.float32(1), u))
        )
        going = logarithm > -lam
    return count - 1


def _rejection(key: Any, lam: Any, shape: Any) -> Any:
    b = np.float32(0.931) + np.float32(2.53) * np.sqrt(lam)
    a = np.float32(-0.059) + np.float32(0.02483) * b
    inv_alpha = np.float32(1.1239) + np.float32(1.1328) / (b - np.float32(3.4))
    v_r = np.float32(0.9277) - np.float32(3.6224) / (b - 2)
    counts, accepted = -np.ones_like(lam), np.zeros(shape, bool)
    while np.any(~accepted):
        keys = checked_bits.split(key, (3,))
        key = keys[0]
        u = checked_bits.unit(keys[1], shape, np.dtype(np.float32)) - np.float32(0.5)
        v = checked_bits.unit(keys[2], shape, np.dtype(np.float32))
        shifted = np.float32(0.5) - np.abs(u)
        inside = np.maximum(shifted, np.finfo(np.float32).tiny)
        k = np.floor((2 * a / inside + b) * u + lam + np.float32(0.43))
        weight = v * inv_alpha / (a / (inside * inside) + b)
        s = np.log(np.maximum(weight, np.finfo(np.float32).tiny))
        level = -lam + k * np.log(lam) - log_gamma(np.maximum(k, 0) + 1)
        sure = (shifted >= np.float32(0.07)) & (v <= v_r)
        out = (k < 0) | ((shifted < np.float32(0.013)) & (v > shifted))
        accept = sure | (~out & (s <= level))
        counts = np.where(accept, k, counts)
        accepted = accepted | accept
    return counts
