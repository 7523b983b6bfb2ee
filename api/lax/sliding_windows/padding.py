"""Pads arrays at their edges and between their elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.lax.operand_checks import checked_array
from tapeless.lax.sliding_windows.lengths import (
    dilated_length,
    end,
    is_negative,
    is_positive,
    simplest,
)
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
    if any(is_positive(n) for axis in config for n in axis):
        x = _insert_places(x, padding_value, config)
    if not any(is_negative(n) for axis in config for n in axis):
        return x
    ends = zip(x.shape, config, strict=True)
    return x[tuple([_crop(n, low, high) for n, (low, high, _) in ends])]


def _crop(n: Any, low: Any, high: Any) -> slice:
    """What is left of an axis when places are taken away at its ends."""
    if not (is_negative(low) or is_negative(high)):
        return slice(None)
    return slice(-low if is_negative(low) else 0, n + (high if is_negative(high) else 0))


def _config(padding_config: Any, rank: int) -> Any:
    try:
        config = tuple([tuple([simplest(n) for n in axis]) for axis in padding_config])
    except TypeError:
        raise ArgumentTypeError(
            f"lax.pad: padding_config must have (low, high, interior) for each axis, "
            f"not {padding_config!r}"
        ) from None
    if len(config) != rank or any(len(axis) != 3 or is_negative(axis[2]) for axis in config):
        raise ArgumentError(
            f"lax.pad: padding_config must have (low, high, interior from 0) for each of {rank} "
            f"axes, not {padding_config!r}"
        )
    return config


def _insert_places(x: Any, value: Any, config: Any) -> Any:
    """The array with all new places; what is taken away is still there."""
    shape, places = [], []
    for n, (low, high, inner) in zip(x.shape, config, strict=True):
        low, high = [k if is_positive(k) else 0 for k in (low, high)]
        if not any(is_positive(k) for k in (low, high, inner)):
            length, place = n, slice(None)
        else:
            length = dilated_length(n, inner + 1)
            place = slice(low, end(low, length, 1), inner + 1 if inner else None)
        shape.append(low + length + high)
        places.append(place)
    zero = isinstance(value, (int, float)) and value == 0
    padded = np.zeros(tuple(shape), x.dtype) if zero else np.full(tuple(shape), value, x.dtype)
    padded[tuple(places)] = x
    return padded
