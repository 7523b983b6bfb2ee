"""Defines functions that take more keywords in JAX than in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.prelude.numpy.misc import companion

__staged__ = True  # plain NumPy code: a staged run enters it


# -- conversion


def astype(x: Any, dtype: Any, /, *, copy: bool = False) -> Any:
    """The array with another dtype; numbers and lists too.

    >>> import tapeless.numpy as jnp
    >>> jnp.astype(2, float)
    Array(2., dtype=float64)
    """
    return np.asarray(x).astype(float if dtype is None else dtype)


def isscalar(element: Any) -> bool:
    """Whether something is a number, or an array without axes."""
    return np.isscalar(element) or (hasattr(element, "dtype") and np.ndim(element) == 0)


def dstack(tup: Any, dtype: Any = None) -> Any:
    """np.dstack, of the dtype `dtype` where one is given."""
    stacked = np.dstack(tup)
    return stacked if dtype is None else stacked.astype(dtype)


def hstack(tup: Any, dtype: Any = None) -> Any:
    """np.hstack, of the dtype `dtype` where one is given."""
    stacked = np.hstack(tup)
    return stacked if dtype is None else stacked.astype(dtype)


def vstack(tup: Any, dtype: Any = None) -> Any:
    """np.vstack, of the dtype `dtype` where one is given."""
    stacked = np.vstack(tup)
    return stacked if dtype is None else stacked.astype(dtype)


def clip(
    arr: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> Any:
    """np.clip, with bounds that may be left out; `min` and `max` are JAX's names for them.

    >>> import tapeless.numpy as jnp
    >>> jnp.clip(jnp.array([-1.0, 2.0]), 0.0)
    Array([0., 2.], dtype=float64)
    """
    low = a_min if min is None else min
    high = a_max if max is None else max
    clipped = np.asarray(arr) if low is None and high is None else np.clip(arr, low, high)
    return clipped.copy() if clipped is arr else clipped


def count_nonzero(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """np.count_nonzero, with all arguments by place."""
    return np.count_nonzero(a, axis=axis, keepdims=keepdims)


def indices(dimensions: Any, dtype: Any = None, sparse: Any = False) -> Any:
    """np.indices; of integers by default."""
    kind: Any = int if dtype is None else dtype
    return np.indices(dimensions, kind, sparse)


# -- sorting


def descending_order(a: Any, axis: int, stable: bool) -> Any:
    """Indices that sort from the greatest; equal elements keep their order if it is stable."""
    n = a.shape[axis]
    if not stable:
        return np.flip(np.argsort(a, axis, kind="stable"), axis)
    return np.flip(n - 1 - np.argsort(np.flip(a, axis), axis, kind="stable"), axis)


def _sort_axis(name: str, a: Any, axis: int | None, kind: None, order: None) -> tuple[Any, int]:
    """What is sorted along which axis."""
    if kind is not None or order is not None:
        raise UnsupportedError(f"{name} with kind= or order=", "use stable=")
    return (np.ravel(a), 0) if axis is None else (np.asarray(a), axis)


def argsort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
    dtype: Any = None,
) -> Any:
    """np.argsort, stable; `descending` sorts from the greatest.

    >>> import tapeless.numpy as jnp
    >>> jnp.argsort(jnp.array([1, 3, 3, 2]), descending=True)
    Array([1, 2, 3, 0], dtype=int64)
    """
    line, axis = _sort_axis("jnp.argsort", a, axis, kind, order)
    if descending:
        order_of = descending_order(line, axis, stable)
    else:
        order_of = np.argsort(line, axis, kind="stable")
    return order_of if dtype is None else order_of.astype(dtype)


def sort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Any:
    """np.sort, stable; `descending` sorts from the greatest.

    >>> import tapeless.numpy as jnp
    >>> jnp.sort(jnp.array([1, 3, 2]), descending=True)
    Array([3, 2, 1], dtype=int64)
    """
    line, axis = _sort_axis("jnp.sort", a, axis, kind, order)
    in_order = np.sort(line, axis, kind="stable")
    return np.flip(in_order, axis) if descending else in_order


# -- sums and products


def own_type(a: Any, dtype: Any, promote_integers: bool) -> Any:
    """The dtype to add up in: that of integers themselves, where they are not promoted."""
    if dtype is None and not promote_integers and np.asarray(a).dtype.kind in "biu":
        return np.asarray(a).dtype
    return dtype


def reduction_keywords(initial: Any, where: Any) -> dict[str, Any]:
    """The keywords of a reduction that were given."""
    named = {"initial": initial, "where": where}
    return {name: value for name, value in named.items() if value is not None}


def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Any:
    """np.sum; small integers keep their dtype without `promote_integers`.

    >>> import tapeless.numpy as jnp
    >>> jnp.sum(jnp.array([1, 2], jnp.int8), promote_integers=False)
    Array(3, dtype=int8)
    """
    dtype = own_type(a, dtype, promote_integers)
    return np.sum(a, axis, dtype=dtype, keepdims=keepdims, **reduction_keywords(initial, where))


def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Any:
    """np.prod; small integers keep their dtype without `promote_integers`."""
    dtype = own_type(a, dtype, promote_integers)
    return np.prod(a, axis, dtype=dtype, keepdims=keepdims, **reduction_keywords(initial, where))


def histogram(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: Any = None
) -> Any:
    """np.histogram, with JAX's order of arguments.

    >>> import tapeless.numpy as jnp
    >>> jnp.histogram(jnp.array([0.5, 1.5, 0.2]), 2, (0.0, 2.0), jnp.array([2.0, 0.0, 1.0]))[0]
    Array([3., 0.], dtype=float64)
    """
    if weights is None and not density:
        return np.histogram(a, bins, range)
    each = None if weights is None else np.ravel(weights)
    points, span = np.reshape(a, (-1, 1)), None if range is None else [range]
    counts, edges = np.histogramdd(points, [bins], span, bool(density), each)
    return counts, edges[0]


# -- indices, polynomials


def ravel_multi_index(
    multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C", *, dtype: Any = None
) -> Any:
    """np.ravel_multi_index, as `dtype`."""
    positions = np.ravel_multi_index(multi_index, dims, mode=mode, order=order)
    return positions if dtype is None else positions.astype(dtype)


def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> Any:
    """The product of two polynomials; leading zeros stay, unless they are trimmed."""
    if trim_leading_zeros:
        a1, a2 = np.trim_zeros(np.atleast_1d(a1), "f"), np.trim_zeros(np.atleast_1d(a2), "f")
    return np.convolve(np.atleast_1d(a1), np.atleast_1d(a2))


def polydiv(u: Any, v: Any, *, trim_leading_zeros: bool = False) -> Any:
    """Quotient and remainder of two polynomials, by long division; leading zeros of the remainder
    stay, unless they are trimmed.

    >>> import tapeless.numpy as jnp
    >>> jnp.polydiv(jnp.array([1.0, 3.0, 2.0]), jnp.array([1.0, 1.0]))
    (Array([1., 2.], dtype=float64), Array([0., 0., 0.], dtype=float64))
    """
    u, v = np.atleast_1d(u) + 0.0, np.atleast_1d(v) + 0.0
    m, n = u.shape[0] - 1, v.shape[0] - 1
    quotient, rest = np.zeros(max(m - n + 1, 1), u.dtype), u.copy()
    for k in range(m - n + 1):
        quotient[k] = rest[k] / v[0]
        rest[k : k + n + 1] -= quotient[k] * v
    return quotient, np.trim_zeros(rest, "f") if trim_leading_zeros else rest


def roots(p: Any, *, strip_zeros: bool = True) -> Any:
    """np.roots; leading and trailing zeros must be gone without `strip_zeros`."""
    return np.roots(p) if strip_zeros else np.linalg.eigvals(companion(np.asarray(p)))
