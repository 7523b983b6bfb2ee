"""Computes the shapes of convolutions and windows, without arrays."""

from __future__ import annotations

from typing import Any

from tapeless.lax.sliding_windows.convolution import transposed_pads
from tapeless.lax.sliding_windows.dimension_numbers import conv_dimension_numbers
from tapeless.lax.sliding_windows.windows import checked_numbers, counts, pads_of
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError


def padtype_to_pads(
    in_shape: Any, window_shape: Any, window_strides: Any, padding: Any
) -> list[tuple[int, int]]:
    """(low, high) for each axis, of "SAME", "SAME_LOWER" or "VALID".

    in_shape        the lengths of the axes
    window_shape    those of the window, after dilation
    window_strides  how far apart windows are

    >>> from tapeless import lax
    >>> lax.padtype_to_pads((5, 5), (3, 2), (1, 2), "SAME")
    [(1, 1), (0, 1)]
    """
    if not isinstance(padding, str):
        raise ArgumentTypeError(f"lax.padtype_to_pads: takes a word, not {padding!r}")
    return list(pads_of("padtype_to_pads", padding, in_shape, window_shape, window_strides))


def conv_shape_tuple(
    lhs_shape: Any, rhs_shape: Any, strides: Any, pads: Any, batch_group_count: int = 1
) -> tuple[int, ...]:
    """The shape (N, C, *spatial) of a convolution of (N, C, *spatial) by (O, I, *spatial).

    >>> from tapeless import lax
    >>> lax.conv_shape_tuple((1, 3, 28, 28), (8, 3, 5, 5), (1, 1), "VALID")
    (1, 8, 24, 24)
    """
    sizes, window = tuple(lhs_shape[2:]), tuple(rhs_shape[2:])
    if len(sizes) != len(window):
        raise ArgumentTypeError(f"lax.conv_shape_tuple: {lhs_shape} and {rhs_shape} do not fit")
    strides = checked_numbers("conv_shape_tuple", "strides", strides, len(sizes))
    pads = pads_of("conv_shape_tuple", pads, sizes, window, strides)
    if lhs_shape[0] % batch_group_count:
        raise ArgumentError(
            f"lax.conv_shape_tuple: a batch of {lhs_shape[0]} in {batch_group_count} groups"
        )
    ones = (1,) * len(sizes)
    out = counts(sizes, window, strides, pads, ones, ones)
    return (lhs_shape[0] // batch_group_count, rhs_shape[0], *out)


def conv_general_permutations(dimension_numbers: Any) -> tuple[Any, ...]:
    """The orders of axes that make (N, C, *spatial), (O, I, *spatial) and (N, C, *spatial) of
    arrays with the axes that three words name.

    >>> from tapeless import lax
    >>> lax.conv_general_permutations(("NHWC", "HWIO", "NHWC"))[0]
    (0, 3, 1, 2)
    """
    rank = len(dimension_numbers[0])
    return tuple(conv_dimension_numbers((0,) * rank, (0,) * rank, dimension_numbers))


def conv_general_shape_tuple(
    lhs_shape: Any, rhs_shape: Any, window_strides: Any, padding: Any, dimension_numbers: Any
) -> tuple[int, ...]:
    """The shape of a convolution with the axes that three words name.

    >>> from tapeless import lax
    >>> words = ("NHWC", "HWIO", "NHWC")
    >>> lax.conv_general_shape_tuple((1, 28, 28, 3), (5, 5, 3, 8), (1, 1), "SAME", words)
    (1, 28, 28, 8)
    """
    lhs, rhs, out = conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers)
    shape = conv_shape_tuple(
        [lhs_shape[k] for k in lhs], [rhs_shape[k] for k in rhs], window_strides, padding
    )
    return tuple(shape[list(out).index(k)] for k in range(len(out)))


def conv_transpose_shape_tuple(
    lhs_shape: Any, rhs_shape: Any, window_strides: Any, padding: Any, dimension_numbers: Any
) -> tuple[int, ...]:
    """The shape of the transpose of a convolution with the axes that three words name.

    >>> from tapeless import lax
    >>> words = ("NHWC", "HWIO", "NHWC")
    >>> lax.conv_transpose_shape_tuple((1, 14, 14, 3), (5, 5, 3, 8), (2, 2), "SAME", words)
    (1, 28, 28, 8)
    """
    lhs, rhs, out = conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers)
    sizes, window = [lhs_shape[k] for k in lhs[2:]], [rhs_shape[k] for k in rhs[2:]]
    name, rank = "conv_transpose_shape_tuple", len(sizes)
    strides = checked_numbers(name, "window_strides", window_strides, rank)
    if isinstance(padding, str):
        padding = tuple(map(transposed_pads, window, strides, [padding] * rank))
    pads = pads_of(name, padding, sizes, window, strides)
    lengths = [
        (n - 1) * s - k + 2 + sum(pair)
        for n, k, s, pair in zip(sizes, window, strides, pads, strict=True)
    ]
    whole = (lhs_shape[lhs[0]], rhs_shape[rhs[0]], *lengths)
    return tuple(whole[list(out).index(k)] for k in range(len(out)))


def reduce_window_shape_tuple(
    operand_shape: Any,
    window_dimensions: Any,
    window_strides: Any,
    padding: Any,
    base_dilation: Any = None,
    window_dilation: Any = None,
) -> tuple[int, ...]:
    """The shape of `reduce_window`, for padding as pairs.

    >>> from tapeless import lax
    >>> lax.reduce_window_shape_tuple((4, 4), (2, 2), (2, 2), [(0, 0), (0, 0)])
    (2, 2)
    """
    name, rank = "reduce_window_shape_tuple", len(operand_shape)
    window = checked_numbers(name, "window_dimensions", window_dimensions, rank)
    strides = checked_numbers(name, "window_strides", window_strides, rank)
    spread = checked_numbers(name, "base_dilation", base_dilation, rank)
    dilation = checked_numbers(name, "window_dilation", window_dilation, rank)
    pads = pads_of(name, padding, operand_shape, window, strides)
    return counts(operand_shape, window, strides, pads, spread, dilation)
