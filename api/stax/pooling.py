"""Makes layers that put one number in place of each window."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless import lax
from tapeless.lax.sliding_windows.windows import checked_numbers, pads_of
from tapeless.stax.layers import Layer
from tapeless.stax.seeded import seedable
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


def MaxPool(  # noqa: N802
    window_shape: Any, strides: Any = None, padding: Any = "VALID", spec: Any = None
) -> Layer:
    """The largest element of each window.

    window_shape  its lengths in space
    strides       how far it moves, 1 by default
    padding       'VALID', 'SAME', 'SAME_LOWER' or a pair for each axis of the inputs
    spec          what the axes of the inputs are, 'NHWC' or 'NCHW', say; by default the first is
                  the batch and the last the channels

    >>> MaxPool((2, 2), strides=(2, 2))[0](None, (-1, 28, 28, 3))[0]
    (-1, 14, 14, 3)
    """
    return _pooling(lax.max, -np.inf, window_shape, strides, padding, spec)


def SumPool(  # noqa: N802
    window_shape: Any, strides: Any = None, padding: Any = "VALID", spec: Any = None
) -> Layer:
    """The sum of each window. Arguments are those of `MaxPool`.

    >>> SumPool((2,), padding="SAME")[0](None, (-1, 10, 3))[0]
    (-1, 10, 3)
    """
    return _pooling(lax.add, 0.0, window_shape, strides, padding, spec)


def AvgPool(  # noqa: N802
    window_shape: Any, strides: Any = None, padding: Any = "VALID", spec: Any = None
) -> Layer:
    """The mean of each window, of elements that are not padding. Arguments are those of `MaxPool`.

    >>> AvgPool((2, 2))[0](None, (-1, 10, 10, 3))[0]
    (-1, 9, 9, 3)
    """
    init_fun, total = _pooling(lax.add, 0.0, window_shape, strides, padding, spec)
    batch, channels = _outer_axes(window_shape, spec)

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        outside = (batch, channels)
        shape = tuple(1 if k in outside else n for k, n in enumerate(inputs.shape))
        return total((), inputs) / total((), np.ones(shape, inputs.dtype))

    return init_fun, apply_fun


def _pooling(
    reducer: Any, start: Any, window_shape: Any, strides: Any, padding: Any, spec: Any
) -> Layer:
    outside = _outer_axes(window_shape, spec)
    window = _with_ones(window_shape, outside)
    strides = checked_numbers("reduce_window", "strides", strides or None, len(window_shape))
    steps = _with_ones(strides, outside)

    @seedable
    def init_fun(rng: Any, input_shape: Any) -> Any:
        if len(input_shape) != len(window):
            raise ArgumentError(
                f"stax: inputs of shape {tuple(input_shape)} do not have the {len(window)} axes of "
                f"batch, channels and windows of shape {tuple(window_shape)}"
            )
        lengths = [abs(n) for n in input_shape]  # also of those that are not known yet
        around = pads_of("reduce_window", padding, lengths, window, steps)
        out_lengths = lax.reduce_window_shape_tuple(lengths, window, steps, around)
        return tuple(m if n >= 0 else n for n, m in zip(input_shape, out_lengths, strict=True)), ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return lax.reduce_window(inputs, start, reducer, window, steps, padding)

    return init_fun, apply_fun


def _outer_axes(window_shape: Any, spec: Any) -> tuple[int, int]:
    """The axes of the batch and of the channels."""
    if spec is None:
        return 0, len(window_shape) + 1
    if not isinstance(spec, str) or len(spec) != len(window_shape) + 2 or not {*"NC"} <= {*spec}:
        raise ArgumentError(
            f"stax: {spec!r} does not name N, C and {len(window_shape)} axes in space"
        )
    return spec.index("N"), spec.index("C")


def _with_ones(lengths: Any, outside: tuple[int, int]) -> tuple[Any, ...]:
    with_ones = list(lengths)
    for axis in sorted(outside):
        with_ones.insert(axis, 1)
    return tuple(with_ones)
