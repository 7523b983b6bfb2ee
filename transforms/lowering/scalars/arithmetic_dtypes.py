"""Gives the dtypes of arithmetic in loop form, which are Numba's: every reader of kernels has them.

int32 + int32      gives      int64;      int64 * float32      gives      float64
"""

from __future__ import annotations

from typing import Any

import numpy as np

Dtype = np.dtype[Any]
BOOL, INT, UINT = np.dtype(bool), np.dtype(np.int64), np.dtype(np.uint64)
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
NARROW, WIDE = np.dtype(np.complex64), np.dtype(np.complex128)


def integer_sum_dtype(dtype: Dtype) -> Dtype:
    """The dtype of sums and products of integers of one dtype."""
    return UINT if dtype.kind == "u" else INT


def common(a: Dtype, b: Dtype) -> Dtype:
    """The dtype of arithmetic with both."""
    if "c" in a.kind + b.kind:
        return WIDE if WIDE in (a, b) or common(*map(part, (a, b))) == DOUBLE else NARROW
    if "f" not in a.kind + b.kind:
        return UINT if a.kind == b.kind == "u" else INT
    if SINGLE in (a, b) and a != b and DOUBLE not in (a, b):
        small = a if b == SINGLE else b
        return SINGLE if small.itemsize < 4 else DOUBLE
    return SINGLE if a == b == SINGLE else DOUBLE


def part(dtype: Dtype) -> Dtype:
    """The dtype of the real part of a number."""
    return SINGLE if dtype == NARROW else DOUBLE if dtype == WIDE else dtype


def common_dtype(a: Dtype, b: Dtype) -> Dtype | None:
    """The dtype of a variable that holds either; None where there is none."""
    if a == b:
        return a
    if {a, b} <= {BOOL, INT, DOUBLE, SINGLE}:
        return DOUBLE if "f" in a.kind + b.kind else INT
    if set(a.kind + b.kind) == {"u"}:
        return UINT
    if set(a.kind + b.kind) <= {"i", "u"} and UINT not in (a, b):
        return INT
    return None
