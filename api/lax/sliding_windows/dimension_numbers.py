"""Reads the dimension numbers of convolutions: which axis is batch, feature or spatial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tapeless.lax.loop_body_types import divides, same_size, size_text
from tapeless.staging.subprogram import leaf_type
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError


class ConvDimensionNumbers(NamedTuple):
    """The axes of a convolution's operands and result.

    lhs_spec  (batch, feature, *spatial) of the left operand
    rhs_spec  (out feature, in feature, *spatial) of the kernel
    out_spec  (batch, feature, *spatial) of the result
    """

    lhs_spec: Sequence[int]
    rhs_spec: Sequence[int]
    out_spec: Sequence[int]


def conv_dimension_numbers(
    lhs_shape: Any, rhs_shape: Any, dimension_numbers: Any
) -> ConvDimensionNumbers:
    """Axes as numbers, of three words such as ("NHWC", "HWIO", "NHWC").

    lhs_shape, rhs_shape  shapes of the operands, of which only the ranks count
    dimension_numbers     such words, numbers already, or None for (batch, feature, *spatial)

    N is the batch, C the features, O and I the features out and in of the kernel; any other letters
    are the spatial axes, in the order in which they stand in the word of the kernel. Raises
    TypeError for ranks and ValueError for words that do not fit.

    >>> from tapeless import lax
    >>> lax.conv_dimension_numbers((1, 28, 28, 3), (5, 5, 3, 8), ("NHWC", "HWIO", "NHWC")).rhs_spec
    (3, 2, 0, 1)
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    rank = len(lhs_shape)
    if len(rhs_shape) != rank:
        raise ArgumentTypeError(
            f"lax.conv: the operands must have the same rank, not {rank} and {len(rhs_shape)}"
        )
    if dimension_numbers is None:
        axes = tuple(range(rank))
        return ConvDimensionNumbers(axes, axes, axes)
    if not isinstance(dimension_numbers, (tuple, list)) or len(dimension_numbers) != 3:
        raise ArgumentTypeError(
            "lax.conv: dimension_numbers must be three words, ConvDimensionNumbers or None, not "
            f"{dimension_numbers!r}"
        )
    words = tuple(dimension_numbers)
    for word, required in zip(words, ("NC", "OI", "NC"), strict=True):
        _check_word(word, required, rank)
    _check_letters(words)
    spatial = [c for c in words[1] if c not in "OI"]
    specs = [
        tuple(word.index(c) for c in (*required, *spatial))
        for word, required in zip(words, ("NC", "OI", "NC"), strict=True)
    ]
    return ConvDimensionNumbers(*specs)


def _check_word(word: Any, required: str, rank: int) -> None:
    fits = isinstance(word, str) and len(word) == rank and len(set(word)) == rank
    if not fits or any(c not in word for c in required):
        raise ArgumentError(
            f"lax.conv: {word!r} does not name {rank} axes, '{required[0]}' and '{required[1]}' "
            "among them"
        )


def _check_letters(words: Any) -> None:
    """The spatial letters must be the same in all words."""
    sets = [frozenset(word) - set("NCOI") for word in words]
    if len(set(sets)) > 1:
        raise ArgumentError(f"lax.conv: the spatial axes of {tuple(words)} differ")


def checked_groups(x: Any, kernel: Any, features: int, batch: int) -> None:
    """Refuses features and groups that do not fit: x (N, *spatial, C), kernel (*window, C, O)."""
    for count, what in ((features, "feature_group_count"), (batch, "batch_group_count")):
        if not isinstance(count, int) or count < 1:
            raise ArgumentError(f"lax.conv: {what} must be an integer from 1, not {count}")
    if features > 1 and batch > 1:
        raise ArgumentError("lax.conv: one of the two group counts must be 1")
    shape, (taken, features_out) = leaf_type(x).shape, leaf_type(kernel).shape[-2:]
    if not same_size(shape[-1], taken * features):
        raise ArgumentError(
            f"lax.conv: lhs has {size_text(shape[-1])} features, and the kernel takes "
            f"{size_text(taken)} in each of {features} groups"
        )
    if not divides(features * batch, features_out):
        raise ArgumentError(
            f"lax.conv: {size_text(features_out)} features out cannot be divided into "
            f"{features * batch} groups"
        )
    if not divides(batch, shape[0]):
        raise ArgumentError(
            f"lax.conv: a batch of {size_text(shape[0])} cannot be divided into {batch} groups"
        )


def default_words(rank: int) -> tuple[str, str, str]:
    """The order of axes of a transposed convolution."""
    if not 2 <= rank <= 5:
        raise ArgumentError(
            f"lax.conv_transpose: operands of {rank} axes have no default order",
            "give dimension_numbers",
        )
    spatial = "HWD"[: rank - 2]
    return f"N{spatial}C", f"{spatial}IO", f"N{spatial}C"
