"""Layers that put one number in place of each window."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless import lax
from tapeless.stax.layers import Layer
from tapeless.stax.windows import counts

__staged__ = True  # plain NumPy code: a staged run enters it


def MaxPool(  # noqa: N802
    window_shape: Any, strides: Any = None, padding: Any = "VALID", spec: Any = None
) -> Layer:
    """The largest element of each window.

    window_shape  its lengths in space
    strides       how far it moves, 1 by default
    padding       'VALID', 'SAME' or a pair for each axis of the inputs
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
    batch, channels = _outside(window_shape, spec)

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        outside = (batch, channels)
        shape = tuple(1 if k in outside else n for k, n in enumerate(inputs.shape))
        return total((), inputs) / total((), np.ones(shape, inputs.dtype))

    return init_fun, apply_fun


def _pooling(
    reducer: Any, start: Any, window_shape: Any, strides: Any, padding: Any, spec: Any
) -> Layer:
    outside = _outside(window_shape, spec)
    window = _with_ones(window_shape, outside)
    steps = _with_ones(strides or (1,) * len(window_shape), outside)

    def init_fun(rng: Any, input_shape: Any) -> Any:
        found = counts(input_shape, window, steps, padding)
        kept = [
            n if k in outside else m
            for k, (n, m) in enumerate(zip(input_shape, found, strict=True))
        ]
        return tuple(kept), ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return lax.reduce_window(inputs, start, reducer, window, steps, padding)

    return init_fun, apply_fun


def _outside(window_shape: Any, spec: Any) -> tuple[int, int]:
    """The axes of the batch and of the channels."""
    if spec is None:
        return 0, len(window_shape) + 1
    return spec.index("N"), spec.index("C")


def _with_ones(lengths: Any, outside: tuple[int, int]) -> tuple[Any, ...]:
    made = list(lengths)
    for axis in sorted(outside):
        made.insert(axis, 1)
    return tuple(made)
