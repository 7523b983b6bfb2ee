"""Reduces matrices to Hessenberg form by reflections: scipy.linalg.hessenberg."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.lax.reflections import reduce_to_hessenberg

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
    h, vectors, taus = reduce_to_hessenberg(a, 2)
    h = np.triu(h, -1)
    if not calc_q:
        return h
    q = np.eye(h.shape[0], dtype=h.dtype)
    for k in range(taus.shape[0]):
        w = vectors[:, k]
        q = q - taus[k] * np.outer(q @ w, np.conj(w))
    return h, q
