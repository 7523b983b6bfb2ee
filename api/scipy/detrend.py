"""Removes a constant or linear trend from signals: scipy.signal.detrend."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapeless.numpy.array_functions import follow_arguments
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


@follow_arguments
def detrend(
    data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: None = None
) -> Any:
    """The data without their trend.

    axis  along which they lie
    type  'linear': the best straight line is taken away; 'constant': the mean
    bp    where a new line begins: integers

    Raises ValueError for another type, and for a bp outside.

    >>> detrend(np.array([1.0, 3.0, 5.5, 7.0])).round(4)
    array([-0.05, -0.1 ,  0.35, -0.2 ])
    """
    if type not in ("linear", "constant"):
        raise ArgumentError(f"detrend: type must be 'linear' or 'constant', not {type!r}")
    data = np.asarray(data)
    if type == "constant":
        return data - np.mean(data, axis=axis, keepdims=True)
    rows = np.moveaxis(data, axis, -1)
    n = rows.shape[-1]
    ends = [0, *sorted({int(b) for b in np.ravel(bp)} - {0}), n]
    if ends[-2] > n or ends[1] < 0:
        raise ArgumentError(f"detrend: bp must lie between 0 and {n}")
    parts = [_level(rows[..., a:b]) for a, b in itertools.pairwise(ends)]
    return np.moveaxis(np.concatenate(parts, axis=-1), -1, axis)


def _level(y: Any) -> Any:
    """Without the straight line that fits best, along the last axis."""
    t = np.arange(y.shape[-1]) - (y.shape[-1] - 1) / 2
    y = y - np.mean(y, axis=-1, keepdims=True)
    square = np.sum(t * t)
    return y - t * (np.sum(t * y, axis=-1, keepdims=True) / np.where(square == 0, 1.0, square))
