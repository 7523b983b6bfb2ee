"""Loops over one of several containers, by data: as many passes as the longest of them has items.

for e in a if test else b: ...      makes pass k if k < len(a if test else b)
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.branches import branch, choose, each
from tapeless.transforms.frontend.control_flow.iteration import item_of, len_
from tapeless.transforms.frontend.control_flow.loops import for_loop, from_line, loop_key
from tapeless.transforms.frontend.values.choices import Either

HINT = "loop over indices: for k in range(len(items))"


@dataclass(frozen=True, eq=False)
class ChosenItems:
    """What a loop runs over: `item` gives the k-th of `length` items, which is one of `lengths`;
    `sources` are the containers."""

    length: Any
    lengths: frozenset[int]
    item: Callable[[int], Any]
    sources: tuple[Any, ...]

    def __iter__(self) -> Iterator[Any]:
        if isinstance(self.length, Symbol):
            raise UnsupportedError("one of several lists of other lengths is run over here", HINT)
        return map(self.item, range(self.length))


def items_of(hooks: Any, value: Either) -> ChosenItems:
    """The items of one of several lists, tuples or dicts; a list's are read pass by pass."""
    items = _indexable(value)
    length, lengths = each(lambda v: len_(hooks, v), items), frozenset(_lengths(items))
    return ChosenItems(length, lengths, lambda k: hooks.item(items, k), (value,))


def _indexable(value: Any) -> Any:
    if isinstance(value, Either):
        return Either(value.test, _indexable(value.yes), _indexable(value.no))
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, (list, tuple)) and getattr(value, "tail", None) is None:
        return value
    raise UnsupportedError("a loop runs over one of several things, by data", HINT)


def enumerated(hooks: Any, value: Any, start: Any = 0) -> ChosenItems:
    """enumerate(value)"""
    items = items_of(hooks, value)
    return replace(items, item=lambda k: (start + k, items.item(k)))


def backwards(hooks: Any, value: Any) -> ChosenItems:
    """reversed(value)"""
    items = items_of(hooks, value)
    last = items.length - 1
    return replace(items, item=lambda k: hooks.item(value, last - k))


def zipped(hooks: Any, *values: Any) -> ChosenItems:
    """zip(*values)"""
    parts = [items_of(hooks, v) if isinstance(v, Either) else item_of(hooks, v) for v in values]
    counts: list[frozenset[int]] = []
    pairs: list[tuple[Any, Callable[[int], Any]]] = []
    for part in parts:
        length, item = (part.length, part.item) if isinstance(part, ChosenItems) else part
        if not isinstance(part, ChosenItems) and not isinstance(length, int):
            raise UnsupportedError("one of several lists is run over beside an array", HINT)
        counts.append(part.lengths if isinstance(part, ChosenItems) else frozenset({length}))
        pairs.append((length, item))
    shortest = pairs[0][0] if len(pairs) == 1 else hooks.call(min, *(n for n, _ in pairs))
    lengths = frozenset(map(min, itertools.product(*counts)))
    return ChosenItems(shortest, lengths, lambda k: tuple(item(k) for _, item in pairs), values)


#: What makes something to run over of one of several containers.
MAKERS: dict[Any, Callable[..., ChosenItems]] = {
    enumerate: enumerated,
    reversed: backwards,
    zip: zipped,
}


def for_chosen(
    hooks: Any,
    items: ChosenItems,
    body: Callable[[Any], Any],
    frame: Any,
    stop: str | None,
    name: str,
) -> None:
    """A for statement over one of several containers."""
    before = [_lengths(source) for source in items.sources]

    def take(k: int) -> None:
        if isinstance(items.length, Symbol):
            branch(items.length > k, lambda: body(items.item(k)), lambda: None)
        else:
            body(items.item(k))
        if [_lengths(source) for source in items.sources] != before:
            raise UnsupportedError("a list is changed by the loop that runs over it", HINT)

    for_loop(iter(range(max(items.lengths))), from_line(loop_key(body), take), frame, stop, name)


def over_lengths(items: ChosenItems, make: Callable[[ChosenItems], Any], lazy: bool) -> Any:
    """What `make` gives for as many items as there are; `lazy`: it records nothing, and what it
    gives for each length stays apart."""
    *others, most = (replace(items, length=n) for n in sorted(items.lengths))
    made = (lambda: make(most)) if not lazy else make(most)
    for known in others:
        test = items.length == known.length
        if lazy:
            made = Either(test, make(known), made)
        else:
            made = functools.partial(choose, test, functools.partial(make, known), made)
    return made if lazy else made()


def _lengths(value: Any) -> list[int]:
    """How long each container is that it may be."""
    if isinstance(value, Either):
        return _lengths(value.yes) + _lengths(value.no)
    return [] if isinstance(value, Symbol) else [-1 if getattr(value, "tail", None) else len(value)]
