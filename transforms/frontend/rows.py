"""np.stack and its kin of a list that a rolled loop filled: its elements are rows already."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.frontend.symbols import Symbol, apply
from tapeless.transforms.frontend.trace import trace
from tapeless.transforms.ops.table import FUNCTIONS

JOINERS = (np.stack, np.concatenate, np.vstack, np.hstack, np.column_stack)


def join_rows(func: Any, rows: Symbol, axis: int = 0) -> Any:
    """What a function that joins arrays makes of the rows of one."""
    if is_empty(rows.type.shape[0]):
        what = "stack" if func is np.stack else "concatenate"
        raise ValueError(f"need at least one array to {what}")
    if func is np.stack:
        return apply(FUNCTIONS[np.moveaxis], rows, 0, axis)
    flat = rows.type.ndim == 1
    if func is np.vstack:
        return rows[:, None] if flat else rows if rows.type.ndim == 2 else _merge_rows(rows, 0)
    if func is np.column_stack:
        return rows[None] if flat else rows.T if rows.type.ndim == 2 else _merge_rows(rows, 1)
    if func is np.hstack:
        return rows if flat else _merge_rows(rows, 0 if rows.type.ndim == 2 else 1)
    return _merge_rows(rows, axis)


def is_empty(count: Size) -> bool:
    """Whether a loop left a list empty, as lengths and integers say in each call."""
    found = trace().value(count)
    if found is not None and not dims.at_least(count, 1):
        trace().guard(">=", *((count, 1) if found else (0, count)))
    return found == 0


def _merge_rows(rows: Symbol, axis: int) -> Any:
    """Elements (k, ...) of an array concatenated along one of their axes."""
    if rows.type.ndim < 2:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis %= rows.type.ndim - 1
    moved = apply(FUNCTIONS[np.moveaxis], rows, 0, axis)
    shape = moved.shape
    return moved.reshape(*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :])
