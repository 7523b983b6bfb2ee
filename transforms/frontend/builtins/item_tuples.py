"""Stages permutations, combinations and products of itertools; many of them as loops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow import combinatorics
from tapeless.transforms.frontend.control_flow.loop_ranges import Sequence
from tapeless.transforms.frontend.heap.iterators import advancing
from tapeless.transforms.frontend.heap.lists import StagedList

FEW = 64  # tuples of itertools that are made while staging


def combinations_of(make: Callable[..., Any], count: Callable[[int, int], int]) -> Any:
    """What itertools makes of the items of one sequence, as loops if it is much.

    count  how many tuples of `r` items there are
    """

    def combine(hooks: Any, iterable: Any, r: Any) -> Any:
        pool = _pool(hooks, iterable)
        n = _known_length(pool)
        if not isinstance(r, int) or r < 1 or (n is not None and count(n, r) <= FEW):
            return advancing(getattr(itertools, make.__name__)(pool, r))
        return hooks.call(make, pool, r)

    return combine


def permutations(hooks: Any, iterable: Any, r: Any = None) -> Any:
    pool = _pool(hooks, iterable)
    n = _known_length(pool)
    if r != 2 or (n is not None and math.perm(n, 2) <= FEW):
        return advancing(itertools.permutations(pool, r))
    return hooks.call(combinatorics.pairs_in_any_order, pool)


def product(hooks: Any, *iterables: Any, repeat: Any = 1) -> Any:
    pools = tuple(_pool(hooks, iterable) for iterable in iterables)
    lengths = [*map(_known_length, pools)]
    few = None not in lengths and math.prod(lengths) ** max(repeat, 1) <= FEW  # type: ignore[arg-type]
    if few or not isinstance(repeat, int) or repeat < 1 or not pools:
        return advancing(itertools.product(*pools, repeat=repeat))
    return hooks.call(combinatorics.product, pools * repeat)


def _pool(hooks: Any, iterable: Any) -> Any:
    """What is chosen from, by its places."""
    has_places = isinstance(iterable, (range, tuple, list, str, Symbol, Sequence))
    return iterable if has_places else hooks.call(list, iterable)


def _known_length(pool: Any) -> int | None:
    """How many items there are, if that is known while staging."""
    if isinstance(pool, StagedList) and pool.tail is not None:
        return None
    if isinstance(pool, Symbol):
        n = pool.type.shape[0] if pool.type.shape else None
        return n if isinstance(n, int) else None
    if isinstance(pool, Sequence):
        return pool.count if isinstance(pool.count, int) else None
    return len(pool)
