"""Computes convolutions as products of matrices: the windows of the left operand times the
kernel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeless.lax.operand_checks import checked_array, checked_rank, checked_same_dtype
from tapeless.lax.sliding_windows.dimension_numbers import (
    checked_groups,
    conv_dimension_numbers,
    default_words,
)
from tapeless.lax.sliding_windows.lengths import dilated_length, known_lengths, lengths
from tapeless.lax.sliding_windows.windows import (
    checked_numbers,
    counts,
    pad_axes,
    pads_of,
    part,
    patches,
)
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError

__staged__ = True  # plain NumPy code: a staged run enters it


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Any,
    padding: Any,
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Slides a kernel over the spatial axes of an array, and sums the products.

    lhs                     array of n + 2 axes: batch, features and n spatial ones
    rhs                     the kernel, of n + 2 axes: features out, features in and n spatial ones
    window_strides          n integers: how far apart the windows are
    padding                 "SAME", "SAME_LOWER", "VALID", or (low, high) for each spatial axis
    lhs_dilation            n integers: spreads lhs, with zeros in between
    rhs_dilation            n integers: spreads the kernel
    dimension_numbers       which axis is what (`conv_dimension_numbers`)
    feature_group_count     so many groups of features, each with its own part of the kernel
    batch_group_count       so many groups of the batch, each with its own part of the kernel
    precision               accepted, and of no effect: products are those of the dtype
    preferred_element_type  the dtype to compute in and to return

    A staged run is for a window and numbers of features of these lengths; for images and batches of
    any, but that "SAME" with a stride depends on the length of the axis. Linear in each operand
    and differentiable to any order; the derivatives are products of matrices too. Raises TypeError
    for operands of different dtypes or ranks, ValueError for sizes that do not fit.

    K. Chellapilla, S. Puri, P. Simard, "High performance convolutional neural networks for document
    processing" (2006).

    >>> import numpy as np
    >>> from tapeless import lax
    >>> image, kernel = np.ones((1, 4, 4, 2)), np.ones((3, 3, 2, 1))
    >>> numbers = ("NHWC", "HWIO", "NHWC")
    >>> lax.conv_general_dilated(image, kernel, (1, 1), "VALID", dimension_numbers=numbers)[0, 0]
    array([[18.],
           [18.]])
    """
    name = "conv_general_dilated"
    x, kernel = checked_array(name, lhs, "lhs"), checked_array(name, rhs, "rhs")
    checked_rank(name, kernel, x.ndim, "rhs")
    checked_same_dtype(name, x, kernel)
    if preferred_element_type is not None:
        _check_wider(x.dtype, np.dtype(preferred_element_type))
        x, kernel = x.astype(preferred_element_type), kernel.astype(preferred_element_type)
    numbers = conv_dimension_numbers(x.shape, kernel.shape, dimension_numbers)
    x = np.transpose(x, (numbers[0][0], *numbers[0][2:], numbers[0][1]))
    kernel = np.transpose(kernel, (*numbers[1][2:], numbers[1][1], numbers[1][0]))
    n = x.ndim - 2
    strides = checked_numbers(name, "window_strides", window_strides, n)
    spread = checked_numbers(name, "lhs_dilation", lhs_dilation, n)
    dilation = checked_numbers(name, "rhs_dilation", rhs_dilation, n)
    if isinstance(padding, str) and spread != (1,) * n:
        raise ArgumentError(
            f"lax.{name}: {padding!r} with lhs_dilation is not defined",
            "give pairs (low, high), or use lax.conv_transpose",
        )
    sizes, window = lengths(x, range(1, n + 1)), known_lengths(kernel, range(n))
    wide = [dilated_length(k, d) for k, d in zip(window, dilation, strict=True)]
    pads = pads_of(name, padding, sizes, wide, strides)
    out = counts(sizes, window, strides, pads, spread, dilation)
    x = pad_axes(x, 0, range(1, n + 1), pads, spread)
    checked_groups(x, kernel, feature_group_count, batch_group_count)
    moves = (window, out, strides, dilation)
    products = _convolve_groups(x, kernel, moves, feature_group_count, batch_group_count)
    return np.transpose(products, _inverse((numbers[2][0], *numbers[2][2:], numbers[2][1])))


def _check_wider(have: Any, wanted: Any) -> None:
    """Refuses results of a dtype that is narrower than that of the operands, or of another kind, as
    JAX does."""
    kinds = {"f": "f", "c": "c"}.get(have.kind, "iufb")
    if wanted.kind not in kinds or wanted.itemsize < have.itemsize:
        raise ArgumentTypeError(
            f"lax.conv_general_dilated: preferred_element_type is {wanted}, and the operands are "
            f"of {have}",
            "it must be as wide, and of the same kind; integers may also give floats",
        )


def _inverse(permutation: Any) -> tuple[int, ...]:
    return tuple([permutation.index(k) for k in range(len(permutation))])


def _convolve_groups(x: Any, kernel: Any, sizes: Any, features: int, batch: int) -> Any:
    if features == batch == 1:
        return _product(x, kernel, sizes)
    if batch > 1:
        return _batch_groups(batch, x, kernel, sizes)
    if kernel.shape[-2] == 1:
        return _by_features(features, x, kernel, sizes)
    return _feature_groups(features, x, kernel, sizes)


def _product(x: Any, kernel: Any, sizes: Any, lead: int = 0) -> Any:
    """x (*lead, N, *spatial, C) by a kernel (*lead, *window, C, O)."""
    window, out, strides, dilation = sizes
    seen = patches(x, lead + 1, window, out, strides, dilation)
    inner = math.prod(window) * x.shape[-1]
    rows = np.reshape(seen, (*x.shape[:lead], x.shape[lead] * math.prod(out), inner))
    columns = np.reshape(kernel, (*x.shape[:lead], inner, kernel.shape[-1]))
    return np.reshape(rows @ columns, (*x.shape[: lead + 1], *out, kernel.shape[-1]))


