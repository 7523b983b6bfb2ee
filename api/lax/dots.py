"""Multiplies arrays by sums over common axes: `dot_general`, `dot`, `batch_matmul`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeless.lax.loop_body_types import checked_contraction
from tapeless.lax.operand_checks import checked_array, checked_rank
from tapeless.transforms.errors import ArgumentTypeError

__staged__ = True  # plain NumPy code: a staged run enters it


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Sums products over some axes, for each position on others.

    lhs, rhs                arrays; of different dtypes, integers take that of floats
    dimension_numbers       ((axes of lhs, axes of rhs) to sum over, (axes of lhs, axes of rhs) that
                            are gone along side by side)
    precision               accepted, and of no effect: products are those of the dtype
    preferred_element_type  the dtype to compute in and to return

    Returns an array whose axes are those side by side, then the others of lhs, then those of rhs.
    Raises TypeError for axes that do not fit.

    >>> import numpy as np
    >>> from tapeless import lax
    >>> a, b = np.ones((5, 2, 3)), np.ones((5, 3, 4))
    >>> lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))).shape
    (5, 2, 4)
    """
    a, b = checked_array("dot_general", lhs, "lhs"), checked_array("dot_general", rhs, "rhs")
    if preferred_element_type is not None:
        a, b = a.astype(preferred_element_type), b.astype(preferred_element_type)
    elif a.dtype != b.dtype:
        a, b = (
            a.astype(_product_dtype(a.dtype, b.dtype)),
            b.astype(_product_dtype(a.dtype, b.dtype)),
        )
    (left, right), (along, beside) = checked_contraction("dot_general", a, b, dimension_numbers)
    if not along:
        return np.tensordot(a, b, (left, right))
    rows = tuple([k for k in range(a.ndim) if k not in (*left, *along)])
    columns = tuple([k for k in range(b.ndim) if k not in (*right, *beside)])
    batch = tuple([a.shape[k] for k in along])
    shape = (*batch, *[a.shape[k] for k in rows], *[b.shape[k] for k in columns])
    inner = math.prod([a.shape[k] for k in left])
    m, n = math.prod([a.shape[k] for k in rows]), math.prod([b.shape[k] for k in columns])
    first = np.reshape(np.transpose(a, (*along, *rows, *left)), (*batch, m, inner))
    second = np.reshape(np.transpose(b, (*beside, *right, *columns)), (*batch, inner, n))
    return np.reshape(first @ second, shape)


def _product_dtype(a: Any, b: Any) -> Any:
    """The dtype of products of two; that of floats, where the others are integers."""
    if (a.kind in "fc") == (b.kind in "fc"):
        return np.result_type(a, b)
    return a if a.kind in "fc" else b


def dot(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Products of vectors and matrices; `dot_general` where dimension_numbers are given.

    lhs, rhs  arrays of one or two axes

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.dot(np.ones((2, 3)), np.ones(3))
    array([3., 3.])
    """
    a, b = checked_array("dot", lhs, "lhs"), checked_array("dot", rhs, "rhs")
    if dimension_numbers is None:
        if a.ndim not in (1, 2) or b.ndim not in (1, 2):
            raise ArgumentTypeError(
                f"lax.dot: takes vectors and matrices, not {a.ndim} and {b.ndim} axes",
                "give dimension_numbers",
            )
        dimension_numbers = (((a.ndim - 1,), (0,)), ((), ()))
    return dot_general(a, b, dimension_numbers, None, preferred_element_type)


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """Products of matrices, one for each position on the axes before the last two.

    lhs  array of shape (*batch, n, k)
    rhs  array of shape (*batch, k, m)

    >>> import numpy as np
    >>> from tapeless import lax
    >>> lax.batch_matmul(np.ones((5, 2, 3)), np.ones((5, 3, 4))).shape
    (5, 2, 4)
    """
    a, b = checked_array("batch_matmul", lhs, "lhs"), checked_array("batch_matmul", rhs, "rhs")
    checked_rank("batch_matmul", b, a.ndim, "rhs")
    if a.ndim < 2:
        raise ArgumentTypeError("lax.batch_matmul: takes matrices, not vectors", "use lax.dot")
    batch = tuple(range(a.ndim - 2))
    return dot_general(a, b, (((a.ndim - 1,), (a.ndim - 2,)), (batch, batch)))
