"""Implements sparse matrices that a function makes: the entries, and where they are.

A = coo_matrix((data, (rows, cols)))      A @ x adds data[k] * x[cols[k]] to element rows[k]

Several entries at one place add up, so that what is linear in the entries is done entry by entry.
What is not here is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError

__staged__ = True  # plain code: a staged run enters it

WAY_OUT = "work with the array that .toarray() gives"
#: What SciPy's have, and these do not.
OTHERS = frozenset(
    [
        *("arcsin", "arcsinh", "arctan", "arctanh", "argmax", "argmin", "asfptype", "blocksize"),
        *("ceil", "check_format", "col", "coords", "count_nonzero", "data", "deg2rad"),
        *("eliminate_zeros", "expm1", "floor", "getH", "get_shape", "getcol", "getformat"),
        *("getmaxprint", "getnnz", "getrow", "getrowview", "has_canonical_format"),
        *("has_sorted_indices", "imag", "indices", "indptr", "log1p", "max", "maximum"),
        *("maxprint", "mean", "min", "minimum", "nanmax", "nanmin", "nnz", "nonzero", "offsets"),
        *("power", "prune", "rad2deg", "real", "reshape", "resize", "rint", "row", "rows"),
        *("set_shape", "setdiag", "sign", "sin", "sinh", "size", "sort_indices"),
        *("sorted_indices", "sqrt", "sum_duplicates", "tan", "tanh", "tensordot", "tobsr"),
        *("todok", "tolil", "trunc"),
    ]
)


class SparseMatrix:
    """The methods of matrices and arrays of scipy.sparse that have a rule.

    data, rows, cols  the entries and their places, of one axis
    shape             the lengths of both axes
    format            what SciPy calls it
    arraylike         whether `*` is that of arrays, as of csr_array, and not the product
    """

    __array_ufunc__ = None  # operators of plain arrays leave it to those of this class
    __stays_inside__ = "return the array that .toarray() gives"

    def __init__(
        self, data: Any, places: Any, shape: Any, format: str = "csr", arraylike: bool = False
    ) -> None:
        self.entries, self.rows, self.cols = data, places[0], places[1]
        self.shape, self.format, self.arraylike = shape, format, arraylike

    def __getattr__(self, name: str) -> Any:
        if name in OTHERS:
            raise UnsupportedError(f".{name} of a sparse matrix has no rule", WAY_OUT)
        raise AttributeError(f"a sparse matrix has no attribute '{name}'")

    @property
    def ndim(self) -> int:
        return 2

    @property
    def dtype(self) -> Any:
        return self.entries.dtype

    @property
    def T(self) -> Any:  # noqa: N802 (SciPy's)
        return self.transpose()

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        turned = {"csr": "csc", "csc": "csr"}.get(self.format, self.format)
        places, shape = (self.cols, self.rows), (self.shape[1], self.shape[0])
        return SparseMatrix(self.entries, places, shape, turned, self.arraylike)

    def conjugate(self, copy: bool = True) -> Any:
        return self.with_entries(np.conjugate(self.entries))

    def conj(self, copy: bool = True) -> Any:
        return self.conjugate()

    def with_entries(self, data: Any) -> Any:
        """The matrix with these entries at the same places."""
        return SparseMatrix(data, (self.rows, self.cols), self.shape, self.format, self.arraylike)

    def asformat(self, format: Any, copy: bool = False) -> Any:
        if format is None or format == self.format:
            return self.copy() if copy else self
        if format not in ("coo", "csr", "csc", "dia", "bsr"):
            raise UnsupportedError(f"a sparse matrix as {format} has no rule", WAY_OUT)
        places = self.rows, self.cols
        return SparseMatrix(self.entries.copy(), places, self.shape, format, self.arraylike)

    def tocsr(self, copy: bool = False) -> Any:
        return self.asformat("csr", copy)

    def tocsc(self, copy: bool = False) -> Any:
        return self.asformat("csc", copy)

    def tocoo(self, copy: bool = False) -> Any:
        return self.asformat("coo", copy)

    def todia(self, copy: bool = False) -> Any:
        return self.asformat("dia", copy)

    def copy(self) -> Any:
        return self.with_entries(self.entries.copy())

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> Any:
        return self.with_entries(self.entries.astype(dtype))

    def toarray(self, order: Any = None, out: Any = None) -> Any:
        if out is not None:
            raise UnsupportedError("toarray(out=...) of a sparse matrix", WAY_OUT)
        whole = np.zeros(self.shape, self.entries.dtype)
        np.add.at(whole, (self.rows, self.cols), self.entries)
        return whole

    def todense(self, order: Any = None, out: Any = None) -> Any:
        return self.as_result(self.toarray())

    def as_result(self, whole: Any) -> Any:
        """An array of two axes, as SciPy gives it: matrices give a matrix of NumPy."""
        return whole if self.arraylike else np.asmatrix(whole)

    def diagonal(self, k: int = 0) -> Any:
        rows, cols = self.shape
        if k <= -rows or k >= cols:
            return np.zeros(0, self.entries.dtype)
        out = np.zeros(min(rows + min(k, 0), cols - max(k, 0)), self.entries.dtype)
        hits = self.cols - self.rows == k
        places = np.where(hits, np.minimum(self.rows, self.cols), 0)
        np.add.at(out, places, np.where(hits, self.entries, 0))
        return out

    def trace(self, offset: int = 0) -> Any:
        return self.diagonal(offset).sum()

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if dtype is not None or out is not None:
            raise UnsupportedError("sum of a sparse matrix with dtype= or out=", WAY_OUT)
        if axis is None:
            return self.entries.sum()
        axis %= 2
        totals = np.zeros(self.shape[1 - axis], self.entries.dtype)
        np.add.at(totals, self.rows if axis else self.cols, self.entries)
        if self.arraylike:
            return totals
        return np.asmatrix(totals[:, None] if axis else totals[None, :])

    def dot(self, other: Any) -> Any:
        return self * other if np.ndim(other) == 0 and not is_sparse(other) else self @ other

    def multiply(self, other: Any) -> Any:
        """The products of elements."""
        if is_sparse(other):
            raise UnsupportedError("products of elements of two sparse matrices", WAY_OUT)
        factors = np.asarray(other)
        if factors.ndim:
            factors = np.broadcast_to(factors, self.shape)[self.rows, self.cols]
        return self.with_entries(self.entries * factors).asformat("coo")

    def __matmul__(self, other: Any) -> Any:
        if is_sparse(other):
            return product_of_sparse(self, as_sparse(other))
        other = np.asarray(other)
        if other.ndim not in (1, 2):
            raise ValueError("matmul: Input operand 1 does not have enough dimensions")
        if other.shape[0] != self.shape[1]:
            raise ValueError("matmul: dimension mismatch with signature (n,k=?),(k=?)->(n)")
        factors = self.entries if other.ndim == 1 else self.entries[:, None]
        terms = factors * other[self.cols]
        out = np.zeros((self.shape[0], *other.shape[1:]), terms.dtype)
        np.add.at(out, self.rows, terms)
        return out

    def __rmatmul__(self, other: Any) -> Any:
        if is_sparse(other):
            return product_of_sparse(as_sparse(other), self)
        return (self.T @ np.asarray(other).T).T

    def __mul__(self, other: Any) -> Any:
        if not is_sparse(other) and np.ndim(other) == 0:
            return self.with_entries(self.entries * other)
        return self.multiply(other) if self.arraylike else self @ other

    def __rmul__(self, other: Any) -> Any:
        if not is_sparse(other) and np.ndim(other) == 0:
            return self.with_entries(other * self.entries)
        return self.multiply(other) if self.arraylike else other @ self

    def __truediv__(self, other: Any) -> Any:
        if is_sparse(other) or np.ndim(other):
            raise UnsupportedError("a quotient of a sparse matrix and an array", WAY_OUT)
        return self.with_entries(self.entries / other)

    def __neg__(self) -> Any:
        return self.with_entries(-self.entries)

    def __add__(self, other: Any) -> Any:
        if is_sparse(other):
            return sum_of_sparse(self, as_sparse(other))
        if np.ndim(other) == 2:
            return self.as_result(self.toarray() + np.asarray(other))
        if isinstance(other, int) and other == 0:
            return self.copy()
        raise NotImplementedError("adding a nonzero scalar to a sparse matrix is not supported")

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        return self + (as_sparse(other) if is_sparse(other) else np.asarray(other)) * -1

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            key = (key, slice(None))
        if len(key) != 2:
            raise IndexError("too many indices for array")
        numbers = [np.ndim(part) == 0 and not isinstance(part, slice) for part in key]
        if all(numbers):
            at = [as_position(k, n) for k, n in zip(key, self.shape, strict=True)]
            hits = (self.rows == at[0]) & (self.cols == at[1])
            return np.where(hits, self.entries, 0).sum()
        if self.arraylike and any(numbers):
            raise UnsupportedError("a row or column of a sparse array", WAY_OUT)
        axes = [np.ndim(part) for part in key if not isinstance(part, slice)]
        if axes == [1, 1]:
            raise UnsupportedError("elements of a sparse matrix at two arrays of indices", WAY_OUT)
        rows, count = part_of_axis(self.rows, self.shape[0], key[0])
        cols, width = part_of_axis(self.cols, self.shape[1], key[1])
        kept = (rows >= 0) & (cols >= 0)
        places = np.where(kept, rows, 0), np.where(kept, cols, 0)
        data = np.where(kept, self.entries, 0)
        return SparseMatrix(data, places, (count, width), self.format, self.arraylike)


def _refuse_method(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        raise UnsupportedError(f"{name} of a sparse matrix has no rule", WAY_OUT)

    return method


for _name in (
    *("abs", "pow", "rpow", "mod", "rmod", "floordiv", "rfloordiv", "rtruediv", "and", "or", "xor"),
    *("imul", "itruediv", "imatmul", "ipow", "invert", "setitem", "iter", "contains", "len"),
    *("lt", "le", "gt", "ge", "eq", "ne", "bool", "float", "int", "round", "array"),
    *("repr", "str", "format"),
):
    setattr(SparseMatrix, f"__{_name}__", _refuse_method(f"__{_name}__"))
SparseMatrix.__hash__ = object.__hash__  # type: ignore[method-assign]  # as of SciPy's


def as_position(k: Any, n: Any) -> Any:
    """An index of an axis, counted from its start."""
    return np.arange(n)[k]


def part_of_axis(places: Any, n: Any, key: Any) -> Any:
    """Where the places of an axis of length n are in a part of it, -1 of those that are not in it;
    and the length of the part."""
    if isinstance(key, slice) and key == slice(None):
        return places, n
    index = key if isinstance(key, slice) else np.ravel(np.asarray(key))
    kept = np.arange(n)[index]
    count = len(kept)
    numbers = np.full(n, -1)
    numbers[kept] = np.arange(count)
    by_places = not isinstance(index, slice) and index.dtype.kind != "b"
    if by_places and np.any(numbers[kept] != np.arange(count)):
        raise NotImplementedError("a row or column of a sparse matrix that is taken twice")
    return numbers[places], count


def is_sparse(value: Any) -> bool:
    """Whether it is a matrix of scipy.sparse, or stands for one."""
    return isinstance(value, SparseMatrix) or hasattr(value, "tocoo")


def as_sparse(value: Any) -> Any:
    """It as one of ours."""
    if isinstance(value, SparseMatrix):
        return value
    entries = value.tocoo()
    places, arraylike = (entries.row, entries.col), not hasattr(value, "getrow")
    return SparseMatrix(entries.data, places, entries.shape, value.format, arraylike)


def sum_of_sparse(a: Any, b: Any) -> Any:
    if a.shape[0] != b.shape[0] or a.shape[1] != b.shape[1]:
        raise ValueError("inconsistent shapes")
    entries = np.concatenate([a.entries, b.entries])
    places = np.concatenate([a.rows, b.rows]), np.concatenate([a.cols, b.cols])
    same = a.format == b.format
    arraylike = a.arraylike or b.arraylike
    return SparseMatrix(entries, places, a.shape, a.format if same else "csr", arraylike)


def product_of_sparse(a: Any, b: Any) -> Any:
    """Each entry of `a` times those of `b` in the row that is its column."""
    if a.shape[1] != b.shape[0]:
        raise ValueError("matmul: dimension mismatch with signature (n,k=?),(k=?,m)->(n,m)")
    order = np.argsort(b.rows, kind="stable")
    starts = np.searchsorted(b.rows[order], np.arange(b.shape[0] + 1))
    firsts, counts = starts[a.cols], starts[a.cols + 1] - starts[a.cols]
    left = np.repeat(np.arange(len(a.cols)), counts)
    number = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
    right = order[firsts[left] + number]
    places, shape = (a.rows[left], b.cols[right]), (a.shape[0], b.shape[1])
    arraylike = a.arraylike or b.arraylike
    return SparseMatrix(a.entries[left] * b.entries[right], places, shape, "csr", arraylike)
