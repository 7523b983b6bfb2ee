"""Puts items in an order, or picks some, by places that are drawn."""

from __future__ import annotations

from typing import Any

__staged__ = True  # plain code: a staged run enters it


def rearrange(items: Any, places: Any) -> None:
    """Gives each place the item of another one."""
    before = list(items)
    for k in range(len(before)):
        items[k] = before[places[k]]


def pick(items: Any, places: Any) -> Any:
    """The items in these places."""
    return [items[k] for k in places]


def pick_one(items: Any, place: Any) -> Any:
    """The item in this place."""
    return items[place]
