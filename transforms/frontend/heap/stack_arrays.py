"""Stages np.stack and its like of a list that a rolled loop filled: its elements are rows of an
array already.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core import dims
from tapeless.transforms.core.dims import Size
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol, apply, wrap
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.ops.primitives.joining import axis_of
from tapeless.transforms.ops.primitives.stacks import concatenate_items

JOINERS = (np.stack, np.concatenate, np.vstack, np.hstack, np.column_stack)


def join_rows(func: Any, rows: Symbol, axis: Any = 0) -> Any:
    """What a function that joins arrays makes of the rows of one."""
    if is_empty(rows.type.shape[0]):
        what = "stack" if func is np.stack else "concatenate"
        raise ValueError(f"need at least one array to {what}")
    if func is np.stack:
        return apply(FUNCTIONS[np.moveaxis], rows, 0, axis)
    if axis is None:
        return rows.reshape(-1)
    flat = rows.type.ndim == 1
    if func is np.vstack:
        return rows[:, None] if flat else rows if rows.type.ndim == 2 else _merge_rows(rows, 0)
    if func is np.column_stack:
        return rows[None] if flat else rows.T if rows.type.ndim == 2 else _merge_rows(rows, 1)
    if func is np.hstack:
        return rows if flat else _merge_rows(rows, 0 if rows.type.ndim == 2 else 1)
    return _merge_rows(rows, axis)


def join_uneven(func: Any, stack: Symbol, axis: Any = 0) -> Any:
    """Items end to end, where nothing says that they are equally long; None for others."""
    item = stack.type.item  # type: ignore[attr-defined]
    stacked = func in (np.stack, np.column_stack) or (func is np.vstack and item.ndim < 2)
    if stacked or not item.ndim:
        return None
    if func is np.concatenate:
        k = 0 if axis is None else axis_of(axis, item.ndim)
    else:
        k = int(func is np.hstack and item.ndim > 1)
    sides = item.shape if axis is None else item.shape[k : k + 1]
    if all(map(dims.is_given, sides)):
        return None
    if axis is None and item.ndim > 1:
        raise UnsupportedError("np.concatenate(..., axis=None) of a list", "join flat parts: ravel")
    items = stack.value()
    return wrap(concatenate_items(items, items, axis=k))


def is_empty(count: Size) -> bool:
    """Whether a loop left a list empty, as lengths and integers say in each call."""
    length = trace().value(count)
    if length is not None and not dims.at_least(count, 1):
        trace().guard(">=", *((count, 1) if length else (0, count)))
    return length == 0


def _merge_rows(rows: Symbol, axis: int) -> Any:
    """Elements (k, ...) of an array concatenated along one of their axes."""
    if rows.type.ndim < 2:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = axis_of(axis, rows.type.ndim - 1)
    moved = apply(FUNCTIONS[np.moveaxis], rows, 0, axis)
    shape = moved.shape
    return moved.reshape(*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :])
