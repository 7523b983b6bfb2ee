"""Arrays with places around their elements and in between."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless.lax.checks import checked_array
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

__staged__ = True  # plain NumPy code: a staged run enters it


def pad(operand: Any, padding_value: Any, padding_config: Any) -> Any:
    """Puts places before, after and between the elements.

    operand         an array
    padding_value   one number, of the same dtype, for the new places
    padding_config  (low, high, interior) for each axis: places before, after and between; low and
                    high may be negative, which takes elements away

    Differentiable in both values. Raises ValueError for a configuration of another length.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.pad(np.array([1.0, 2.0]), 0.0, [(1, 2, 1)])
    array([0., 1., 0., 2., 0., 0.])
    """
    x = checked_array("pad", operand)
    config = _config(padding_config, x.ndim)
    if any(low > 0 or high > 0 or inner for low, high, inner in config):
        x = _grown(x, padding_value, config)
    crop = [
        slice(max(-low, 0), x.shape[k] + min(high, 0)) if min(low, high) < 0 else slice(None)
        for k, (low, high, _) in enumerate(config)
    ]
    return x[tuple(crop)] if any(c != slice(None) for c in crop) else x


def _config(given: Any, rank: int) -> Any:
    try:
        config = tuple([tuple([operator.index(n) for n in axis]) for axis in given])
    except TypeError:
        raise ArgumentTypeError(
            f"lax.pad: padding_config must have (low, high, interior) for each axis, not {given!r}"
        ) from None
    if len(config) != rank or any(len(axis) != 3 or axis[2] < 0 for axis in config):
        raise ArgumentError(
            f"lax.pad: padding_config must have (low, high, interior from 0) for each of {rank} "
            f"axes, not {given!r}"
        )
    return config


def _grown(x: Any, value: Any, config: Any) -> Any:
    """The array with all new places; what is taken away is still there."""
    shape, places = [], []
    for n, (low, high, inner) in zip(x.shape, config, strict=True):
        low, high = max(low, 0), max(high, 0)
        if low == high == inner == 0:
            length, place = n, slice(None)
        else:
            length = n if inner == 0 else _spread(n, inner)
            place = slice(low, low + length, inner + 1 if inner else None)
        shape.append(low + length + high)
        places.append(place)
    zero = isinstance(value, (int, float)) and value == 0
    made = np.zeros(tuple(shape), x.dtype) if zero else np.full(tuple(shape), value, x.dtype)
    made[tuple(places)] = x
    return made


def _spread(n: Any, inner: int) -> Any:
    return (n - 1) * (inner + 1) + 1 if n else 0
