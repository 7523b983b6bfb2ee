"""Sorts elements, and finds the largest ones: `sort`, `sort_key_val`, `top_k`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.lax.loop_body_types import checked_axis
from tapeless.lax.operand_checks import checked_array, checked_count, checked_shapes
from tapeless.transforms.errors import ArgumentError

__staged__ = True  # plain NumPy code: a staged run enters it


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Elements in growing order along an axis; NaN comes last.

    operand    an array; or a sequence of arrays of one shape, which are rearranged alike
    dimension  the axis
    is_stable  equal elements keep their order, also where this is False
    num_keys   so many of the arrays decide, the first one first

    Returns an array, or a tuple of arrays. Differentiable in what is rearranged.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.sort((np.array([2, 1, 2]), np.array([7.0, 8.0, 6.0])), num_keys=2)
    (array([1, 2, 2]), array([8., 6., 7.]))
    """
    if not isinstance(operand, (tuple, list)):
        x = checked_array("sort", operand)
        return np.sort(x, axis=checked_axis("sort", dimension, [x]), kind="stable")
    arrays = checked_shapes("sort", operand)
    axis = checked_axis("sort", dimension, arrays)
    if not 1 <= num_keys <= len(arrays):
        raise ArgumentError(f"lax.sort: num_keys is {num_keys}, of {len(arrays)} arrays")
    if num_keys == 1:
        order = np.argsort(arrays[0], axis=axis, kind="stable")
    else:
        order = np.lexsort(tuple(arrays[num_keys - 1 :: -1]), axis=axis)
    return tuple([np.take_along_axis(x, order, axis) for x in arrays])


def sort_key_val(keys: Any, values: Any, dimension: int = -1, is_stable: bool = True) -> Any:
    """Keys in growing order along an axis, and values in the order of their keys.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.sort_key_val(np.array([3, 1, 2]), np.array([7.0, 8.0, 9.0]))
    (array([1, 2, 3]), array([8., 9., 7.]))
    """
    return sort((keys, values), dimension)


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Any, Any]:
    """The k greatest elements along an axis, the greatest first, and where they are.

    operand  an array
    k        how many, which must be known
    axis     its number

    Returns values, and their positions as int32; of equal ones the first comes first, and NaN
    before all others. Differentiable in the values.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.top_k(np.array([1.0, 5.0, 3.0]), 2)
    (array([5., 3.]), array([1, 2], dtype=int32))
    """
    x = checked_array("top_k", operand)
    axis = checked_axis("top_k", axis, [x])
    count = checked_count("top_k", k, x, axis)
    last = x.shape[axis] - 1
    order = last - np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
    best = order[(slice(None),) * axis + (slice(count),)]
    return np.take_along_axis(x, best, axis), best.astype(np.int32)


def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Any, Any]:
    """`top_k` along an axis; here the exact one, whatever the recall target.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.approx_max_k(np.array([1.0, 5.0, 3.0]), 1)[0]
    array([5.])
    """
    return top_k(operand, k, axis=reduction_dimension)


def approx_min_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Any, Any]:
    """The k least elements along an axis and where they are; exact, whatever the recall target.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.approx_min_k(np.array([1.0, 5.0, 3.0]), 1)[0]
    array([1.])
    """
    values, places = top_k(-operand, k, axis=reduction_dimension)
    return -values, places
