"""Windows that slide over arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it


def _sizes(given: Any) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, (list, tuple)) else (given,)


def _slid(x: Any, size: Any, axis: int) -> Any:
    """The windows along one axis; their elements lie along a new last axis."""
    if size > x.shape[axis]:
        raise ValueError("window shape cannot be larger than input array shape")
    lead = (slice(None),) * axis
    count = x.shape[axis] - size + 1
    windows = np.empty((*x.shape[:axis], count, *x.shape[axis + 1 :], size), x.dtype)
    for k in range(size):
        windows[..., k] = x[(*lead, slice(k, k + count))]
    return windows


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """All windows of a shape, as copies: `np.lib.stride_tricks.sliding_window_view`."""
    x, sizes = np.asarray(x), _sizes(window_shape)
    axes = tuple(range(x.ndim)) if axis is None else _sizes(axis)
    if len(sizes) != len(axes):
        raise ValueError(
            f"Must provide matching length window_shape and axis; "
            f"got {len(sizes)} window_shape elements and {len(axes)} axes elements."
        )
    ndim = x.ndim
    for size, k in zip(sizes, axes, strict=True):
        x = _slid(x, size, k % ndim)
    return x


NUMPY = {np.lib.stride_tricks.sliding_window_view: sliding_window_view}
