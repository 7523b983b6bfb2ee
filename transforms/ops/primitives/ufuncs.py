"""Maps ufuncs of NumPy to operations."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives import arithmetic, comparisons_and_rounding, elementwise

UFUNCS: dict[Any, Op] = {
    op.ufunc: op
    for family in (arithmetic, comparisons_and_rounding, elementwise)
    for op in vars(family).values()
    if isinstance(op, Op) and op.ufunc is not None
}
