"""Implements windows that slide over arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it


def _sizes(sizes: Any) -> tuple[Any, ...]:
    return tuple(sizes) if isinstance(sizes, (list, tuple)) else (sizes,)


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


def copy_strided(x: Any, shape: Any, strides: Any, apart: Any) -> Any:
    """The elements that a view of a shape has, at `strides` bytes from each other, as copies: of an
    array whose elements lie in order, `apart` elements from each other."""
    line, places, last = np.ravel(x), 0, 0
    for n, stride in zip(shape, strides, strict=True):
        step = stride // (x.itemsize * apart)
        if step * x.itemsize * apart != stride:
            raise ValueError("strides must be multiples of the distance of two elements")
        if step < 0:
            raise ValueError("strides must not be negative: the view begins before the array")
        places = np.expand_dims(places, -1) + step * np.arange(n)
        last = last + step * (n - 1)
    if last >= line.size:
        raise ValueError("the view would read beyond the array")
    return line[places]


NUMPY = {np.lib.stride_tricks.sliding_window_view: sliding_window_view}
