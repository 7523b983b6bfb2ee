"""Folds constants: tests and computes with numbers that operations see while a program is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.core.builder import atom
from tapeless.transforms.core.language import Atom, Literal
from tapeless.transforms.ops.primitives.shapes import Atoms


def is_number(a: Atom, value: float) -> bool:
    if not isinstance(a, Literal) or a.value is None or isinstance(a.value, (bool, np.bool_)):
        return False
    return bool(a.value == value)


def fold(operation: Callable[..., Any], args: Atoms) -> Atom | None:
    """Arithmetic of Python numbers, done now."""
    if all(isinstance(a, Literal) and a.type.weak and a.value is not None for a in args):
        try:
            return atom(operation(*(a.value for a in args)))  # type: ignore[union-attr]
        except (ArithmeticError, ValueError):
            return None
    return None


def keeps_type(x: Atom, other: Atom) -> bool:
    """Whether x op other has the type of x, for a scalar literal `other` that changes nothing."""
    if x.type.weak and not other.type.weak:
        return False
    if not other.type.weak:
        return bool(np.promote_types(x.type.dtype, other.type.dtype) == x.type.dtype)
    kinds = "biufc"
    have, added = kinds.index(x.type.dtype.kind), kinds.index(other.type.dtype.kind)
    return 0 < have >= added


def constant(a: Atom) -> Any:
    """The value of a Python number, else None."""
    return a.value if isinstance(a, Literal) and a.type.weak else None
