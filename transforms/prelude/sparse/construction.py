"""Makes sparse matrices of what the constructors and functions of scipy.sparse take."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.prelude.sparse.entries import (
    WAY_OUT,
    SparseMatrix,
    as_sparse,
    is_sparse,
)

__staged__ = True  # plain code: a staged run enters it


def make_matrix(format: str, arraylike: bool, arg: Any, shape: Any, dtype: Any) -> Any:
    """csr_matrix(arg, shape, dtype), and its like of other formats."""
    if is_sparse(arg):
        matrix = as_sparse(arg).asformat(format)
        places = matrix.rows, matrix.cols
        matrix = SparseMatrix(matrix.entries, places, matrix.shape, format, arraylike)
    elif isinstance(arg, tuple) and len(arg) == 2 and np.ndim(arg[0]) == 0:
        places = np.zeros(0, int), np.zeros(0, int)
        matrix = SparseMatrix(np.zeros(0), places, arg, format, arraylike)
    elif isinstance(arg, tuple) and format == "dia":
        matrix = of_diagonals(np.atleast_2d(arg[0]), np.atleast_1d(arg[1]), shape, arraylike)
    elif isinstance(arg, tuple) and len(arg) == 2:
        matrix = of_places(np.asarray(arg[0]), arg[1], shape, format, arraylike)
    elif isinstance(arg, tuple):
        matrix = of_rows(arg, shape, format, arraylike)
    else:
        matrix = of_array(np.asarray(arg), format, arraylike)
    return matrix if dtype is None else matrix.astype(dtype)


def of_places(data: Any, places: Any, shape: Any, format: str, arraylike: bool) -> Any:
    """data[k] at places[0][k], places[1][k]"""
    rows, cols = np.array(places[0]), np.array(places[1])  # which may be stored to later
    if data.ndim != 1 or data.shape[0] != rows.shape[0] or data.shape[0] != cols.shape[0]:
        raise ValueError("all index and data arrays must have the same length")
    if shape is None:
        if len(rows) == 0:
            raise ValueError("cannot infer dimensions from zero sized index arrays")
        shape = (int(np.max(rows)) + 1, int(np.max(cols)) + 1)
    require_inside(rows, shape[0], "0")
    require_inside(cols, shape[1], "1")
    return SparseMatrix(data, (rows, cols), shape, format, arraylike)


def require_inside(places: Any, n: Any, axis: str) -> None:
    if len(places) == 0:
        return
    if np.max(places) >= n:
        raise ValueError(f"axis {axis} index {np.max(places)} exceeds matrix dimension {n}")
    if np.min(places) < 0:
        raise ValueError(f"negative axis {axis} index: {np.min(places)}")


def of_rows(arg: Any, shape: Any, format: str, arraylike: bool) -> Any:
    """(data, indices, indptr): the entries row by row, or column by column."""
    data, inner, starts = map(np.asarray, arg)
    count = len(starts) - 1
    outer = np.repeat(np.arange(count), np.diff(starts))
    if shape is None:
        width = int(np.max(inner)) + 1
        shape = (count, width) if format == "csr" else (width, count)
    places = (outer, inner) if format == "csr" else (inner, outer)
    return of_places(data, places, shape, format, arraylike)


def of_array(whole: Any, format: str, arraylike: bool) -> Any:
    """All elements of an array, also those that are zero: others may be in another call."""
    if whole.ndim != 2:
        raise UnsupportedError("a sparse matrix of an array that has not two axes", WAY_OUT)
    rows, cols = whole.shape
    places = np.repeat(np.arange(rows), cols), np.tile(np.arange(cols), rows)
    return SparseMatrix(whole.flatten(), places, whole.shape, format, arraylike)


def of_diagonals(data: Any, offsets: Any, shape: Any, arraylike: bool) -> Any:
    """Element c of a row of `data` is in column c."""
    entries, rows, cols = [], [], []
    width = min(shape[1], data.shape[1])
    for k, offset in enumerate(offsets):
        first, end = max(offset, 0), max(offset, 0, min(width, shape[0] + offset))
        numbers = np.arange(first, end)
        entries.append(data[k, first:end])
        rows.append(numbers - offset)
        cols.append(numbers)
    places = np.concatenate(rows), np.concatenate(cols)
    return SparseMatrix(np.concatenate(entries), places, shape, "dia", arraylike)


def diagonal_matrix(
    diagonals: Any, offsets: Any, shape: Any, format: Any, dtype: Any, arraylike: bool
) -> Any:
    """diags(diagonals, offsets, shape, format, dtype)"""
    if np.ndim(offsets) == 0:
        single = np.ndim(diagonals) == 1 and np.ndim(diagonals[0]) == 0
        diagonals = [np.atleast_1d(np.asarray(diagonals))] if single else diagonals
        offsets = [offsets]
    parts = [np.atleast_1d(np.asarray(d)) for d in diagonals]
    if len(parts) != len(offsets):
        raise ValueError("Different number of diagonals and offsets.")
    if shape is None:
        n = len(parts[0]) + abs(offsets[0])
        shape = (n, n)
    entries, rows, cols = [], [], []
    for part, offset in zip(parts, offsets, strict=True):
        n = min(shape[0] + offset, shape[1] - offset, min(shape[0], shape[1]))
        if n < 0:
            raise ValueError(f"Offset {offset} (index 0) out of bounds")
        if len(part) < n and len(part) != 1:
            raise ValueError(
                f"Diagonal length (index 0: {len(part)} at offset {offset}) does not agree with "
                f"array size ({shape[0]}, {shape[1]})."
            )
        entries.append(np.broadcast_to(part[:n], (n,)))
        rows.append(np.arange(n) + max(-offset, 0))
        cols.append(np.arange(n) + max(offset, 0))
    data = np.concatenate(entries)
    if dtype is not None:
        data = data.astype(dtype)
    elif data.dtype.kind not in "fc":
        data = data.astype(float)
    places = np.concatenate(rows), np.concatenate(cols)
    return SparseMatrix(data, places, shape, format or "dia", arraylike)


def identity_matrix(m: Any, n: Any, k: int, dtype: Any, format: Any, arraylike: bool) -> Any:
    """eye(m, n, k, dtype, format)"""
    n = m if n is None else n
    count = max(min(m + min(k, 0), n - max(k, 0)), 0)
    places = np.arange(count) + max(-k, 0), np.arange(count) + max(k, 0)
    return SparseMatrix(np.ones(count, dtype), places, (m, n), format or "dia", arraylike)


def any_sparse(value: Any) -> Any:
    return as_sparse(value) if is_sparse(value) else of_array(np.asarray(value), "coo", False)


def kronecker_product(a: Any, b: Any, format: Any = None) -> Any:
    """kron(a, b, format)"""
    arraylike = any(is_sparse(x) and as_sparse(x).arraylike for x in (a, b))
    a, b = any_sparse(a), any_sparse(b)
    places = [
        np.ravel(p[:, None] * n + q)
        for p, q, n in ((a.rows, b.rows, b.shape[0]), (a.cols, b.cols, b.shape[1]))
    ]
    shape = (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])
    entries = np.ravel(a.entries[:, None] * b.entries)
    return SparseMatrix(entries, places, shape, format or "coo", arraylike)


def block_matrix(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    """bmat(blocks, format, dtype): None is a block of zeros."""
    heights = [next(any_sparse(b).shape[0] for b in line if b is not None) for line in blocks]
    widths = [
        next(any_sparse(line[k]).shape[1] for line in blocks if line[k] is not None)
        for k in range(len(blocks[0]))
    ]
    entries, rows, cols, arraylike, top = [], [], [], False, 0
    for line, height in zip(blocks, heights, strict=True):
        at = 0
        for block, width in zip(line, widths, strict=True):
            if block is not None:
                arraylike = arraylike or (is_sparse(block) and as_sparse(block).arraylike)
                matrix = any_sparse(block)
                if matrix.shape[0] != height or matrix.shape[1] != width:
                    raise ValueError("incompatible dimensions of blocks")
                entries.append(matrix.entries)
                rows.append(matrix.rows + top)
                cols.append(matrix.cols + at)
            at = at + width
        top = top + height
    places = np.concatenate(rows), np.concatenate(cols)
    data = np.concatenate(entries)
    data = data if dtype is None else data.astype(dtype)
    return SparseMatrix(data, places, (sum(heights), sum(widths)), format or "coo", arraylike)


def block_diagonal(mats: Any, format: Any = None, dtype: Any = None) -> Any:
    """block_diag(mats, format, dtype)"""
    count = len(mats)
    return block_matrix(
        [[m if j == k else None for j in range(count)] for k, m in enumerate(mats)], format, dtype
    )
