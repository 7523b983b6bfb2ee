"""Writes iterators of itertools as generator functions, so that loops over them can be rolled: the
same tuples, in the order of Python's.

for i, j in itertools.combinations(range(n), 2)
    becomes      for i in range(n): for j in range(i + 1, n)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tapeless.transforms.frontend.control_flow.loop_ranges import Sequence

__staged__ = True  # entered as code of the user's is


class AsItIs:
    """A function that is not entered, but run while staging."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __staged_call__(self, *args: Any) -> Any:
        return self.function(*args)

    __call__ = __staged_call__


#: Whether a pool is a range, and its number at a place, which is there.
is_range = AsItIs(lambda x: isinstance(x, range) or (isinstance(x, Sequence) and x.is_range))
number_at = AsItIs(lambda numbers, k: numbers.start + k * numbers.step)


def combinations(pool: Any, r: int) -> Iterator[tuple[Any, ...]]:
    yield from _choose(pool, r, 0, 1, ())


def combinations_with_replacement(pool: Any, r: int) -> Iterator[tuple[Any, ...]]:
    yield from _choose(pool, r, 0, 0, ())


def _choose(
    pool: Any, r: int, first: int, apart: int, items: tuple[Any, ...]
) -> Iterator[tuple[Any, ...]]:
    """The tuples of `r` more items, from a place on, each `apart` or more behind the one before."""
    if r == 0:
        yield items
    else:
        for k in range(first, len(pool)):
            item = number_at(pool, k) if is_range(pool) else pool[k]
            yield from _choose(pool, r - 1, k + apart, apart, (*items, item))


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
            if i == j:
                continue
            if is_range(pool):
                yield number_at(pool, i), number_at(pool, j)
            else:
                yield pool[i], pool[j]


def numbered(items: Any, start: int) -> Iterator[tuple[int, Any]]:
    """enumerate(items, start)"""
    k = start
    for item in items:
        yield k, item
        k += 1


def mapped(function: Any, items: Any) -> Iterator[Any]:
    """map(function, items)"""
    for item in items:
        yield function(item)


def accumulated(items: Any, function: Any, initial: Any) -> Iterator[Any]:
    """itertools.accumulate(items, function, initial=initial)"""
    total, began = initial, initial is not None
    if began:
        yield total
    for item in items:
        total = function(total, item) if began else item
        began = True
        yield total
