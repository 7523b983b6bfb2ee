"""Looks up known dictionaries at a run-time key: where the key is among theirs, and the value
there.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from tapeless.transforms.prelude.containers.linked_lists import refuse

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


def most_common(counts: Any, n: Any = None) -> Any:
    """counts.most_common(n)"""
    ordered = sorted(counts.items(), key=lambda item: item[1], reverse=True)
    return ordered if n is None else ordered[: max(n, 0)]


class Found:
    """One of several known dictionaries of other keys, which is read only."""

    def __init__(self, names: Any, held: Any) -> None:
        self.names, self.held = names, held

    def place(self, key: Any) -> Any:
        for k in range(len(self.names)):
            if self.names[k] == key:
                return k
        return -1

    def __getitem__(self, key: Any) -> Any:
        at = self.place(key)
        if at < 0:
            raise KeyError(key)
        return self.held[at]

    def get(self, key: Any, default: Any = None) -> Any:
        at = self.place(key)
        return self.held[at] if at >= 0 else default

    def __contains__(self, key: Any) -> Any:
        return self.place(key) >= 0

    def __len__(self) -> Any:
        return len(self.names)

    def __bool__(self) -> Any:
        return len(self.names) > 0

    def __iter__(self) -> Any:
        return iter(self.names)

    def keys(self) -> Any:
        return self.names

    def values(self) -> Any:
        return self.held

    def items(self) -> Any:
        return zip(self.names, self.held, strict=True)

    def refuse_change(self, *args: Any, **kwargs: Any) -> NoReturn:
        """What is done with a dictionary beside looking up what it holds."""
        what = "a dict that data picks from others is changed, or used as a whole"
        refuse(what, "look up its values, or run over its items")
        raise NotImplementedError

    __setitem__ = __delitem__ = __eq__ = __ne__ = __or__ = __ror__ = refuse_change
    __repr__ = __str__ = __format__ = __reversed__ = __copy__ = __deepcopy__ = refuse_change
    update = pop = popitem = clear = setdefault = copy = refuse_change
    __hash__ = None  # type: ignore[assignment]
