"""Implements sparse matrices whose elements are stored one by one: lil_matrix and dok_matrix.

A[i, j] = v      is a store to an array of all elements, and notes that there is an entry
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.prelude.sparse.entries import WAY_OUT, SparseMatrix, as_sparse, is_sparse

__staged__ = True  # plain code: a staged run enters it

MOST = 25_000_000  # elements that are kept as an array


class GrowingMatrix(SparseMatrix):
    """A matrix with all its elements, and which of them are entries."""

    def __init__(self, whole: Any, stored: Any, format: str, arraylike: bool) -> None:
        self.whole, self.stored = whole, stored
        self.shape, self.format, self.arraylike = whole.shape, format, arraylike

    @property
    def rows(self) -> Any:
        return np.nonzero(self.stored)[0]

    @property
    def cols(self) -> Any:
        return np.nonzero(self.stored)[1]

    @property
    def entries(self) -> Any:
        return self.whole[np.nonzero(self.stored)]

    @property
    def dtype(self) -> Any:
        return self.whole.dtype

    def with_entries(self, data: Any) -> Any:
        return SparseMatrix(data, np.nonzero(self.stored), self.shape, "csr", self.arraylike)

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        return GrowingMatrix(self.whole.T.copy(), self.stored.T.copy(), "lil", self.arraylike)

    def asformat(self, format: Any, copy: bool = False) -> Any:
        if format is None or format == self.format:
            return self
        if format not in ("coo", "csr", "csc", "dia", "bsr"):
            raise UnsupportedError(f"a sparse matrix as {format} has no rule", WAY_OUT)
        places = np.nonzero(self.stored)
        return SparseMatrix(self.whole[places], places, self.shape, format, self.arraylike)

    def copy(self) -> Any:
        return GrowingMatrix(self.whole.copy(), self.stored.copy(), self.format, self.arraylike)

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        if out is not None:
            raise UnsupportedError("toarray(out=...) of a sparse matrix", WAY_OUT)
        return self.whole.copy()

    def __getitem__(self, key: Any) -> Any:
        if is_element(key):
            return self.whole[key]
        return self.asformat("csr")[key].asformat("csr")

    def __setitem__(self, key: Any, value: Any) -> None:
        axes = [np.ndim(part) for part in key if not isinstance(part, slice)] if pair(key) else []
        if axes == [1, 1] and np.ndim(value) == 2:
            raise UnsupportedError("a store to a sparse matrix at two arrays of indices", WAY_OUT)
        self.whole[key] = as_sparse(value).toarray() if is_sparse(value) else value
        self.stored[key] = True

    def setdiag(self, values: Any, k: int = 0) -> None:
        n = len(self.diagonal(k))
        values = np.asarray(values)
        n = n if values.ndim == 0 else min(n, len(values))
        places = np.arange(n) + max(-k, 0), np.arange(n) + max(k, 0)
        self[places] = values if values.ndim == 0 else values[:n]


def pair(key: Any) -> bool:
    return isinstance(key, tuple) and len(key) == 2


def is_element(key: Any) -> bool:
    """Whether an index is of one element."""
    return pair(key) and all(np.ndim(k) == 0 and not isinstance(k, slice) for k in key)


def make_growing(format: str, arraylike: bool, arg: Any, shape: Any, dtype: Any) -> Any:
    """lil_matrix(arg, shape, dtype)"""
    empty = isinstance(arg, tuple) and len(arg) == 2 and np.ndim(arg[0]) == 0
    if is_sparse(arg):
        matrix = as_sparse(arg)
        whole, stored = matrix.toarray(), np.zeros(matrix.shape, bool)
        stored[matrix.rows, matrix.cols] = True
    elif empty:
        if isinstance(arg[0], int) and isinstance(arg[1], int) and arg[0] * arg[1] > MOST:
            raise UnsupportedError(f"a {format}_matrix of more than {MOST} elements", WAY_OUT)
        whole, stored = np.zeros(arg, float if dtype is None else dtype), np.zeros(arg, bool)
    else:
        whole = np.array(arg)
        stored = np.ones(whole.shape, bool)
    return GrowingMatrix(whole if dtype is None else whole.astype(dtype), stored, format, arraylike)
