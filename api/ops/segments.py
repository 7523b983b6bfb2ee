"""Reduces the rows of an array that belong to one segment: `segment_sum` and its kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

__staged__ = True  # plain NumPy code: a staged run enters it

MODES = (None, "fill", "drop", "clip", "promise_in_bounds")


def segment_sum(
    data: Any,
    segment_ids: Any,
    num_segments: Any = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: Any = None,
    mode: Any = None,
) -> Any:
    """The sum of the rows of each segment, 0 for one that has none.

    data          array of shape (n, ...)
    segment_ids   integers of shape (n,): which segment a row belongs to
    num_segments  how many segments there are; by default as many as the largest of segment_ids asks
                  for, a length that is known when the program runs
    mode          of rows outside of the segments: 'drop' (the default, also called 'fill') leaves
                  them out, 'clip' adds them to the first or the last segment

    indices_are_sorted, unique_indices and bucket_size are what JAX takes to be faster; they do not
    change the result.

    Returns an array of shape (num_segments, ...). Differentiable in data. Raises ValueError for
    shapes that do not fit and another mode, TypeError for segment_ids that are no integers.

    >>> segment_sum(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0]))
    array([5., 2.])
    """
    data, ids, n = _check_segments(
        "segment_sum", data, segment_ids, num_segments, bucket_size, mode
    )
    out = np.zeros((n + 1, *data.shape[1:]), data.dtype)
    np.add.at(out, ids, data)
    return out[:n]


def segment_prod(
    data: Any,
    segment_ids: Any,
    num_segments: Any = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: Any = None,
    mode: Any = None,
) -> Any:
    """The product of the rows of each segment, 1 for one that has none.

    Arguments and errors are those of `segment_sum`.

    >>> segment_prod(np.array([3.0, 2.0, 4.0]), np.array([0, 1, 0]), num_segments=3)
    array([12.,  2.,  1.])
    """
    data, ids, n = _check_segments(
        "segment_prod", data, segment_ids, num_segments, bucket_size, mode
    )
    out = np.ones((n + 1, *data.shape[1:]), data.dtype)
    for row, segment in zip(data, ids, strict=True):
        out[segment] = out[segment] * row
    return out[:n]


def segment_max(
    data: Any,
    segment_ids: Any,
    num_segments: Any = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: Any = None,
    mode: Any = None,
) -> Any:
    """The largest of the rows of each segment, element by element; -inf for one that has none, or
    the least integer.

    Arguments and errors are those of `segment_sum`.

    >>> segment_max(np.array([3.0, 2.0, 4.0]), np.array([0, 1, 0]), num_segments=3)
    array([  4.,   2., -inf])
    """
    data, ids, n = _check_segments(
        "segment_max", data, segment_ids, num_segments, bucket_size, mode
    )
    out = np.full((n + 1, *data.shape[1:]), _least_value(data.dtype), data.dtype)
    np.maximum.at(out, ids, data)
    return out[:n]


def segment_min(
    data: Any,
    segment_ids: Any,
    num_segments: Any = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: Any = None,
    mode: Any = None,
) -> Any:
    """The smallest of the rows of each segment, element by element; inf for one that has none, or
    the greatest integer.

    Arguments and errors are those of `segment_sum`.

    >>> segment_min(np.array([3.0, 2.0, 4.0]), np.array([0, 1, 0]), num_segments=3)
    array([ 3.,  2., inf])
    """
    data, ids, n = _check_segments(
        "segment_min", data, segment_ids, num_segments, bucket_size, mode
    )
    out = np.full((n + 1, *data.shape[1:]), _greatest(data.dtype), data.dtype)
    np.minimum.at(out, ids, data)
    return out[:n]


def _check_segments(
    name: str, data: Any, segment_ids: Any, num_segments: Any, bucket_size: Any, mode: Any
) -> Any:
    """The data, the segments of its rows, and how many there are; rows that are left out get one
    more segment, behind the last."""
    data, ids = np.asarray(data), np.asarray(segment_ids)
    if mode not in MODES:
        raise ArgumentError(f"{name}: mode must be one of 'drop', 'clip', not {mode!r}")
    if ids.dtype.kind not in "iu":
        raise ArgumentTypeError(f"{name}: segment_ids has dtype {ids.dtype}, and must be integers")
    if ids.ndim != 1 or data.ndim < 1 or len(ids) != len(data):
        raise ArgumentError(
            f"{name}: segment_ids has shape {ids.shape}, and data {data.shape}",
            "give one segment for each row of data",
        )
    if bucket_size is not None and bucket_size < 1:
        raise ArgumentError(f"{name}: bucket_size must be positive, not {bucket_size}")
    if num_segments is None:
        n = np.max(ids, initial=-1) + 1
    elif num_segments < 0:
        raise ArgumentError(f"{name}: num_segments must not be negative, and is {num_segments}")
    else:
        n = num_segments
    if mode == "clip":
        return data, np.clip(ids, 0, n - 1), n
    return data, np.where((ids < 0) | (ids >= n), n, ids), n


def _least_value(dtype: Any) -> Any:
    if dtype.kind == "b":
        return False
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _greatest(dtype: Any) -> Any:
    if dtype.kind == "b":
        return True
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf
