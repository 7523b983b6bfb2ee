"""Computes distances between vectors, as scipy.spatial.distance does."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless.numpy.array_functions import follow_arguments
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


def _differences(u: Any, v: Any, w: Any) -> Any:
    return np.asarray(u) * 1.0 - v, 1.0 if w is None else np.asarray(w)


@follow_arguments
def minkowski(u: Any, v: Any, p: Any = 2, w: Any = None) -> Any:
    """The p-th root of the sum of the p-th powers of the differences, with weights w.

    Along the last axis, as all distances here; the slope is 0 where u is v.

    >>> float(minkowski(np.array([0.0, 3.0]), np.array([4.0, 0.0])))
    5.0
    """
    d, w = _differences(u, v, w)
    if p == np.inf:
        return np.max(np.abs(d) * (w != 0), axis=-1)
    total = np.sum(w * np.abs(d) ** p, axis=-1)
    return np.where(total > 0, np.where(total > 0, total, 1.0) ** (1 / p), 0.0)[()]


@follow_arguments
def euclidean(u: Any, v: Any, w: Any = None) -> Any:
    """The length of the difference."""
    return minkowski(u, v, 2, w)


@follow_arguments
def sqeuclidean(u: Any, v: Any, w: Any = None) -> Any:
    """The square of the length of the difference."""
    d, w = _differences(u, v, w)
    return np.sum(w * d * d, axis=-1)


@follow_arguments
def cityblock(u: Any, v: Any, w: Any = None) -> Any:
    """The sum of the sizes of the differences."""
    d, w = _differences(u, v, w)
    return np.sum(w * np.abs(d), axis=-1)


@follow_arguments
def chebyshev(u: Any, v: Any, w: Any = None) -> Any:
    """The greatest of the sizes of the differences."""
    d, w = _differences(u, v, w)
    return np.max(np.abs(d) * (w != 0), axis=-1)


@follow_arguments
def correlation(u: Any, v: Any, w: Any = None, centered: bool = True) -> Any:
    """One less the correlation; less the cosine of the angle, if not centered."""
    u, v = np.asarray(u) * 1.0, np.asarray(v) * 1.0
    w = 1 / u.shape[-1] if w is None else np.asarray(w) / np.sum(w)
    if centered:
        u = u - np.sum(w * u, axis=-1, keepdims=True)
        v = v - np.sum(w * v, axis=-1, keepdims=True)
    uv, uu, vv = (np.sum(w * a * b, axis=-1) for a, b in ((u, v), (u, u), (v, v)))
    return np.clip(1 - uv / np.sqrt(uu * vv), 0.0, 2.0)


@follow_arguments
def cosine(u: Any, v: Any, w: Any = None) -> Any:
    """One less the cosine of the angle."""
    return correlation(u, v, w, centered=False)


@follow_arguments
def canberra(u: Any, v: Any, w: Any = None) -> Any:
    """The sum of the sizes of the differences, each by the sizes of both numbers."""
    d, w = _differences(u, v, w)
    both = np.abs(u) + np.abs(v)
    return np.sum(np.where(both > 0, w * np.abs(d) / np.where(both > 0, both, 1.0), 0.0), axis=-1)


@follow_arguments
def braycurtis(u: Any, v: Any, w: Any = None) -> Any:
    """The sizes of the differences by those of the sums."""
    d, w = _differences(u, v, w)
    return np.sum(w * np.abs(d), axis=-1) / np.sum(w * np.abs(np.asarray(u) + v), axis=-1)


@follow_arguments
def seuclidean(u: Any, v: Any, V: Any) -> Any:  # noqa: N803 (SciPy's)
    """The length of the difference, where each component has a variance V."""
    return minkowski(u, v, 2, 1 / np.asarray(V))


@follow_arguments
def mahalanobis(u: Any, v: Any, VI: Any) -> Any:  # noqa: N803 (SciPy's)
    """The length of the difference by the inverse VI of a covariance."""
    d = np.asarray(u) * 1.0 - v
    total = np.sum(d @ np.asarray(VI) * d, axis=-1)
    return np.where(total > 0, np.sqrt(np.where(total > 0, total, 1.0)), 0.0)[()]


METRICS: dict[str, Any] = {
    f.__name__: f
    for f in (
        *(minkowski, euclidean, sqeuclidean, cityblock, chebyshev, correlation, cosine, canberra),
        *(braycurtis, seuclidean, mahalanobis),
    )
}


@follow_arguments
def cdist(XA: Any, XB: Any, metric: Any = "euclidean", **options: Any) -> Any:  # noqa: N803 (SciPy's)
    """The distances of all rows of XA, shape (n, d), from all of XB, (m, d): an array (n, m).

    metric   the name of a function here
    options  what that takes: p, w, V, VI

    Raises ValueError for another metric, and for other shapes.

    >>> cdist(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[5., 1.]])
    """
    a, b = np.asarray(XA), np.asarray(XB)
    if a.ndim != 2 or b.ndim != 2:
        raise ArgumentError("cdist: takes matrices, whose rows are the points")
    if metric not in METRICS:
        raise ArgumentError(f"cdist: metric must be one of {', '.join(METRICS)}, not {metric!r}")
    if metric == "seuclidean" and not options:
        options = {"V": np.var(np.concatenate([a, b]), axis=0, ddof=1)}
    if metric == "mahalanobis" and not options:
        options = {"VI": np.linalg.inv(np.atleast_2d(np.cov(np.concatenate([a, b]).T)))}
    return METRICS[metric](a[:, None, :], b[None, :, :], **options)


@follow_arguments
def pdist(X: Any, metric: Any = "euclidean", **options: Any) -> Any:  # noqa: N803 (SciPy's)
    """The distances of each row from those behind it, one after the other. See `cdist`.

    >>> pdist(np.array([[0.0], [1.0], [5.0]]))
    array([1., 5., 4.])
    """
    x = np.asarray(X)
    if metric == "seuclidean" and not options:
        options = {"V": np.var(x, axis=0, ddof=1)}
    if metric == "mahalanobis" and not options:
        options = {"VI": np.linalg.inv(np.atleast_2d(np.cov(x.T)))}
    return cdist(x, x, metric, **options)[np.triu_indices(x.shape[0], 1)]


@follow_arguments
def squareform(X: Any, force: str = "no", checks: bool = True) -> Any:  # noqa: N803 (SciPy's)
    """The distances of `pdist` as a symmetric matrix; of such a matrix, those of `pdist`.

    >>> squareform(np.array([1.0, 5.0, 4.0]))
    array([[0., 1., 5.],
           [1., 0., 4.],
           [5., 4., 0.]])
    """
    x = np.asarray(X)
    if x.ndim == 2:
        return x[np.triu_indices(x.shape[0], 1)]
    n = round((1 + (1 + 8 * operator.index(x.shape[0])) ** 0.5) / 2)
    if n * (n - 1) != 2 * x.shape[0]:
        raise ArgumentError(f"squareform: {x.shape[0]} distances are not those of a set of points")
    square = np.zeros((n, n), x.dtype)
    square[np.triu_indices(n, 1)] = x
    return square + square.T


__all__ = [*METRICS, "cdist", "pdist", "squareform"]
