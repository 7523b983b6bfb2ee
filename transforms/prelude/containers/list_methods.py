"""Implements methods and comparisons of lists that ask what is equal, or where something is, of
run-time values.
"""

from __future__ import annotations

from typing import Any

__staged__ = True  # plain code: a staged run enters it


def count(items: Any, value: Any) -> Any:
    """How many items are equal to a value."""
    matches = 0
    for k in range(len(items)):
        if items[k] == value:
            matches += 1
    return matches


def index(items: Any, value: Any, start: Any = 0, stop: Any = None) -> Any:
    """Where the first item is that is equal to a value."""
    n = len(items)
    for k in range(clip_index(start, n), n if stop is None else clip_index(stop, n)):
        if items[k] == value:
            return k
    tuples = isinstance(items, tuple)
    raise ValueError("tuple.index(x): x not in tuple" if tuples else f"{value!r} is not in list")


def remove(items: Any, value: Any) -> None:
    """Takes the first item out that is equal to a value."""
    n, place = len(items), 0
    while place < n and not items[place] == value:  # noqa: SIM201 (as lists ask)
        place += 1
    if place == n:
        raise ValueError("list.remove(x): x not in list")
    pop(items, place)


def insert(items: Any, k: Any, value: Any) -> None:
    """Puts an item before the k-th one."""
    n = len(items)
    k = clip_index(k, n)
    items.append(value)
    for j in range(n, k, -1):
        items[j] = items[j - 1]
    items[k] = value


def pop(items: Any, k: Any) -> Any:
    """Takes the k-th item out."""
    n = len(items)
    if k < 0:
        k += n
    if k < 0 or k >= n:
        raise IndexError("pop index out of range")
    value = items[k]
    for j in range(k, n - 1):
        items[j] = items[j + 1]
    items.pop()
    return value


def clip_index(k: Any, n: Any) -> Any:
    """A place in a list, as slices take it."""
    if k < 0:
        k += n
    return min(max(k, 0), n)


def equal(a: Any, b: Any) -> Any:
    """a == b"""
    if len(a) != len(b):
        return False
    return all(a[k] == b[k] for k in range(len(a)))


def compare_order(a: Any, b: Any, compare: Any) -> Any:
    """a < b and its like: the first elements that differ decide, or the lengths."""
    for k in range(min(len(a), len(b))):
        if not a[k] == b[k]:  # noqa: SIM201 (as lists ask)
            return compare(a[k], b[k])
    return compare(len(a), len(b))


METHODS = {method.__name__: method for method in (count, index, remove, insert, pop)}
