"""Implements the `at` methods of ufuncs, also where an index names an element more than once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.errors import ArgumentTypeError

__staged__ = True  # plain NumPy code: a staged run enters it


def _method_at(ufunc: Any) -> Callable[..., None]:
    def at(a: Any, indices: Any, *b: Any) -> None:
        changed = ufunc(a[indices], *b)
        if not np.can_cast(changed.dtype, a.dtype, "same_kind"):
            raise ArgumentTypeError(
                f"np.{ufunc.__name__}.at: {changed.dtype} does not go into an array of {a.dtype}",
                "convert the array with .astype first",
            )
        if may_repeat(indices):
            one_by_one(ufunc, a, indices, *b)
        else:
            a[indices] = changed

    return at


AT = (
    *(np.multiply, np.divide, np.power, np.fmax, np.fmin, np.negative, np.absolute, np.exp),
    *(np.log, np.sqrt, np.square, np.sin, np.cos, np.tanh),
)
NUMPY: dict[Any, Any] = {ufunc.at: _method_at(ufunc) for ufunc in AT}


def one_by_one(func: Any, array: Any, key: Any, *values: Any) -> None:
    """array[key] = func(array[key], *values), element after element, in the order of the key."""
    places = np.arange(array.size).reshape(array.shape)[key]
    lines = [np.ravel(np.broadcast_to(v, places.shape)) for v in values]
    places, line = np.ravel(places), np.copy(np.ravel(array))
    for k in range(places.shape[0]):
        line[places[k]] = func(line[places[k]], *[v[k] for v in lines])
    array[...] = np.reshape(line, array.shape)


def may_repeat(key: Any) -> bool:
    """Whether an index may name an element twice: one with an array of integers."""
    entries = key if isinstance(key, tuple) else (key,)
    return any(not is_basic(e) and kind(e) != "b" for e in entries)


def is_basic(entry: Any) -> bool:
    return entry is None or entry is Ellipsis or isinstance(entry, slice) or np.ndim(entry) == 0


def kind(entry: Any) -> str:
    """The kind of an array or number: "b" for masks."""
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return ""
    return str((entry if hasattr(entry, "dtype") else np.asarray(entry)).dtype.kind)
