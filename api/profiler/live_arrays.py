"""Finds the arrays that are alive, and who holds on to them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeless.profiler.array_holders import Holder, holders
from tapeless.staging.device_list import GPU


def live_arrays(platform: str | None = None) -> list[Any]:
    """The arrays that are alive, as far as they can be found: those in variables of the
    functions that run now, of modules, and in containers and objects of Python. Arrays that only C
    code holds are not among them.

    platform  "cpu", which is what None means: NumPy's; "gpu": those of CuPy

    Views of one array are one, the array that owns the memory.

    >>> x = np.ones((1000, 1000))
    >>> any(x is found for found in live_arrays())
    True
    """
    kind = np.ndarray if platform in (None, "cpu") else gpu_class(platform)
    return [] if kind is None else [array for array, _, _ in held_arrays(kind)]


def gpu_class(platform: str | None) -> Any:
    """The class of arrays on a GPU; None for other platforms, and where there are none yet."""
    return getattr(sys.modules.get("cupy"), "ndarray", None) if platform in GPU else None


def held_arrays(kind: type = np.ndarray) -> Iterator[Holder]:
    """Each live array of a class, with what tells the stack or the name of who holds it."""
    seen: set[int] = set()
    for held, stack, name in holders(kind):
        array = owner(held) if kind is np.ndarray else owner_on_gpu(held)
        if array is not None and id(array) not in seen:
            seen.add(id(array))
            yield array, stack, name


def owner(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """The array whose memory this is; None for memory that is no array's."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array if array.flags.owndata or array.base is not None else None


def owner_on_gpu(array: Any) -> Any:
    """The array whose memory this is."""
    while array.base is not None:
        array = array.base
    return array
