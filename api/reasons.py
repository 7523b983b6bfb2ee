"""Why a function was compiled once more: what is new about the arguments of the first such call.

x of float64 with shape (3, 4), then (1, 4)      becomes      "x gained an axis of length one"
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tapeless.backends import numba

FIRST = "first call"
FAR = 100  # what differs in more than its dtype and lengths of axes
Key = tuple[Any, ...]


def compilations(cache: Mapping[Key, Sequence[Any]]) -> Iterator[Any]:
    """What the specialisations of a function were compiled to, with reasons.

    cache  the specialisations by the types of arguments, the newest of each first
    """
    earlier: list[tuple[Key, Any]] = []
    for key, made in cache.items():
        for each in reversed(made):
            reason = _reason(earlier, key, each)
            earlier.append((key, each))
            for c in numba.compilations(each.run):
                yield dataclasses.replace(c, reason=reason) if c.reason == FIRST else c


def _reason(earlier: list[tuple[Key, Any]], key: Key, made: Any) -> str:
    """What tells a specialisation from the nearest of those before it."""
    if not earlier:
        return FIRST
    if any(before == key for before, _ in earlier):
        known = [f"{made.staged.leaves[k].name} is {value!r}" for k, value in made.static]
        return "; ".join(known) or "what it relied on has changed"
    alike = [before for before, _ in earlier if _frame(before) == _frame(key)]
    if not alike:
        return "other arguments or containers"
    before = min(alike, key=lambda k: sum(map(_distance, _leaves(k), _leaves(key))))
    pairs = zip(made.staged.leaves, _leaves(before), _leaves(key), strict=True)
    return "; ".join(_difference(leaf, a, b) for leaf, a, b in pairs if a != b)


def _leaves(key: Key) -> Key:
    """What is known of each leaf; in front of them may be how containers hold them."""
    return key[2:] if key and hasattr(key[0], "num_leaves") else key


def _frame(key: Key) -> Key:
    leaves = _leaves(key)
    return (*key[: len(key) - len(leaves)], len(leaves))


def _distance(before: Any, now: Any) -> int:
    if not (_is_array(before) and _is_array(now)) or len(before) != len(now):
        return FAR if before != now else 0
    return sum(a != b for a, b in zip(before, now, strict=True))


def _difference(leaf: Any, before: Any, now: Any) -> str:
    """What is new about an argument, or a part of one."""
    name = leaf.name
    if not _is_array(now):
        return f"{name} is {now.__name__ if isinstance(now, type) else repr(leaf.value)}"
    if not _is_array(before):
        return f"{name} is an array"
    if before[0] != now[0]:
        return f"new dtype of {name}: {now[0].name}"
    if len(before) != len(now):
        axes = "1 axis" if len(now) == 2 else f"{len(now) - 1} axes"
        return f"{name} has {axes}, not {len(before) - 1}"
    for length, word in ((1, "one"), (0, "zero")):
        if now.count(length) > before.count(length):
            return f"{name} gained an axis of length {word}"
    return f"{name} has other axes of length zero or one"


def _is_array(kind: Any) -> bool:
    return isinstance(kind, tuple) and isinstance(kind[0], np.dtype)
