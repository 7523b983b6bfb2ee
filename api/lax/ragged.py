"""Multiplies groups of rows of a matrix, each group with a matrix of its own (`ragged_dot`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.lax.operand_checks import (
    checked_array,
    checked_kind,
    checked_rank,
    checked_same_dtype,
)
from tapeless.transforms.errors import UnsupportedError

__staged__ = True  # plain NumPy code: a staged run enters it


def ragged_dot(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
) -> Any:
    """The rows of a matrix, in groups that follow one another, each group times its own matrix.

    lhs          array of shape (m, k)
    rhs          array of shape (g, k, n)
    group_sizes  integers of shape (g,): how many rows each group has; what is left becomes 0

    Returns an array of shape (m, n).

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.ragged_dot(np.ones((3, 1)), np.array([[[1.0]], [[2.0]]]), np.array([1, 2]))[:, 0]
    array([1., 2., 2.])
    """
    if group_offset is not None:
        raise UnsupportedError("lax.ragged_dot with group_offset", "leave out the groups yourself")
    x, matrices = checked_array("ragged_dot", lhs, "lhs"), checked_array("ragged_dot", rhs, "rhs")
    sizes = checked_kind("ragged_dot", group_sizes, "iu")
    checked_rank("ragged_dot", x, 2, "lhs")
    checked_rank("ragged_dot", matrices, 3, "rhs")
    if preferred_element_type is not None:
        x, matrices = x.astype(preferred_element_type), matrices.astype(preferred_element_type)
    checked_same_dtype("ragged_dot", x, matrices)
    products = np.zeros((x.shape[0], matrices.shape[2]), x.dtype)
    start = 0
    for g in range(matrices.shape[0]):
        stop = start + sizes[g]
        products[start:stop] = x[start:stop] @ matrices[g]
        start = stop
    return products


def ragged_dot_general(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    ragged_dot_dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
) -> Any:
    """`ragged_dot`: of the forms that the dimension numbers can name, groups of rows.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> rows = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    >>> a, b = np.ones((3, 1)), np.array([[[1.0]], [[2.0]]])
    >>> lax.ragged_dot_general(a, b, np.array([1, 2]), rows)[:, 0]
    array([1., 2., 2.])
    """
    numbers = ragged_dot_dimension_numbers
    (left, right), (along, beside) = numbers.dot_dimension_numbers
    axes_named = (
        left,
        right,
        along,
        beside,
        numbers.lhs_ragged_dimensions,
        numbers.rhs_group_dimensions,
    )
    if tuple([tuple(axes) for axes in axes_named]) != ((1,), (1,), (), (), (0,), (0,)):
        raise UnsupportedError(
            "lax.ragged_dot_general for other groups than those of rows",
            "transpose the operands, or write a loop over the groups",
        )
    return ragged_dot(lhs, rhs, group_sizes, None, preferred_element_type, group_offset)
