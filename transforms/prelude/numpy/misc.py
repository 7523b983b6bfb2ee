"""Implements functions of several families: histograms, polynomials, indices of functions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError

__staged__ = True  # plain NumPy code: a staged run enters it


def sort_complex(a: Any) -> Any:
    """Sorted, as complex numbers."""
    ordered = np.sort(a)
    if ordered.dtype.kind == "c":
        return ordered
    return ordered.astype(np.complex64 if ordered.dtype.char in "bhBH" else np.complex128)


def fromfunction(
    function: Any, shape: Any, /, *, dtype: Any = float, like: Any = None, **kw: Any
) -> Any:
    """The function of the indices of an array."""
    return function(*np.indices(shape, dtype=dtype), **kw)


def fromiter(iter: Any, dtype: Any, count: int = -1, *, like: Any = None) -> Any:
    """The numbers that something gives one after the other, the first `count` of them."""
    numbers = list(iter)
    if count >= 0:
        if len(numbers) < count:
            raise ValueError(
                f"iterator too short: Expected {count} but iterator had only {len(numbers)} items."
            )
        numbers = numbers[:count]
    return np.array(numbers, dtype=dtype)


def mask_indices(n: int, mask_func: Any, k: Any = 0) -> Any:
    """Where a mask of a square matrix is true."""
    return np.nonzero(mask_func(np.ones((n, n), int), k) != 0)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """Without the zeros in front and at the back."""
    filt = np.asarray(filt)
    if filt.ndim != 1:
        raise UnsupportedError("np.trim_zeros of more than one axis", "slice the array")
    nonzeros = np.flatnonzero(filt)
    if nonzeros.shape[0] == 0:
        return filt[:0]
    if set(trim.lower()) - set("fb"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    start = nonzeros[0] if "f" in trim.lower() else 0
    stop = nonzeros[-1] + 1 if "b" in trim.lower() else filt.shape[0]
    return filt[start:stop]


def insert_at(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """np.insert at the positions in an array: new elements and old ones are sorted by place."""
    arr = np.ravel(arr) if axis is None else np.asarray(arr)
    axis = 0 if axis is None else axis % arr.ndim
    if obj.ndim != 1 or obj.dtype.kind not in "iu":
        raise UnsupportedError("np.insert at positions in such an array", "give them as integers")
    n = arr.shape[axis]
    if np.any((obj < -n) | (obj > n)):
        raise IndexError(f"a position is out of bounds for axis {axis} with size {n}")
    values = np.asarray(values).astype(arr.dtype)
    values = values.reshape((1,) * (arr.ndim - values.ndim) + values.shape)
    if obj.shape[0] == 1:  # all of them go there
        obj = np.broadcast_to(obj, values.shape[axis : axis + 1])
    values = np.broadcast_to(values, (*arr.shape[:axis], obj.shape[0], *arr.shape[axis + 1 :]))
    places = np.concatenate([2 * np.where(obj < 0, obj + n, obj), 2 * np.arange(n) + 1])
    order = np.argsort(places, kind="stable")
    return np.take(np.concatenate([values, arr], axis=axis), order, axis=axis)


# -- histograms


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """Edges of bins of one width."""
    if isinstance(bins, str):
        raise UnsupportedError("np.histogram_bin_edges with a rule", "give the number of bins")
    if np.ndim(bins):
        return np.asarray(bins)
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    a = np.asarray(a)
    if range is None:
        range = (np.min(a), np.max(a)) if np.size(a) else (0.0, 1.0)
    low, high = range[0] * 1.0, range[1] * 1.0
    if low == high:
        low, high = low - 0.5, high + 0.5
    kind = a.dtype if a.dtype.kind in "fc" else np.dtype(float)
    return np.linspace(low, high, bins + 1, dtype=kind)


def cells(column: Any, bins: Any, range: Any) -> Any:
    """The edges of bins along one axis, the bin of each point, and which points are in one."""
    edges = histogram_bin_edges(column, bins, range)
    last = edges.shape[0] - 2
    place = np.searchsorted(edges, column, side="right") - 1
    place = np.where(column == edges[-1], last, place)
    return edges, np.clip(place, 0, last), (place >= 0) & (place <= last)


def grid(points: Any, bins: Any, ranges: Any) -> Any:
    """What `cells` gives, for each axis."""
    axes = range(points.shape[1].__index__())
    bins = bins if isinstance(bins, (list, tuple)) else [bins for _ in axes]
    ranges = [None for _ in axes] if ranges is None else ranges
    return [cells(points[:, k], bins[k], ranges[k]) for k in axes]


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """How many points are in each cell of a grid; their weights together, if there are any."""
    points = np.stack(sample, axis=-1) if isinstance(sample, (list, tuple)) else np.asarray(sample)
    points = points[:, None] if points.ndim == 1 else points
    axes = grid(points, bins, range)
    inside = functools.reduce(np.logical_and, [inside for _, _, inside in axes])
    counts = np.zeros(tuple(edges.shape[0] - 1 for edges, _, _ in axes))
    each = np.ones(points.shape[0]) if weights is None else np.asarray(weights) * 1.0
    np.add.at(counts, tuple(place for _, place, _ in axes), np.where(inside, each, 0.0))
    if density:
        widths = [np.diff(edges) for edges, _, _ in axes]
        counts = counts / functools.reduce(np.multiply.outer, widths) / np.sum(counts)
    return counts, tuple(edges for edges, _, _ in axes)


def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
) -> Any:
    """How many points are in each cell of a grid of two axes."""
    several = isinstance(bins, (list, tuple)) and len(bins) == 2
    counts, edges = histogramdd([x, y], bins if several else [bins, bins], range, density, weights)
    return counts, edges[0], edges[1]


# -- polynomials


def of_rows(p: Any, x: Any) -> Any:
    """np.polyval of several polynomials: a row of p has a coefficient of each."""
    x = np.asarray(x)
    dtype = np.result_type(p.dtype, x.dtype)
    values = np.zeros(np.broadcast_shapes(p.shape[1:], x.shape), dtype)
    for row in p:
        values = values * x + row
    return values


def companion(p: Any) -> Any:
    """The matrix whose eigenvalues are the roots of a polynomial."""
    n = p.shape[0] - 1
    matrix = np.eye(n, k=-1, dtype=np.result_type(p.dtype, np.float32))
    matrix[0] = -p[1:] / p[0]
    return matrix


def roots(p: Any) -> Any:
    """The roots of a polynomial, as eigenvalues: always complex numbers."""
    p = np.atleast_1d(p)
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    p = p if p.dtype.kind in "fc" else p.astype(float)
    nonzeros, dtype = np.flatnonzero(p), np.result_type(p.dtype, np.complex64)
    if nonzeros.shape[0] == 0:
        return np.zeros(0, dtype)
    zeros = np.zeros(p.shape[0] - 1 - nonzeros[-1], dtype)
    if nonzeros[0] == nonzeros[-1]:
        return zeros
    inner = p[nonzeros[0] : nonzeros[-1] + 1]
    return np.concatenate([np.linalg.eigvals(companion(inner)), zeros])


def polydiv(u: Any, v: Any) -> Any:
    """Quotient and remainder, by long division."""
    u, v = np.atleast_1d(u) + 0.0, np.atleast_1d(v) + 0.0
    m, n = u.shape[0] - 1, v.shape[0] - 1
    quotient, rest = np.zeros(max(m - n + 1, 1), np.result_type(u, v)), u.copy()
    for k in range(m - n + 1):
        quotient[k] = rest[k] / v[0]
        rest[k : k + n + 1] -= quotient[k] * v
    small = np.isclose(rest, 0, rtol=1e-14)
    kept = np.flatnonzero(~small)
    start = np.min(np.concatenate([kept, np.array([rest.shape[0] - 1])]))
    return quotient, rest[start:]


def ndarray(
    shape: Any,
    dtype: Any = float,
    buffer: Any = None,
    offset: Any = 0,
    strides: Any = None,
    order: Any = None,
) -> Any:
    """A new array, whose elements NumPy leaves undefined, or the numbers that bytes hold."""
    if strides is not None or not isinstance(buffer, (bytes, type(None))):
        raise UnsupportedError(
            "np.ndarray of memory that is there", "use np.lib.stride_tricks.as_strided, or reshape"
        )
    order = "F" if order == "F" else "C"
    if buffer is None:
        return np.empty(shape, dtype, order=order)
    return np.frombuffer(buffer, dtype, int(np.prod(shape)), offset).reshape(shape, order=order)


NUMPY = {
    np.ndarray: ndarray,
    np.fromfunction: fromfunction,
    np.fromiter: fromiter,
    np.histogram2d: histogram2d,
    np.histogram_bin_edges: histogram_bin_edges,
    np.histogramdd: histogramdd,
    np.mask_indices: mask_indices,
    np.polydiv: polydiv,
    np.roots: roots,
    np.sort_complex: sort_complex,
    np.trim_zeros: trim_zeros,
}
