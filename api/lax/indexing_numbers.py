"""Reads the dimension numbers of gathers and scatters: which axes are indexed, and which are
parts."""

from __future__ import annotations

import enum
import operator
from typing import Any, NamedTuple

import numpy as np

from tapeless.lax.operand_checks import checked_kind
from tapeless.transforms.errors import ArgumentError, ArgumentTypeError


class GatherDimensionNumbers(NamedTuple):
    """The axes of a gather.

    offset_dims                  the axes of the result that run over the parts
    collapsed_slice_dims         axes of the operand along which parts have length 1, and vanish
    start_index_map              for each entry of an index the axis of the operand that it is for
    operand_batching_dims        axes of the operand that are gone along side by side
    start_indices_batching_dims  with these axes of the indices
    """

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()


class ScatterDimensionNumbers(NamedTuple):
    """The axes of a scatter.

    update_window_dims            the axes of the updates that run over the parts
    inserted_window_dims          axes of the operand along which parts have length 1, which the
                                  updates do not have
    scatter_dims_to_operand_dims  for each entry of an index the axis of the operand that it is for
    operand_batching_dims         axes of the operand that are gone along side by side
    scatter_indices_batching_dims with these axes of the indices
    """

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()


class GatherScatterMode(enum.Enum):
    """What is done where a part does not fit into the array.

    CLIP                moves it until it does
    FILL_OR_DROP        reads a value for such parts, and drops what is stored to them
    PROMISE_IN_BOUNDS   all fit; a gather clips, and a scatter does what NumPy does
    ONE_HOT             as FILL_OR_DROP
    """

    CLIP = 1
    FILL_OR_DROP = 2
    PROMISE_IN_BOUNDS = 3
    ONE_HOT = 4

    @staticmethod
    def from_any(s: Any) -> GatherScatterMode:
        """The mode of a word, or of a mode; FILL_OR_DROP of None."""
        if isinstance(s, GatherScatterMode):
            return s
        words = {
            None: GatherScatterMode.FILL_OR_DROP,
            "fill": GatherScatterMode.FILL_OR_DROP,
            "drop": GatherScatterMode.FILL_OR_DROP,
            "clip": GatherScatterMode.CLIP,
            "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
            "one_hot": GatherScatterMode.ONE_HOT,
        }
        name = getattr(s, "name", s)
        if name in GatherScatterMode.__members__:
            return GatherScatterMode[name]
        if name not in words:
            raise ArgumentError(f"lax: there is no mode {s!r} for indices")
        return words[name]


class Layout(NamedTuple):
    """How parts of an array lie. Axes of the operand:

    beside   gone along side by side, with the axes of the indices in `along`
    indexed  for which there are positions, and those along which a part is not whole
    whole    along which parts are as long as the array
    single   of the indexed ones: along which a part has length 1, and no axis of its own
    starts   for each indexed axis its entry of an index, or None
    window   axes of the parts, in the order of the operand
    """

    beside: tuple[int, ...]
    along: tuple[int, ...]
    indexed: tuple[int, ...]
    whole: tuple[int, ...]
    single: tuple[int, ...]
    starts: tuple[int | None, ...]
    window: tuple[int, ...]


def layout(
    name: str, rank: int, single: Any, to_axes: Any, beside: Any, along: Any, whole: Any
) -> Layout:
    """The layout of parts; `whole` says of an axis whether parts are as long as the array there."""
    for axes in (single, to_axes, beside):
        if len(set(axes)) < len(tuple(axes)) or not all(0 <= k < rank for k in axes):
            raise ArgumentTypeError(f"lax.{name}: {tuple(axes)} are not different axes of {rank}")
    if len(beside) != len(along):
        raise ArgumentTypeError(f"lax.{name}: {beside} and {along} do not go together")
    entry = {axis: k for k, axis in enumerate(to_axes)}
    free = [k for k in range(rank) if k not in beside]
    kept = [k for k in free if k not in single and k not in entry and whole(k)]
    indexed = tuple(k for k in free if k not in kept)
    return Layout(
        tuple(beside),
        tuple(along),
        indexed,
        tuple(kept),
        tuple(single),
        tuple(entry.get(k) for k in indexed),
        tuple(k for k in free if k not in single),
    )


def checked_indices(name: str, indices: Any, entries: int) -> Any:
    """Integer indices, whose last axis has an entry for each axis that is indexed."""
    checked = checked_kind(name, indices, "iu")
    if not checked.ndim or operator.index(checked.shape[-1]) != entries:
        raise ArgumentTypeError(
            f"lax.{name}: the last axis of the indices must have {entries} entries, and their "
            f"shape is {tuple(checked.shape)}"
        )
    return checked


def fill_for(dtype: np.dtype[Any], fill_value: Any) -> Any:
    """What is read where a part does not fit."""
    if fill_value is not None:
        return fill_value
    if dtype.kind in "fc":
        return np.nan
    if dtype.kind == "b":
        return True
    return np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max
