"""Implements the methods of what np.frompyfunc made: `reduce`, `accumulate` and `outer`."""

from __future__ import annotations

from typing import Any

import numpy as np

__staged__ = True  # plain NumPy code: a staged run enters it


def _rows(a: Any, axis: Any) -> Any:
    a = np.asarray(a)
    return np.moveaxis(a, axis, 0)


def reduce_rows(f: Any, a: Any, axis: Any = 0) -> Any:
    """f(f(a[0], a[1]), a[2]) ..."""
    rows = _rows(a, axis)
    total = rows[0]
    for k in range(1, len(rows)):
        total = f(total, rows[k])
    return total


def accumulate_rows(f: Any, a: Any, axis: Any = 0) -> Any:
    """All results on the way of a reduction."""
    rows = _rows(a, axis)
    total = rows[0]
    totals = [total]
    for k in range(1, len(rows)):
        total = f(total, rows[k])
        totals.append(total)
    return np.moveaxis(np.stack(totals), 0, axis)


def outer(f: Any, a: Any, b: Any) -> Any:
    """f of each element of one array beside each of another."""
    a, b = np.asarray(a), np.asarray(b)
    return f(a.reshape(*a.shape, *(1,) * b.ndim), b)
