"""Represents lists of objects of run-time length: items of the longest, and a length.

    if x > 0: boxes.append(box)         boxes holds one item more, and its length is 2 or 3

What is done to such a list is done for each of its lengths, under a test of the length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeless.transforms.errors import StructureError, UnsupportedError
from tapeless.transforms.frontend.trace.trace import CannotRoll, trace

MOST = 16  # lengths of one list


class UnevenContents:
    """Items of which the first `length`, one of `lengths`, are in the list."""

    __slots__ = ("items", "length", "lengths")

    def __init__(self, items: tuple[Any, ...], length: Any, lengths: frozenset[int]) -> None:
        if len(lengths) > MOST:
            raise StructureError(f"a list of objects has one of more than {MOST} lengths, by data")
        self.items, self.length, self.lengths = items, length, lengths


class FlaggedContents:
    """Items that are in the list where their flags are true, in this order."""

    __slots__ = ("flags", "items")

    def __init__(self, items: tuple[Any, ...], flags: tuple[Any, ...]) -> None:
        self.items, self.flags = items, flags


def contents_of(obj: Any) -> UnevenContents | FlaggedContents | None:
    """What a list holds of which run-time values say how long it is; None of others."""
    contents: UnevenContents | FlaggedContents | None
    contents = trace().containers.uneven.get(id(obj), (None, None))[1]
    return contents


def flagged_contents(obj: Any) -> FlaggedContents | None:
    """What a list holds of whose items run-time values say which are there; None of others."""
    contents = contents_of(obj)
    return contents if isinstance(contents, FlaggedContents) else None


def with_lengths(contents: UnevenContents | FlaggedContents) -> UnevenContents:
    """Contents by length: where such have flags, all are made anew."""
    if isinstance(contents, FlaggedContents):
        trace().decisions.by_length()
        raise NotImplementedError
    return contents


def set_contents(obj: Any, contents: UnevenContents | FlaggedContents | None) -> None:
    if contents is not None:
        trace().containers.uneven[id(obj)] = (obj, contents)
    else:
        trace().containers.uneven.pop(id(obj), None)


def require_definite(obj: Any) -> None:
    """Refuses to take the items of the longest for those of the list."""
    if id(obj) in trace().containers.uneven:
        if trace().loops.rolling:
            raise CannotRoll("run-time values say which objects are in a list that it carries")
        raise UnsupportedError(
            "a list of objects of which data says how many there are is used as a whole",
            "loop over it, or keep arrays of what the objects hold",
        )


def for_each_length(
    contents: UnevenContents,
    choose: Callable[[Any, Callable[[], Any], Callable[[], Any]], Any],
    action: Callable[[tuple[Any, ...]], Any],
) -> Any:
    """What `action` gives for the items of the list, under the tests of its length."""

    def of_lengths(lengths: list[int]) -> Any:
        n, *others = lengths
        if not others:
            return action(contents.items[:n])
        return choose(
            contents.length == n,
            lambda: action(contents.items[:n]),
            lambda: of_lengths(others),
        )

    return of_lengths(sorted(contents.lengths))
