"""Keys with a truth value in them, which are an axis of length one, or of none.

x[True]       is      x[None].copy()
x[x > 0]      of a number x is an array of it, or of nothing
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeless.transforms.core.language import Literal, Var
from tapeless.transforms.errors import UnsupportedError


def is_truth(e: Any) -> bool:
    """Whether an entry of a key is one truth value, known or not."""
    if isinstance(e, (Var, Literal)):
        return bool(e.type.dtype.kind == "b" and not e.type.shape)
    return isinstance(e, (bool, np.bool_))


def whole(entries: list[Any], ndim: int) -> list[Any]:
    """A key with full slices in the place of the ellipsis, or at the end."""
    used = sum(_axes_taken(e) for e in entries)
    if used > ndim:
        raise IndexError(
            f"too many indices for array: array is {ndim}-dimensional, but {used} were indexed"
        )
    if sum(e is Ellipsis for e in entries) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    at = next((k for k, e in enumerate(entries) if e is Ellipsis), len(entries))
    return [*entries[:at], *[slice(None)] * (ndim - used), *entries[at + 1 :]]


def _axes_taken(e: Any) -> int:
    if e is None or e is Ellipsis or is_truth(e):
        return 0
    if isinstance(e, Var) and e.type.dtype.kind == "b":
        return e.type.ndim  # type: ignore[no-any-return]
    return 1


def truth_of(key: Any, ndim: int) -> tuple[Any, int, list[Any]] | None:
    """The truth value in a key, its place, and the entries beside it; None if it has none."""
    entries = list(key) if isinstance(key, tuple) else [key]
    if not any(map(is_truth, entries)):
        return None
    entries = whole(entries, ndim)
    (place, *more) = [k for k, e in enumerate(entries) if is_truth(e)]
    rest = [*entries[:place], *entries[place + 1 :]]
    if more or not all(e is None or isinstance(e, slice) for e in rest):
        raise UnsupportedError(
            "an index of truth values beside other indices", "index by one after the other"
        )
    truth = entries[place]
    return truth.value if isinstance(truth, Literal) else truth, place, rest
