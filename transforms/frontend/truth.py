"""The truth of a test, and values whose definition depends on one."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core import dims
from tapeless.transforms.core.language import (
    Atom,
    Literal,
)
from tapeless.transforms.frontend.staged_list import StagedList
from tapeless.transforms.frontend.symbols import Symbol, wrap
from tapeless.transforms.ops import elementwise


def truth(value: Any) -> Any:
    """A test as Python sees it: a bool, or a symbol of type bool."""
    if isinstance(value, StagedList) and value.tail is not None:
        value = value.length() > 0
    if not isinstance(value, Symbol):
        return bool(value)
    if value.type.shape:
        total = dims.product(value.type.shape)
        if total != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. "
                "Use a.any() or a.all()"
            )
        value = value.item()
    if value.type.dtype.kind != "b":
        value = wrap(elementwise.not_equal(value.value(), 0))
    if isinstance(value, Symbol) and isinstance(value.cell and value.cell.atom, Literal):
        return bool(value.cell.atom.value)  # type: ignore[union-attr]
    return value


def undefined_flag(value: Any) -> Atom | None:
    """The truth value that says whether a variable is defined, where that is not certain."""
    if isinstance(value, Symbol) and value.undefined is not None:
        return value.undefined[1]  # type: ignore[no-any-return]
    return None
