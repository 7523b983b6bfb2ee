"""Rewrites keys with a truth value in them, which are an axis of length one, or of none.

x[True]       is      x[None].copy()
x[x > 0]      of a number x is an array of it, or of nothing
x[k, mask]    is      x[k][mask]
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


def expand_ellipsis(entries: list[Any], ndim: int) -> list[Any]:
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
    entries = expand_ellipsis(entries, ndim)
    (place, *more) = [k for k, e in enumerate(entries) if is_truth(e)]
    rest = [*entries[:place], *entries[place + 1 :]]
    if more or not all(e is None or isinstance(e, slice) for e in rest):
        raise UnsupportedError(
            "an index of truth values beside other indices", "index by one after the other"
        )
    truth = entries[place]
    return truth.value if isinstance(truth, Literal) else truth, place, rest


def mask_of_part(key: Any) -> tuple[Any, Any] | None:
    """What a key selects beside a mask, and the mask in what that leaves; None for other keys. Two
    masks of one array of truth values are then seen to select as many.

    >>> mask_of_part((2, np.array([True, False]), slice(1, 3)))
    ((2, slice(None, None, None), slice(1, 3, None)), (array([ True, False]),))
    """
    places = [k for k, e in enumerate(key) if _is_mask(e)] if isinstance(key, tuple) else []
    if len(places) != 1:
        return None
    (place,) = places
    mask, before, behind = key[place], key[:place], key[place + 1 :]
    others = [*before, *behind]
    if not all(e is Ellipsis or isinstance(e, slice) or _is_integer(e) for e in others):
        return None
    part = (*before, *(slice(None),) * _mask_ndim(mask), *behind)
    if all(map(_is_integer, before)):  # what comes first stands where the mask does
        whole_axes = 0
    elif Ellipsis in before or any(map(_is_integer, others)):
        return None
    else:
        whole_axes = len(before)
    if all(e is Ellipsis or e == slice(None) for e in part if not _is_integer(e)) and not any(
        map(_is_integer, part)
    ):
        return None  # the mask alone
    return part, (*(slice(None),) * whole_axes, mask)


def _is_integer(e: Any) -> bool:
    if isinstance(e, (bool, np.bool_)):
        return False
    kind: Any = getattr(e, "type", None)
    dtype = getattr(kind, "dtype", None)
    is_number = dtype is not None and dtype.kind in "iu" and not kind.shape
    return isinstance(e, (int, np.integer)) or is_number


def _mask_ndim(e: Any) -> int:
    kind = e if isinstance(e, np.ndarray) else e.type
    return len(kind.shape)


def _is_mask(e: Any) -> bool:
    kind: Any = e if isinstance(e, np.ndarray) else getattr(e, "type", None)
    dtype = getattr(kind, "dtype", None)
    return dtype is not None and dtype.kind == "b" and bool(kind.shape)
