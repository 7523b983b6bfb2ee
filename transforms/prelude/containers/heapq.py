"""Implements the functions of `heapq`, with the list ordered as Python orders it."""

from __future__ import annotations

import heapq
from typing import Any

__staged__ = True  # plain code: a staged run enters it


def heappush(heap: Any, item: Any) -> None:
    """Puts an item where its parents are no larger."""
    heap.append(item)
    rise(heap, 0, len(heap) - 1)


def heappop(heap: Any) -> Any:
    """Takes the smallest item."""
    last = heap.pop()
    if len(heap) == 0:
        return last
    first = heap[0]
    heap[0] = last
    sink(heap, 0)
    return first


def heapreplace(heap: Any, item: Any) -> Any:
    """Takes the smallest item, and puts another one in."""
    first = heap[0]
    heap[0] = item
    sink(heap, 0)
    return first


def heappushpop(heap: Any, item: Any) -> Any:
    """Puts an item in and takes the smallest one."""
    if len(heap) > 0 and heap[0] < item:
        return heapreplace(heap, item)
    return item


def heapify(heap: Any) -> None:
    """Orders a list as a heap."""
    for k in range(len(heap) // 2 - 1, -1, -1):
        sink(heap, k)


def nsmallest(n: Any, iterable: Any, key: Any = None) -> Any:
    """The n smallest items, in order."""
    return sorted(iterable, key=key)[: max(n, 0)]


def nlargest(n: Any, iterable: Any, key: Any = None) -> Any:
    """The n largest items, the largest one first."""
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


def rise(heap: Any, top: Any, k: Any) -> None:
    """Moves the item at k up to below a smaller one, at most to `top`."""
    item = heap[k]
    while k > top:
        parent = (k - 1) // 2
        if not item < heap[parent]:
            break
        heap[k] = heap[parent]
        k = parent
    heap[k] = item


def sink(heap: Any, k: Any) -> None:
    """Moves the item at k down: along the smaller children to the end, and up again from there."""
    top, end, item = k, len(heap), heap[k]
    child = 2 * k + 1
    while child < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child = child + 1
        heap[k] = heap[child]
        k = child
        child = 2 * k + 1
    heap[k] = item
    rise(heap, top, k)


OURS = (heappush, heappop, heapreplace, heappushpop, heapify, nsmallest, nlargest)
PYTHON: dict[Any, Any] = {getattr(heapq, ours.__name__): ours for ours in OURS}
