"""Known dictionaries at a key from data: where the key is among theirs, and the value there."""

from __future__ import annotations

from typing import Any

import numpy as np

__staged__ = True  # plain code: a staged run enters it


def place_among(columns: Any, key: Any) -> Any:
    """Which of several known keys it is; -1 if none is."""
    hits = columns[0] == key[0]
    for column, part in zip(columns[1:], key[1:], strict=True):
        hits = hits & (column == part)
    at = np.argmax(hits)
    return int(at) if hits[at] else -1


def place_sorted(names: Any, places: Any, key: Any) -> Any:
    """The same, of many numbers, which are in order."""
    at = min(int(np.searchsorted(names, key)), len(names) - 1)
    return int(places[at]) if names[at] == key else -1


def value_at(at: Any, values: Any, key: Any) -> Any:
    if at < 0:
        raise KeyError(key)
    return values[at]


def value_or(at: Any, values: Any, default: Any) -> Any:
    return values[at] if at >= 0 else default
