"""Stages lists that get objects under tests on run-time values: loops over them, and appends."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.frontend.heap.locations import ContentsLocation
from tapeless.transforms.frontend.objects import special_methods
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.container_aliases import require_fresh
from tapeless.transforms.frontend.values.container_writes import before_write, write_back
from tapeless.transforms.frontend.values.uneven_contents import FlaggedContents, flagged_contents
from tapeless.transforms.prelude.containers.filtered_lists import FilteredList


def append_flagged(items: Any, *values: Any) -> bool:
    """Appends to such a list; False to another one."""
    contents = flagged_contents(items)
    if contents is None or len(values) != 1:
        return False
    require_fresh(items)
    location = ContentsLocation(items)
    trace().touch(location)
    location.set(contents.items)  # of one length, while those that may be the same become stale
    before_write(items)
    location.set(FlaggedContents((*contents.items, *values), (*contents.flags, True)))
    write_back(items)
    return True


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
