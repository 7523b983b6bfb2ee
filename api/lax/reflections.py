"""Reduces a matrix to Hessenberg form by Householder reflections, which for Hermitian ones is
tridiagonal.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


def reduce_to_hessenberg(a: Any, smallest: int = 0) -> tuple[Any, Any, Any]:
    """The h of `hessenberg`, and the reflections 1 - tau w w^H that give it: w in columns, and tau;
    as LAPACK's gehrd chooses them. None for matrices of up to `smallest` rows."""
    a = np.asarray(a)
    h = a * np.ones((), np.result_type(a, np.float32))  # a copy
    if h.ndim != 2 or h.shape[0] != h.shape[1]:
        raise ArgumentError(f"hessenberg: expected a square matrix, not the shape {h.shape}")
    n = operator.index(h.shape[0])
    places, count = np.arange(n), n - 1 if n > smallest else 0
    vectors, taus = np.zeros((n, count), h.dtype), np.zeros(count, h.dtype)
    for k in range(count):
        column = np.where(places > k, h[:, k], 0)
        first = h[k + 1, k]
        if np.any(column[k + 2 :] != 0) or np.imag(first) != 0:
            length = np.sqrt(np.sum(np.abs(column) ** 2))
            end = -length if np.real(first) >= 0 else length
            w = np.where(places == k + 1, 1, column / (first - end))
            tau, back = (end - first) / end, np.conj(w)
            h = h - np.conj(tau) * np.outer(w, back @ h)
            h = h - tau * np.outer(h @ w, back)
            vectors[:, k], taus[k] = w, tau
    return h, vectors, taus
