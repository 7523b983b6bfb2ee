"""Stages lists that get objects under tests on run-time values: loops over them, and appends."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from tapeless.transforms.frontend.arrays.symbols import apply
from tapeless.transforms.frontend.builtins.deques import StagedDeque
from tapeless.transforms.frontend.control_flow.truth import number_of_items
from tapeless.transforms.frontend.heap.locations import ContentsLocation
from tapeless.transforms.frontend.objects import special_methods
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.container_aliases import require_fresh
from tapeless.transforms.frontend.values.container_writes import before_write, write_back
from tapeless.transforms.frontend.values.uneven_contents import FlaggedContents, flagged_contents
from tapeless.transforms.ops.function_table import FUNCTIONS
from tapeless.transforms.prelude.containers.filtered_lists import FilteredList


def change_flagged(items: Any, name: str, values: tuple[Any, ...]) -> bool:
    """items.append(value), or items.clear(), of such a list; False of another one, and for what is
    done to it otherwise."""
    contents = flagged_contents(items)
    if contents is None or len(values) != {"append": 1, "clear": 0}.get(name):
        return False
    require_fresh(items)
    location = ContentsLocation(items)
    trace().touch(location)
    location.set(contents.items)  # of one length, while those that may be the same become stale
    before_write(items)
    location.set(_longer(items, contents, *values) if values else ())
    write_back(items)
    return True


def _longer(items: Any, contents: FlaggedContents, value: Any) -> FlaggedContents:
    """The contents after a value was appended; a full deque loses the first one of them."""
    longer = FlaggedContents((*contents.items, value), (*contents.flags, True))
    is_deque = isinstance(items, (deque, StagedDeque))
    return _last_items(longer, items.maxlen if is_deque else None)


def _last_items(contents: FlaggedContents, n: int | None) -> FlaggedContents:
    """At most n items: the last ones of those that are there, as a full deque keeps them."""
    if n is None or len(contents.flags) <= n:
        return contents
    flags: list[Any] = list(contents.flags)
    for k in range(len(flags) - n):
        later = number_of_items(FlaggedContents((), contents.flags[k + 1 :]))
        is_kept = later < n
        if is_kept is False or flags[k] is False:
            flags[k] = False
        elif is_kept is not True:
            flags[k] = apply(FUNCTIONS[np.logical_and], flags[k], is_kept)
    first = next((k for k, flag in enumerate(flags) if flag is not False), len(flags))
    return FlaggedContents(contents.items[first:], tuple(flags[first:]))


def item_of_flagged(items: Any, key: Any) -> Any:
    """The item at a place, where it is known which items are there up to it; None of others."""
    contents = flagged_contents(items)
    if contents is not None:
        require_fresh(items)
    if contents is None or not isinstance(key, int) or not -len(contents.items) <= key:
        return None
    flags = contents.flags[key:] if key < 0 else contents.flags[: key + 1]
    sure = key < len(contents.items) and all(flag is True for flag in flags)
    return contents.items[key] if sure else None


def items_of_flagged(items: Any) -> Any:
    """An iterator over the items that are there."""
    contents = flagged_contents(items)
    assert contents is not None
    require_fresh(items)
    filtered = trace().born(FilteredList(None, contents.items, contents.flags))
    iterator = special_methods.iterable_of(filtered)
    iterator.filtered = filtered
    return iterator


def require_same_items(items: Any, before: FlaggedContents) -> None:
    """A list that a loop over it makes longer is one of several lengths."""
    if flagged_contents(items) is not before:
        trace().decisions.by_length()