def _feature_groups(count: int, x: Any, kernel: Any, sizes: Any) -> Any:
    parts = np.reshape(x, (*x.shape[:-1], count, x.shape[-1] // count))
    kernels = np.reshape(kernel, (*kernel.shape[:-1], count, kernel.shape[-1] // count))
    products = _product(np.moveaxis(parts, -2, 0), np.moveaxis(kernels, -2, 0), sizes, 1)
    products = np.moveaxis(products, 0, -2)
    return np.reshape(products, (*products.shape[:-2], count * products.shape[-1]))


def _batch_groups(count: int, x: Any, kernel: Any, sizes: Any) -> Any:
    parts = np.reshape(x, (count, x.shape[0] // count, *x.shape[1:]))
    kernels = np.reshape(kernel, (*kernel.shape[:-1], count, kernel.shape[-1] // count))
    products = np.moveaxis(_product(parts, np.moveaxis(kernels, -2, 0), sizes, 1), 0, -2)
    return np.reshape(products, (*products.shape[:-2], count * products.shape[-1]))


def _by_features(count: int, x: Any, kernel: Any, sizes: Any) -> Any:
    """Groups of one feature: each place of the window scales the features of what it sees."""
    window, out = sizes[:2]
    weights = np.reshape(kernel, (*window, count, kernel.shape[-1] // count))
    products = np.zeros((x.shape[0], *out, count, kernel.shape[-1] // count), x.dtype)
    products = _add_scaled(products, x[..., np.newaxis], weights, 1, sizes)
    return np.reshape(products, (x.shape[0], *out, kernel.shape[-1]))


def _add_scaled(total: Any, x: Any, weights: Any, axis: int, sizes: Any) -> Any:
    if axis > len(sizes[0]):
        return total + x * weights
    window, out, strides, dilation = [s[axis - 1] for s in sizes]
    for i in range(window):
        seen = part(x, axis, i * dilation, out, strides)
        total = _add_scaled(total, seen, weights[i], axis + 1, sizes)
    return total


def conv(
    lhs: Any,
    rhs: Any,
    window_strides: Any,
    padding: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """`conv_general_dilated` without dilation, for axes (batch, features, *spatial).

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.conv(np.ones((1, 1, 3, 3)), np.ones((1, 1, 2, 2)), (1, 1), "SAME")[0, 0]
    array([[4., 4., 2.],
           [4., 4., 2.],
           [2., 2., 1.]])
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, preferred_element_type=preferred_element_type
    )


def conv_with_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Any,
    padding: Any,
    lhs_dilation: Any,
    rhs_dilation: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """`conv_general_dilated` for axes (batch, features, *spatial)."""
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        preferred_element_type=preferred_element_type,
    )


def conv_transpose(
    lhs: Any,
    rhs: Any,
    strides: Any,
    padding: Any,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> Any:
    """A convolution with fractional strides, which makes the spatial axes longer.

    lhs, rhs                as in `conv_general_dilated`, and by default in the order (N, *spatial,
                            C) and (*spatial, I, O)
    strides                 integers: how often longer the spatial axes get
    padding                 "SAME" or "VALID": that of the convolution of which this is the
                            transpose; or (low, high) for each spatial axis
    transpose_kernel        flips the kernel and exchanges its features, so that this is the
                            transpose of the convolution with the kernel
    use_consistent_padding  pairs, too, are those of that convolution

    Other arguments are those of `conv_general_dilated`.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.conv_transpose(np.ones((1, 2, 1)), np.ones((2, 1, 1)), (2,), "SAME")[0, :, 0]
    array([1., 1., 1., 1.])
    """
    x, kernel = checked_array("conv_transpose", lhs, "lhs"), checked_array("conv_transpose", rhs)
    if dimension_numbers is None:
        dimension_numbers = default_words(x.ndim)
    numbers = conv_dimension_numbers(x.shape, kernel.shape, dimension_numbers)
    n = x.ndim - 2
    strides = checked_numbers("conv_transpose", "strides", strides, n)
    dilation = checked_numbers("conv_transpose", "rhs_dilation", rhs_dilation, n)
    spatial = numbers.rhs_spec[2:]
    if isinstance(padding, str) or use_consistent_padding:
        wide = list(map(dilated_length, known_lengths(kernel, spatial), dilation))
        each = [padding] * n if isinstance(padding, str) else padding
        padding = tuple(
            [transposed_pads(k, s, p) for k, s, p in zip(wide, strides, each, strict=True)]
        )
    if transpose_kernel:
        kernel = np.swapaxes(
            np.flip(kernel, tuple(spatial)), numbers.rhs_spec[0], numbers.rhs_spec[1]
        )
    return conv_general_dilated(
        x,
        kernel,
        (1,) * n,
        padding,
        strides,
        dilation,
        numbers,
        preferred_element_type=preferred_element_type,
    )


def transposed_pads(window: int, stride: int, padding: Any) -> tuple[int, int]:
    """The padding of the transpose of a convolution."""
    if padding == "SAME":
        total = window + stride - 2
        low = window - 1 if stride > window - 1 else -(-total // 2)
        return low, total - low
    if padding == "VALID":
        return window - 1, stride - 1 + max(window - stride, 0)
    if isinstance(padding, str):
        raise ArgumentError(f"lax.conv_transpose: the padding {padding!r} is not defined")
    low, high = padding
    return window - 1 - low, window - 1 - high
