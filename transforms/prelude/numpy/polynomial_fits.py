"""Implements np.polyfit by singular values, with what it tells of the fit."""

from __future__ import annotations

from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it


def polyfit(
    x: Any,
    y: Any,
    deg: Any,
    rcond: Any = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    """np.polyfit where the sums of squares, rank and singular values are asked for, or where small
    singular values are left out."""
    x, y = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    if len(x) != len(y):
        raise TypeError("expected x and y to have same length")
    rcond = np.float64(len(x)) * np.finfo(x.dtype).eps if rcond is None else rcond
    table = np.vander(x, int(deg) + 1)
    if w is not None:
        w = np.asarray(w) + 0.0
        if len(w) != len(y):
            raise TypeError("expected w and y to have the same length")
        table, y = table * w[:, None], y * (w[:, None] if y.ndim == 2 else w)
    scale = np.sqrt(np.sum(table * table, axis=0))
    table = table / scale
    of_scaled, squares, rank, s = np.linalg.lstsq(table, y, rcond)
    coefficients = (of_scaled.T / scale).T
    if full:
        return coefficients, squares, rank, s, rcond
    if not cov:
        return coefficients
    base = np.linalg.inv(table.T @ table) / np.outer(scale, scale)
    if cov == "unscaled":
        return coefficients, base
    if len(x) <= int(deg) + 1:
        raise ValueError(
            "the number of data points must exceed order to scale the covariance matrix"
        )
    rest = y - table @ of_scaled
    rest_squares = np.abs(rest) ** 2 if rest.dtype.kind == "c" else rest * rest
    factor = np.sum(rest_squares, axis=0) / (len(x) - int(deg) - 1)
    return coefficients, base * factor if y.ndim == 1 else base[:, :, None] * factor
