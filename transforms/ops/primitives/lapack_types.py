"""Checks what matrices must be for LAPACK, and computes in which dtype it gives results."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.builder import current
from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom
from tapeless.transforms.errors import NotSquareError
from tapeless.transforms.ops.primitives.new_arrays import eye


def check_matrix(x: Atom) -> None:
    if x.type.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{x.type.ndim}-dimensional array given. Array must be at least two-dimensional"
        )


def square_shape(x: Atom) -> tuple[Size, ...]:
    """The shape of square matrices."""
    check_matrix(x)
    rows, columns = x.type.shape[-2:]
    if rows != columns and (1 in (rows, columns) or not current().same_size(rows, columns)):
        raise NotSquareError(
            f"the last 2 dimensions of the array must be square, and are {rows} and {columns}",
            "use np.linalg.lstsq or np.linalg.pinv for matrices of other shapes",
        )
    return x.type.shape  # type: ignore[no-any-return]


def lapack_dtype(*args: Atom) -> Any:
    """The dtype in which LAPACK works on matrices."""
    return np.result_type(
        np.float32, *(np.float64 if a.type.dtype.kind in "iub" else a.type.dtype for a in args)
    )


def identity_of(x: Atom) -> Any:
    """The identity of the size of square matrices."""
    n = x.type.shape[-1]
    return eye(sides=(n, n), k=0, dtype=x.type.dtype)
