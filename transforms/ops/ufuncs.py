"""Which ufunc of NumPy is which operation."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.op import Op
from tapeless.transforms.ops import arithmetic, elementwise, steps

UFUNCS: dict[Any, Op] = {
    op.ufunc: op
    for family in (arithmetic, steps, elementwise)
    for op in vars(family).values()
    if isinstance(op, Op) and op.ufunc is not None
}
