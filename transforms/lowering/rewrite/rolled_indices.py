"""Rewrites rolled arrays as elements of the arrays that they are rolled from.

y = roll(x, 1, axis=0)      becomes      y = x[cyclic(n, 1)], read at x[i - 1 if i > 0 else n - 1]
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from tapeless.transforms.core.dims import Size
from tapeless.transforms.core.language import Atom, Let, Type, Var
from tapeless.transforms.core.operation import Op
from tapeless.transforms.ops.primitives.new_arrays import no_tangent
from tapeless.transforms.ops.primitives.slices_and_gathers import Slot, gather
from tapeless.transforms.python_text.python_source import template

INT = np.dtype(np.int64)

#: Where the elements of a rolled axis come from.
cyclic = Op(
    "cyclic",
    lambda *, length, shift: Type(INT, (length,)),
    "np.roll(np.arange({length}), {shift})",
    no_tangent,
)


def roll_axis(x: Atom, axis: int, shift: int) -> Any:
    """The elements of `x` at which those lie that are moved by `shift` places along an axis."""
    whole = (slice(None),) * axis
    return gather(x, cyclic(length=x.type.shape[axis], shift=shift), key=(*whole, Slot(0)))


def is_within(a: Any, n: Size, defs: dict[Var, Any]) -> bool:
    """Whether indices are known to be those of an axis of `n` elements."""
    definition = defs.get(a)
    return (
        isinstance(definition, Let) and definition.op is cyclic and definition.params["length"] == n
    )


def place(s: Let, at: ast.expr, n: ast.expr) -> ast.expr:
    """Where the element at a place of the rolled axis comes from."""
    shift = s.params["shift"]
    k = abs(shift)
    if shift > 0:
        text = "{0} - 1 if {0} > 0 else {1} - 1"
        if k > 1:
            text = f"{{0}} - {k} if {{0}} >= {k} else {{0}} - {k} + {{1}}"
    else:
        text = f"{{0}} + {k} if {{0}} < {{1}} - {k} else {{0}} + {k} - {{1}}"
        if k == 1:
            text = "{0} + 1 if {0} < {1} - 1 else 0"
    return template(text, {"0": at, "1": n})  # type: ignore[no-any-return]
