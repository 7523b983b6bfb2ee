"""Matrices brought to a shape with zeros by reflections: scipy.linalg.hessenberg."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


def hessenberg(
    a: Any, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """The h of a = q @ h @ q^H that has zeros below its first subdiagonal; with calc_q, h and q.

    a  array of shape (n, n)

    The columns are reflected one after the other. Differentiable where none of them has zeros there
    already. Source: Golub, Van Loan, "Matrix Computations", section 7.4.

    >>> hessenberg(np.array([[1.0, 2, 3], [3, 0, 1], [4, 1, 2]]))[:, 0]
    array([ 1., -5.,  0.])
    """
    a = np.asarray(a)
    h = a * np.ones((), np.result_type(a, np.float32))  # a copy
    if h.ndim != 2 or h.shape[0] != h.shape[1]:
        raise ArgumentError(f"hessenberg: expected a square matrix, not the shape {h.shape}")
    n = operator.index(h.shape[0])
    q, places = np.eye(n, dtype=h.dtype), np.arange(n)
    for k in range(n - 1 if n > 2 else 0):
        column = np.where(places > k, h[:, k], 0)
        first = h[k + 1, k]
        if np.any(column[k + 2 :] != 0) or np.imag(first) != 0:
            length = np.sqrt(np.sum(np.abs(column) ** 2))
            end = -length if np.real(first) >= 0 else length
            w = np.where(places == k + 1, 1, column / (first - end))
            tau, back = (end - first) / end, np.conj(w)
            h = h - np.conj(tau) * np.outer(w, back @ h)
            h = h - tau * np.outer(h @ w, back)
            q = q - tau * np.outer(q @ w, back)
    h = np.triu(h, -1)
    return (h, q) if calc_q else h
