"""Clamps and checks positions in arrays that are known at run time only."""

from __future__ import annotations

from typing import Any

from tapeless.lax.loop_body_types import at_most
from tapeless.staging.subprogram import describe, is_value, leaf_atom, leaf_type, shape_text
from tapeless.transforms.core.builder import size_of, var_size
from tapeless.transforms.core.dims import symbols
from tapeless.transforms.core.language import Var
from tapeless.transforms.errors import ArgumentTypeError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.trace.trace import trace


def place(start: Any, n: Any, size: Any) -> Any:
    """A start between 0 and n - size: a staged run then knows that so many elements follow."""
    if isinstance(start, Symbol):
        value = leaf_atom(start)
        if isinstance(value, Var):
            (symbol,) = symbols(var_size(value))
            trace().bounds[symbol] = (0, _size(n) - _size(size))
    return start


def _size(n: Any) -> Any:
    return size_of(leaf_atom(n)) if isinstance(n, Symbol) else n


def is_whole(size: Any, n: Any) -> bool:
    """Whether a part is certainly as long as the axis."""
    return bool(_size(size) == _size(n))


def checked_starts(name: str, starts: Any, x: Any, count: int | None = None) -> list[Any]:
    """One integer for each axis."""
    start_list = list(starts) if not hasattr(starts, "ndim") or starts.ndim else [starts]
    if len(start_list) != (x.ndim if count is None else count):
        raise ArgumentTypeError(f"lax.{name}: {len(start_list)} starts for {x.ndim} axes")
    for start in start_list:
        if not is_value(start) or leaf_type(start).shape or leaf_type(start).dtype.kind not in "iu":
            raise ArgumentTypeError(
                f"lax.{name}: a start must be one integer, not {describe(start)}"
            )
    return start_list


def checked_sizes(name: str, sizes: Any, x: Any) -> list[Any]:
    """Lengths of a part, which must not be longer than the array."""
    size_list, shape = list(sizes), leaf_type(x).shape
    if len(size_list) != len(shape):
        raise ArgumentTypeError(f"lax.{name}: {len(size_list)} sizes for {len(shape)} axes")
    for size, n in zip(size_list, shape, strict=True):
        length = _size(size)
        if isinstance(length, int) and isinstance(n, int) and not 0 <= length <= n:
            raise ArgumentTypeError(
                f"lax.{name}: a part of length {length} of an axis of length {n}"
            )
        if not isinstance(n, int) and not at_most(length, n):
            raise ArgumentTypeError(
                f"lax.{name}: a part of length {size} does not fit into {shape_text(shape)}"
            )
    return size_list
