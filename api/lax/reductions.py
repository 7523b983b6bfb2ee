"""Reduces arrays over axes: sums, products, extrema, their positions, and any associative
function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.lax import elementwise
from tapeless.lax.loop_body_types import checked_axis, checked_function
from tapeless.lax.operand_checks import (
    checked_array,
    checked_axes,
    checked_dtype,
    checked_kind,
    checked_number,
)
from tapeless.lax.sliding_windows.pooling import by_element
from tapeless.numpy.array_functions import own

__staged__ = True  # plain NumPy code: a staged run enters it


def _reduction(name: str, function: Any, kinds: str, what: str) -> Callable[[Any, Any], Any]:
    def run(operand: Any, axes: Any) -> Any:
        x = checked_kind(name, operand, kinds)
        return function(x, checked_axes(name, axes, x.ndim))

    run.__name__ = run.__qualname__ = name
    run.__doc__ = (
        f"{what} over some axes.\n\n    operand  an array\n    axes     their numbers\n\n"
        "    Raises TypeError for other dtypes, ValueError for axes that are not there."
    )
    return run


def _bits_of(x: Any, axes: Any, combine: Any, logical: Any, start: int) -> Any:
    """Of booleans by NumPy's function, of integers one after the other."""
    if x.dtype.kind == "b" and logical is not None:
        return logical(x, axis=axes)
    others = [k for k in range(x.ndim) if k not in axes]
    rows = np.reshape(np.transpose(x, (*axes, *others)), (-1, *[x.shape[k] for k in others]))
    total = np.full(rows.shape[1:], start, x.dtype)
    for row in rows:
        total = combine(total, row)
    return total


reduce_sum = _reduction(
    "reduce_sum", lambda x, axes: np.sum(x, axis=axes, dtype=x.dtype), "iufc", "The sum"
)
reduce_prod = _reduction(
    "reduce_prod", lambda x, axes: np.prod(x, axis=axes, dtype=x.dtype), "iufc", "The product"
)
reduce_max = _reduction("reduce_max", lambda x, axes: np.max(x, axis=axes), "biuf", "The greatest")
reduce_min = _reduction("reduce_min", lambda x, axes: np.min(x, axis=axes), "biuf", "The least")
reduce_and = _reduction(
    "reduce_and",
    lambda x, axes: _bits_of(x, axes, np.bitwise_and, np.all, -1),
    "bi",
    "All joined by and",
)
reduce_or = _reduction(
    "reduce_or",
    lambda x, axes: _bits_of(x, axes, np.bitwise_or, np.any, 0),
    "biu",
    "All joined by or",
)
reduce_xor = _reduction(
    "reduce_xor",
    lambda x, axes: _bits_of(x, axes, np.bitwise_xor, None, 0),
    "biu",
    "All joined by exclusive or",
)


def argmax(operand: Any, axis: int, index_dtype: Any) -> Any:
    """Where the greatest element along an axis is; the first of equal ones, and of NaN.

    operand      an array
    axis         its number
    index_dtype  of the result, a dtype of integers

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.argmax(np.array([1.0, 3.0, 3.0]), 0, np.int32)
    np.int32(1)
    """
    x = checked_array("argmax", operand)
    kind = checked_dtype("argmax", index_dtype, "iu")
    return np.argmax(x, axis=checked_axis("argmax", axis, [x])).astype(kind)


def argmin(operand: Any, axis: int, index_dtype: Any) -> Any:
    """Where the least element along an axis is; the first of equal ones, and of NaN.

    The arguments are those of `argmax`.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.argmin(np.array([1.0, 3.0, 3.0]), 0, np.int32)
    np.int32(0)
    """
    x = checked_array("argmin", operand)
    kind = checked_dtype("argmin", index_dtype, "iu")
    return np.argmin(x, axis=checked_axis("argmin", axis, [x])).astype(kind)


def reduce(operands: Any, init_values: Any, computation: Any, dimensions: Any) -> Any:
    """Combines all elements along some axes.

    operands     an array, or a tree of arrays of one shape
    init_values  one number to begin with, or a tree of them
    computation  (a, b) to the two combined: numbers, or trees of numbers; associative
    dimensions   the axes

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.reduce(np.ones((2, 3)), 0.0, lax.add, (1,))
    array([3., 3.])
    """
    checked_function("reduce", "computation", computation)
    leaves, structure = tree.flatten(operands)
    arrays = [checked_array("reduce", x) for x in leaves]
    inits = [
        checked_number("reduce", "init_values", x, a.dtype)
        for x, a in zip(structure.flatten_up_to(init_values), arrays, strict=True)
    ]
    axes = checked_axes("reduce", dimensions, arrays[0].ndim)
    computation = own(computation)
    whole = _WHOLE.get(computation)
    if whole is not None and len(arrays) == 1:
        return tree.unflatten(structure, [computation(whole(arrays[0], axes), inits[0])])
    others = [k for k in range(arrays[0].ndim) if k not in axes]
    shape = (-1, *[arrays[0].shape[k] for k in others])
    rows = [np.reshape(np.transpose(x, (*axes, *others)), shape) for x in arrays]
    combine = by_element(computation)
    starts = zip(rows, inits, arrays, strict=True)
    totals = tree.unflatten(structure, [np.full(r.shape[1:], i, x.dtype) for r, i, x in starts])
    for k in range(rows[0].shape[0]):
        totals = combine(totals, tree.unflatten(structure, [row[k] for row in rows]))
    return totals


_WHOLE = {
    elementwise.add: reduce_sum,
    elementwise.mul: reduce_prod,
    elementwise.max: reduce_max,
    elementwise.min: reduce_min,
    np.add: reduce_sum,
    np.multiply: reduce_prod,
    np.maximum: reduce_max,
    np.minimum: reduce_min,
}
