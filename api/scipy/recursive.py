"""Filters that read what they gave before, as scipy.signal has them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless.numpy.functions import followed
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


@followed
def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """A signal through the filter a[0] y[n] = b[0] x[n] + b[1] x[n-1] + ... - a[1] y[n-1] - ...

    b, a  vectors
    x     an array
    axis  along which the signal lies
    zi    what the filter holds before: as x, with max(len(a), len(b)) - 1 along `axis`; returned is
          then a pair: the signal, and what it holds at the end

    Differentiable in all of them. Raises ValueError for other shapes.

    >>> lfilter([1.0], [1.0, -0.5], np.array([1.0, 0.0, 0.0]))
    array([1.  , 0.5 , 0.25])
    """
    b, a, x = np.asarray(b), np.asarray(a), np.asarray(x)
    if b.ndim != 1 or a.ndim != 1:
        raise ArgumentError("lfilter: the coefficients b and a must be vectors")
    n = max(operator.index(b.shape[0]), operator.index(a.shape[0]))
    b, a = (np.pad(c, (0, n - c.shape[0])) / a[0] for c in (b, a))
    dtype = np.result_type(b, a, x, *([] if zi is None else [zi]))
    rows = np.moveaxis(x, axis, 0).astype(dtype)
    if zi is None:
        held = np.zeros((n - 1, *rows.shape[1:]), dtype)
    else:
        held = np.moveaxis(np.asarray(zi), axis, 0).astype(dtype)
        if held.shape[0] != n - 1 or held.ndim != rows.ndim:
            raise ArgumentError(f"lfilter: zi must have {n - 1} numbers, and the axes of x")
        held = np.broadcast_to(held, (n - 1, *rows.shape[1:])).copy()
    made = np.zeros_like(rows)
    for k in range(rows.shape[0]):
        held, made[k] = _next(b, a, held, rows[k])
    y = np.moveaxis(made, 0, axis)
    return y if zi is None else (y, np.moveaxis(held, 0, axis))


def _next(b: Any, a: Any, held: Any, x: Any) -> Any:
    """Direct form II, transposed: what is held for the next number, and the one that is given."""
    if operator.index(held.shape[0]) == 0:
        return held, b[0] * x
    y = b[0] * x + held[0]
    along = (slice(1, None), *[None] * x.ndim)
    moved = np.concatenate([held[1:], np.zeros_like(held[:1])])
    return moved + b[along] * x - a[along] * y, y


@followed
def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """A signal through filters of second order, one after the other.

    sos   a matrix with a row (b0, b1, b2, a0, a1, a2) for each

    The other arguments, without zi, and errors are those of `lfilter`.

    >>> sosfilt([[1.0, 0.0, 0.0, 1.0, -0.5, 0.0]], np.array([1.0, 0.0, 0.0]))
    array([1.  , 0.5 , 0.25])
    """
    sos = np.asarray(sos)
    if zi is not None or sos.ndim != 2 or operator.index(sos.shape[1]) != 6:
        raise ArgumentError("sosfilt: takes a matrix with six columns, and no zi")
    for k in range(operator.index(sos.shape[0])):
        x = lfilter(sos[k, :3], sos[k, 3:], x, axis)
    return x
