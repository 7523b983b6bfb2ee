"""Finds positions in sorted lists by bisection: the functions of `bisect`, on run-time values."""

from __future__ import annotations

import bisect
from typing import Any

__staged__ = True  # plain code: a staged run enters it


def bisect_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    """The first place that keeps the order."""
    first, end = bounds(a, lo, hi)
    while first < end:
        middle = (first + end) // 2
        if sort_key(a[middle], key) < x:
            first = middle + 1
        else:
            end = middle
    return first


def bisect_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    """The last place that keeps the order."""
    first, end = bounds(a, lo, hi)
    while first < end:
        middle = (first + end) // 2
        if x < sort_key(a[middle], key):
            end = middle
        else:
            first = middle + 1
    return first


def insort_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    """Puts x before the items that are as large."""
    a.insert(bisect_left(a, sort_key(x, key), lo, hi, key=key), x)


def insort_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    """Puts x behind the items that are as large."""
    a.insert(bisect_right(a, sort_key(x, key), lo, hi, key=key), x)


def bounds(a: Any, lo: Any, hi: Any) -> Any:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    return lo, len(a) if hi is None else hi


def sort_key(item: Any, key: Any) -> Any:
    return item if key is None else key(item)


OURS = (bisect_left, bisect_right, insort_left, insort_right)
PYTHON: dict[Any, Any] = {getattr(bisect, ours.__name__): ours for ours in OURS}
