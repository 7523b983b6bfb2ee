"""Slides windows over the spatial axes of an array: how many fit, how they are padded, their
parts."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless.lax.sliding_windows.lengths import (
    dilated_length,
    end,
    lengths,
    places,
    same_lengths,
    same_padding,
    simplest,
)
from tapeless.lax.sliding_windows.padding import pad
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError
from tapeless.transforms.ops.numpy.creation import empty_to_fill

__staged__ = True  # plain NumPy code: a staged run enters it


def checked_numbers(name: str, what: str, values: Any, rank: int, least: int = 1) -> Any:
    """One integer for each axis; ones where there are none."""
    if values is None:
        return (1,) * rank
    try:
        numbers = tuple([operator.index(n) for n in values])
    except TypeError:
        raise ArgumentTypeError(f"lax.{name}: {what} must be integers, not {values!r}") from None
    if len(numbers) != rank:
        raise ArgumentTypeError(f"lax.{name}: {what} has {len(numbers)} entries for {rank} axes")
    if min(numbers, default=least) < least:
        raise ArgumentTypeError(f"lax.{name}: {what} must be at least {least}, not {numbers}")
    return numbers


def pads_of(name: str, padding: Any, sizes: Any, window: Any, strides: Any) -> Any:
    """(low, high) for each axis, of such pairs or of the words SAME, SAME_LOWER and VALID.

    As in JAX, sizes are those before dilation, and the window is that after it.
    """
    if not isinstance(padding, str):
        return _pairs(name, padding, len(sizes))
    word = padding.upper()
    if word == "VALID":
        return ((0, 0),) * len(sizes)
    if word not in ("SAME", "SAME_LOWER"):
        raise ArgumentError(
            f"lax.{name}: the padding {padding!r} is none of 'SAME', 'SAME_LOWER' and 'VALID'",
            "or give a pair (low, high) for each axis",
        )
    pairs = [same_padding(*axis) for axis in zip(sizes, window, strides, strict=True)]
    return tuple(pairs if word == "SAME" else [(high, low) for low, high in pairs])


def _pairs(name: str, padding: Any, rank: int) -> Any:
    try:
        pairs = tuple([(simplest(low), simplest(high)) for low, high in padding])
    except (TypeError, ValueError):
        raise ArgumentError(
            f"lax.{name}: padding must be a word or pairs (low, high) of integers, not {padding!r}"
        ) from None
    if len(pairs) != rank:
        raise ArgumentError(f"lax.{name}: padding has {len(pairs)} pairs for {rank} axes")
    return pairs


def counts(
    sizes: Any, window: Any, strides: Any, pads: Any, base_dilation: Any, window_dilation: Any
) -> tuple[int, ...]:
    """How many windows fit on each axis."""
    return tuple(
        [
            places(dilated_length(n, b), low, high, dilated_length(k, d), s)
            for n, k, s, (low, high), b, d in zip(
                sizes, window, strides, pads, base_dilation, window_dilation, strict=True
            )
        ]
    )


def pad_axes(x: Any, value: Any, axes: Any, pads: Any, dilation: Any) -> Any:
    """The array with places around it and in between along some axes."""
    config = [(0, 0, 0)] * x.ndim
    for axis, (low, high), d in zip(axes, pads, dilation, strict=True):
        config[axis] = (low, high, d - 1)
    return pad(x, value, config)


def part(x: Any, axis: int, start: Any, length: int, step: int) -> Any:
    """So many elements along an axis, from `start` on in steps: a view."""
    stop = end(start, length, step)
    return x[(slice(None),) * axis + (slice(start, stop, step if step > 1 else None),)]


def patches(x: Any, axis: int, window: Any, out: Any, strides: Any, dilation: Any) -> Any:
    """What each window sees: an array of shape (..., *out, *window, C).

    x     of shape (..., *spatial, C)
    axis  the first spatial axis
    out   how many windows there are on each spatial axis
    """
    shape = (*x.shape[:axis], *out, *window, x.shape[-1])
    if all(k == 1 for k in window):
        for k, (n, s) in enumerate(zip(out, strides, strict=True)):
            x = x if s == 1 and n == x.shape[axis + k] else part(x, axis + k, 0, n, s)
        return np.reshape(x, shape)
    # window by window along the last axis: longer pieces than place by place
    last, width = axis + len(window) - 1, x.shape[-1]
    if dilation[-1] == 1:  # what a window sees there is one piece of memory
        width = operator.index(x.shape[-1])
        x = np.reshape(x, (*x.shape[:-2], x.shape[-2] * width))
        seen_parts: Any = empty_to_fill(
            (*x.shape[:axis], *out, *window[:-1], window[-1] * width), x.dtype
        )
    else:
        seen_parts = empty_to_fill(shape, x.dtype)
    sizes = list(zip(window, out, strides, dilation, strict=True))
    for j in range(out[-1]):
        if dilation[-1] == 1:
            seen = part(x, last, j * strides[-1] * width, window[-1] * width, 1)
        else:
            seen = part(x, last, j * strides[-1], window[-1], dilation[-1])
        _fill(seen_parts[(*(slice(None),) * last, j)], seen, axis, sizes[:-1])
    return np.reshape(seen_parts, shape)


def _fill(patch: Any, x: Any, axis: int, sizes: Any) -> None:
    """Copies along the spatial axes from `axis` on, window place by window place."""
    if not sizes:
        patch[...] = x
        return
    window, out, stride, dilation = sizes[0]
    for i in range(window):
        places = patch[(*(slice(None),) * (axis + len(sizes)), i)]
        _fill(places, part(x, axis, i * dilation, out, stride), axis + 1, sizes[1:])


def sizes_where(arrays: Any, axes: Any) -> tuple[int, ...]:
    """Lengths of axes, which must be the same for all arrays."""
    if not same_lengths(arrays, axes):
        shapes = [tuple([x.shape[k] for k in axes]) for x in arrays]
        raise ArgumentError(f"lax.reduce_window: the shapes of the operands differ: {shapes}")
    return lengths(arrays[0], axes)
