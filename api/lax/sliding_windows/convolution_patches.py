"""Extracts the windows of a convolution (patches), and convolves with a kernel for each window."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeless.lax.dots import dot_general
from tapeless.lax.operand_checks import checked_array
from tapeless.lax.sliding_windows import windows
from tapeless.lax.sliding_windows.dimension_numbers import conv_dimension_numbers
from tapeless.lax.sliding_windows.lengths import dilated_length, lengths
from tapeless.lax.sliding_windows.windows import checked_numbers, counts, pad_axes, pads_of

__staged__ = True  # plain NumPy code: a staged run enters it


def conv_general_dilated_patches(
    lhs: Any,
    filter_shape: Any,
    window_strides: Any,
    padding: Any,
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """What each window of a convolution sees, as features.

    filter_shape  the lengths of the window

    Other arguments are those of `conv_general_dilated`. Returns an array with the axes of its
    result, whose features are those of lhs, each with all places of the window.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.conv_general_dilated_patches(np.arange(4.0).reshape(1, 1, 4), (2,), (1,), "VALID")[0]
    array([[0., 1., 2.],
           [1., 2., 3.]])
    """
    name = "conv_general_dilated_patches"
    x = checked_array(name, lhs, "lhs")
    if preferred_element_type is not None:
        x = x.astype(preferred_element_type)
    window = tuple(filter_shape)
    numbers = conv_dimension_numbers(x.shape, (1, 1, *window), dimension_numbers)
    n = x.ndim - 2
    strides = checked_numbers(name, "window_strides", window_strides, n)
    spread = checked_numbers(name, "lhs_dilation", lhs_dilation, n)
    dilation = checked_numbers(name, "rhs_dilation", rhs_dilation, n)
    x = np.transpose(x, (numbers[0][0], *numbers[0][2:], numbers[0][1]))
    sizes = lengths(x, range(1, n + 1))
    wide = [dilated_length(k, d) for k, d in zip(window, dilation, strict=True)]
    pads = pads_of(name, padding, sizes, wide, strides)
    out = counts(sizes, window, strides, pads, spread, dilation)
    x = pad_axes(x, 0, range(1, n + 1), pads, spread)
    seen = windows.patches(x, 1, window, out, strides, dilation)
    last = 2 * n + 1
    seen = np.transpose(seen, (0, last, *range(n + 1, last), *range(1, n + 1)))
    features = np.reshape(seen, (x.shape[0], x.shape[-1] * math.prod(window), *out))
    return np.transpose(features, [list(numbers[2]).index(k) for k in range(n + 2)])


def conv_general_dilated_local(
    lhs: Any,
    rhs: Any,
    window_strides: Any,
    padding: Any,
    filter_shape: Any,
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    precision: Any = None,
) -> Any:
    """A convolution with a kernel of its own for each window.

    rhs           the kernels: features out, features in times places of the window, and the spatial
                  axes of the result
    filter_shape  the lengths of the window

    Other arguments are those of `conv_general_dilated`.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> image, kernels = np.ones((1, 1, 4)), np.arange(6.0).reshape(1, 2, 3)
    >>> lax.conv_general_dilated_local(image, kernels, (1,), "VALID", (2,))
    array([[[3., 5., 7.]]])
    """
    x, kernels = checked_array("conv_general_dilated_local", lhs), checked_array("", rhs, "rhs")
    seen = conv_general_dilated_patches(
        x, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers
    )
    shape = (1, 1, *filter_shape)
    _, kernel_axes, axes = conv_dimension_numbers(x.shape, shape, dimension_numbers)
    pairs = sorted(zip(axes[2:], kernel_axes[2:], strict=True))
    along, beside = [list(side) for side in zip(*pairs, strict=True)]
    numbers = (((axes[1],), (kernel_axes[1],)), (along, beside))
    products = dot_general(seen, kernels, numbers)
    return np.moveaxis(products, (-2, -1), (axes[0], axes[1]))
