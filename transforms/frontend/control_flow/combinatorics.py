"""The iterators of itertools over combinations, as generator functions, so that loops over them can
be rolled: the tuples in the order of Python's.

for i, j in itertools.combinations(range(n), 2)
    becomes      for i in range(n): for j in range(i + 1, n)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__staged__ = True  # entered as code of the user's is


def combinations(pool: Any, r: int) -> Iterator[tuple[Any, ...]]:
    yield from _chosen(pool, r, 0, 1, ())


def combinations_with_replacement(pool: Any, r: int) -> Iterator[tuple[Any, ...]]:
    yield from _chosen(pool, r, 0, 0, ())


def _chosen(
    pool: Any, r: int, first: int, apart: int, items: tuple[Any, ...]
) -> Iterator[tuple[Any, ...]]:
    """The tuples of `r` more items, from a place on, each `apart` or more behind the one before."""
    if r == 0:
        yield items
    else:
        for k in range(first, len(pool)):
            yield from _chosen(pool, r - 1, k + apart, apart, (*items, pool[k]))


def product(pools: tuple[Any, ...], items: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if len(pools) == 0:
        yield items
    else:
        for item in pools[0]:
            yield from product(pools[1:], (*items, item))


def pairs_in_any_order(pool: Any) -> Iterator[tuple[Any, Any]]:
    """permutations(pool, 2)"""
    for i in range(len(pool)):
        for j in range(len(pool)):
            if i != j:
                yield pool[i], pool[j]


def numbered(items: Any, start: int) -> Iterator[tuple[int, Any]]:
    """enumerate(items, start)"""
    k = start
    for item in items:
        yield k, item
        k += 1
