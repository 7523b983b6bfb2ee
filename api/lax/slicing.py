"""Slices arrays at starts that are known at run time only, with lengths that are static."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeless.lax.dynamic_positions import checked_sizes, checked_starts, is_whole, place
from tapeless.lax.loop_body_types import checked_axis
from tapeless.lax.operand_checks import checked_array, checked_integer, checked_same_dtype
from tapeless.transforms.errors import ArgumentTypeError

__staged__ = True  # plain NumPy code: a staged run enters it


def dynamic_slice(
    operand: Any, start_indices: Any, slice_sizes: Any, *, allow_negative_indices: Any = True
) -> Any:
    """A part of an array that starts anywhere.

    operand        an array
    start_indices  one integer for each axis, which may be data; negative ones count from the end,
                   and a part that would not fit is moved until it does
    slice_sizes    its length on each axis, which must be known
    allow_negative_indices
                   False: negative starts are starts before the array; or one of these for each axis

    Raises TypeError for starts that are no integers, and for sizes that do not fit.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.dynamic_slice(np.arange(10), (8,), (4,))
    array([6, 7, 8, 9])
    """
    x = checked_array("dynamic_slice", operand)
    sizes = checked_sizes("dynamic_slice", slice_sizes, x)
    return x[_part("dynamic_slice", x, start_indices, sizes, allow_negative_indices)]


def dynamic_update_slice(
    operand: Any, update: Any, start_indices: Any, *, allow_negative_indices: Any = True
) -> Any:
    """An array with a part replaced that starts anywhere.

    operand        an array
    update         the new part, of the same rank and dtype
    start_indices, allow_negative_indices
                   as for `dynamic_slice`

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.dynamic_update_slice(np.zeros(5), np.ones(2), (1,))
    array([0., 1., 1., 0., 0.])
    """
    x, new = checked_array("dynamic_update_slice", operand), checked_array("", update, "update")
    checked_same_dtype("dynamic_update_slice", x, new)
    sizes = checked_sizes("dynamic_update_slice", new.shape, x)
    changed = np.copy(x)
    changed[_part("dynamic_update_slice", x, start_indices, sizes, allow_negative_indices)] = new
    return changed


def _part(name: str, x: Any, starts: Any, sizes: Any, negative: Any) -> Any:
    """The key of a part."""
    start_list = checked_starts(name, starts, x)
    from_end = [negative] * len(sizes) if np.ndim(negative) == 0 else negative
    return tuple(
        [
            _slice_of_axis(x, k, start, size, on)
            for k, (start, size, on) in enumerate(zip(start_list, sizes, from_end, strict=True))
        ]
    )


def _slice_of_axis(x: Any, axis: int, start: Any, size: Any, from_end: Any) -> Any:
    n = x.shape[axis]
    if is_whole(size, n):
        return slice(None)
    start = np.where(start < 0, start + n, start) if from_end else start
    first = np.minimum(np.maximum(start, 0), n - size)
    low = place(first, n, size)
    return slice(low, low + size)


def dynamic_slice_in_dim(
    operand: Any,
    start_index: Any,
    slice_size: Any,
    axis: int = 0,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """`dynamic_slice` along one axis.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.dynamic_slice_in_dim(np.arange(5), 1, 3)
    array([1, 2, 3])
    """
    x = checked_array("dynamic_slice_in_dim", operand)
    axis = checked_axis("dynamic_slice_in_dim", axis, [x])
    size = checked_integer("dynamic_slice_in_dim", "slice_size", slice_size)
    starts = [start_index if k == axis else 0 for k in range(x.ndim)]
    sizes = [size if k == axis else n for k, n in enumerate(x.shape)]
    return dynamic_slice(x, starts, sizes, allow_negative_indices=allow_negative_indices)


def dynamic_index_in_dim(
    operand: Any,
    index: Any,
    axis: int = 0,
    keepdims: bool = True,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """The elements of an array at a position on an axis, which may be data.

    keepdims  the axis stays, with length 1

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.dynamic_index_in_dim(np.arange(5), 3)
    array([3])
    """
    x = checked_array("dynamic_index_in_dim", operand)
    axis = checked_axis("dynamic_index_in_dim", axis, [x])
    element = x[(slice(None),) * axis + (_position(x, index, axis, allow_negative_indices),)]
    return np.expand_dims(element, axis) if keepdims else element


def _position(x: Any, index: Any, axis: int, from_end: bool) -> Any:
    (start,) = checked_starts("dynamic_index_in_dim", (index,), x, 1)
    n = x.shape[axis]
    start = np.where(start < 0, start + n, start) if from_end else start
    return np.minimum(np.maximum(start, 0), n - 1)


def dynamic_update_slice_in_dim(
    operand: Any,
    update: Any,
    start_index: Any,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Any:
    """`dynamic_update_slice` along one axis.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.dynamic_update_slice_in_dim(np.zeros(5), np.ones(2), 4, 0)
    array([0., 0., 0., 1., 1.])
    """
    x = checked_array("dynamic_update_slice_in_dim", operand)
    axis = checked_axis("dynamic_update_slice_in_dim", axis, [x])
    starts = [start_index if k == axis else 0 for k in range(x.ndim)]
    return dynamic_update_slice(x, update, starts, allow_negative_indices=allow_negative_indices)


def dynamic_update_index_in_dim(
    operand: Any, update: Any, index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """An array with its elements at a position on an axis replaced.

    update  of the shape of operand without the axis, or with length 1 there

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.dynamic_update_index_in_dim(np.zeros(3), 5.0, 1, 0)
    array([0., 5., 0.])
    """
    x = checked_array("dynamic_update_index_in_dim", operand)
    axis = checked_axis("dynamic_update_index_in_dim", axis, [x])
    new = checked_array("dynamic_update_index_in_dim", update, "update")
    checked_same_dtype("dynamic_update_index_in_dim", x, new)
    if new.ndim == x.ndim:
        new = np.squeeze(new, axis)
    changed = np.copy(x)
    changed[(slice(None),) * axis + (_position(x, index, axis, allow_negative_indices),)] = new
    return changed


def slice_in_dim(
    operand: Any, start_index: Any, limit_index: Any, stride: int = 1, axis: int = 0
) -> Any:
    """Elements of an array along one axis, from known starts.

    start_index  the first one; None is 0
    limit_index  the one after the last; None is the length
    stride       the step, from 1 on

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.slice_in_dim(np.arange(10), 1, -1, 3)
    array([1, 4, 7])
    """
    x = checked_array("slice_in_dim", operand)
    axis = checked_axis("slice_in_dim", axis, [x])
    if checked_integer("slice_in_dim", "stride", stride) < 1:
        raise ArgumentTypeError(f"lax.slice_in_dim: stride must be at least 1, not {stride}")
    return x[(slice(None),) * axis + (slice(start_index, limit_index, stride),)]


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """The elements of an array at a known position on an axis.

    keepdims  the axis stays, with length 1

    Raises IndexError for a position that is not there.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.index_in_dim(np.arange(10), -1)
    array([9])
    """
    x = checked_array("index_in_dim", operand)
    axis = checked_axis("index_in_dim", axis, [x])
    position = checked_integer("index_in_dim", "index", index)
    element = x[(slice(None),) * axis + (position,)]
    return np.expand_dims(element, axis) if keepdims else element


def index_take(src: Any, idxs: Any, axes: Any) -> Any:
    """Parts of an array of length 1 along some axes, at many positions.

    src   an array
    idxs  an integer array of shape (n,) for each of the axes
    axes  the axes

    Returns an array of shape (n, *others): the axes vanish.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.index_take(np.arange(12).reshape(3, 4), (np.array([0, 2]), np.array([1, 3])), (0, 1))
    array([ 1, 11])
    """
    x = checked_array("index_take", src)
    axes = tuple([checked_axis("index_take", k, [x]) for k in axes])
    others = [k for k in range(x.ndim) if k not in axes]
    return np.transpose(x, (*axes, *others))[tuple(idxs)]


def slice_(operand: Any, start_indices: Any, limit_indices: Any, strides: Any = None) -> Any:
    """A part of an array between known bounds.

    operand        an array
    start_indices  the first position on each axis
    limit_indices  the one after the last
    strides        steps, from 1 on; 1 by default

    Raises TypeError for bounds that are not 0 <= start <= limit <= length.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.slice(np.arange(12).reshape(3, 4), (0, 1), (3, 4), (2, 1))
    array([[ 1,  2,  3],
           [ 9, 10, 11]])
    """
    x = checked_array("slice", operand)
    steps = (1,) * x.ndim if strides is None else tuple(strides)
    starts, stops = tuple(start_indices), tuple(limit_indices)
    if not len(starts) == len(stops) == len(steps) == x.ndim:
        raise ArgumentTypeError(f"lax.slice: takes bounds and strides for each of {x.ndim} axes")
    for start, stop, step in zip(starts, stops, steps, strict=True):
        if operator.index(step) < 1 or start < 0 or stop < start:
            raise ArgumentTypeError(f"lax.slice: {start}:{stop}:{step} is no part of an axis")
    if any(stop > n for stop, n in zip(stops, x.shape, strict=True)):
        raise ArgumentTypeError(f"lax.slice: {stops} is beyond the shape {x.shape}")
    return x[tuple([slice(*each) for each in zip(starts, stops, steps, strict=True)])]
