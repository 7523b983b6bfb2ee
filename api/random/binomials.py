"""Draws binomial counts, by inversion or by rejection."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.random import checked_bits
from tapeless.random.coefficients import STIRLING

__staged__ = True  # plain NumPy code: a staged run enters it

FEW = 10  # the expected count up to which it is found by adding up waiting times


def binomial_counts(key: Any, n: Any, p: Any, shape: Any) -> Any:
    """Binomial counts in the dtype of p; all elements make as many trials as the slowest needs."""
    n, p = np.broadcast_to(n, shape), np.broadcast_to(p, shape)
    small = p < 0.5
    q = np.where(small, p, 1 - p)
    bad_n, bad_q = np.isnan(n) | (n < 0), np.isnan(q) | (q < 0)
    q = np.where(bad_q, p.dtype.type(0.01), q)
    few = bad_n | (n * q <= FEW)
    endless = np.isinf(n)
    n = np.floor(n)
    counts = np.where(
        few,
        _waiting(key, np.where(few & ~bad_n, n, p.dtype.type(0)), q, shape),
        _rejection(
            key,
            np.where(few | endless, p.dtype.type(1e4), n),
            np.where(few, p.dtype.type(0.5), q),
            shape,
        ),
    )
    counts = np.where(endless, p.dtype.type(np.inf), counts)
    counts = np.where(bad_n | bad_q, p.dtype.type(np.nan), counts)
    finite = np.where(endless, p.dtype.type(0), n)
    return np.where(small | bad_n | np.isnan(p) | endless, counts, finite - counts)


def _waiting(key: Any, n: Any, p: Any, shape: Any) -> Any:
    """How many geometric waiting times fit into n trials."""
    slope = np.log1p(-p)
    count, total = np.zeros_like(p), np.zeros_like(p)
    going = total <= n
    while np.any(going):
        keys = checked_bits.split(key)
        key = keys[1]
        u = checked_bits.unit(keys[0], shape, p.dtype)
        never = (slope == 0) | (u == 0)
        waited = np.ceil(np.log(np.where(never, p.dtype.type(1), u)) / np.where(never, -1, slope))
        count = np.where(going, count + 1, count)
        total = total + np.where(never, p.dtype.type(np.inf), waited)
        going = total <= n
    return count - 1


def _rejection(key: Any, n: Any, p: Any, shape: Any) -> Any:
    deviation = np.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    v_r = 0.92 - 4.2 / b
    r = p / (1 - p)
    alpha = (2.83 + 5.1 / b) * deviation
    m = np.floor((n + 1) * p)
    counts, accepted = -np.ones_like(p), np.zeros(shape, bool)
    while np.any(~accepted):
        keys = checked_bits.split(key, (3,))
        key = keys[0]
        u = checked_bits.unit(keys[1], shape, p.dtype) - 0.5
        v = checked_bits.unit(keys[2], shape, p.dtype)
        us = 0.5 - np.abs(u)
        inside = np.where(us > 0, us, np.finfo(p.dtype).tiny)
        k = np.floor((2 * a / inside + b) * u + c)
        out = (us <= 0) | (k < 0) | (k > n)
        k_in = np.where(out, m, k)
        weight = np.where(v > 0, v, np.finfo(p.dtype).tiny) * alpha / (a / (inside * inside) + b)
        level = (
            (m + 0.5) * np.log((m + 1) / (r * (n - m + 1)))
            + (n + 1) * np.log((n - m + 1) / (n - k_in + 1))
            + (k_in + 0.5) * np.log(r * (n - k_in + 1) / (k_in + 1))
            + stirling_rest(m)
            + stirling_rest(n - m)
            - stirling_rest(k_in)
            - stirling_rest(n - k_in)
        )
        accept = ((us >= 0.07) & (v <= v_r)) | (~out & (np.log(weight) <= level))
        counts = np.where(accept, k, counts)
        accepted = accepted | accept
    return counts


def stirling_rest(k: Any) -> Any:
    """log(k!) without the first terms of Stirling's formula."""
    table = np.array(STIRLING, k.dtype)
    square = (k + 1) * (k + 1)
    rest = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
    return np.where(k <= 9, table[np.clip(k, 0, 9).astype(np.int64)], rest)
