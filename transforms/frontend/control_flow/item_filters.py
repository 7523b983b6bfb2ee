"""Writes iterators of itertools that pass on items of others as generator functions, so that loops
over them can be rolled, and run-time values may decide which items are passed on.

for v in itertools.takewhile(test, x): ...
    becomes      for v in x:
                     if not test(v): break
                     ...
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from tapeless.transforms.core.builder import NeedStatic
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.control_flow.combinatorics import AsItIs
from tapeless.transforms.frontend.control_flow.comprehensions import Lazy, comprehension, must_roll
from tapeless.transforms.frontend.heap.iterators import Advancing
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.trace.trace import trace

__staged__ = True  # entered as code of the user's is


def takewhile(test: Any, items: Any) -> Iterator[Any]:
    for item in items:
        if not test(item):
            return
        yield item


def dropwhile(test: Any, items: Any) -> Iterator[Any]:
    dropping = True
    for item in items:
        if dropping and test(item):
            continue
        dropping = False
        yield item


def filterfalse(test: Any, items: Any) -> Iterator[Any]:
    for item in items:
        if not (item if test is None else test(item)):
            yield item


def compress(items: Any, selectors: Any) -> Iterator[Any]:
    for item, selector in zip(items, selectors, strict=False):
        if selector:
            yield item


def chain(*parts: Any) -> Iterator[Any]:
    for part in parts:
        yield from part


def islice(items: Any, *bounds: Any) -> Iterator[Any]:
    start, stop, step = slice(*bounds).start, slice(*bounds).stop, slice(*bounds).step
    wanted = 0 if start is None else start
    for place, item in enumerate(items):
        if stop is not None and place >= stop:
            return
        if place == wanted:
            yield item
            wanted += 1 if step is None else step


def pairwise(items: Any) -> Iterator[tuple[Any, Any]]:
    before, first = None, True
    for item in items:
        if not first:
            yield before, item
        before, first = item, False


def _contents_of(items: Any) -> Any:
    """What an array, or the array that an expression goes over, holds now."""
    source = items.made[0] if isinstance(items, Lazy) else items
    return source.value() if isinstance(source, Symbol) else None


def _refuse_change(items: Any, before: Any) -> None:
    if _contents_of(items) is not before:
        raise UnsupportedError(
            "an array changes in a loop over its groups, which itertools.groupby reads later",
            "loop over the groups of a copy: x.copy()",
        )


_contents, _require_unchanged = AsItIs(_contents_of), AsItIs(_refuse_change)


def groupby(items: Any, key: Any = None) -> Iterator[tuple[Any, list[Any]]]:
    before = _contents(items)
    current: Any = None
    group: list[Any] = []
    for item in items:
        _require_unchanged(items, before)
        following = _key_of(item, key)
        if len(group) > 0 and following != current:
            yield current, group
            group = []
        group.append(item)
        current = following
    if len(group) > 0:
        yield current, group


def _key_of(item: Any, key: Any) -> Any:
    return item if key is None else key(item)


def is_pushed(x: Any) -> bool:
    """Whether a loop over an iterator is one of the program."""
    return isinstance(x, Advancing) and x.pushes


def list_of_generator(x: Advancing) -> Any:
    """The items of a generator that has not begun: one by one as Python takes them; where
    run-time values say which there are, by a loop of the program."""
    run, runs = trace(), x.runs
    start, stale = len(run.blocks[-1]), dict(run.memory.stale)
    try:
        with run.undone_by_errors():
            return run.born(StagedList(x))
    except NeedStatic:
        if run.observing:
            raise
        del run.blocks[-1][start:]
        run.memory.stale = stale
    again = Advancing(x.source, runs)
    return comprehension("ListComp", (again, lambda item: (lambda: True, lambda: item), False))


def _rolls(x: Any) -> bool:
    return must_roll(x) or is_pushed(x)


def _has_items(x: Any) -> bool:
    """Whether the items are there already, or are made by an expression: what is left of a user's
    generator after some of its items is not asked for."""
    return must_roll(x) or (isinstance(x, Lazy) and is_pushed(x))


#: The generator function of a class, and which of its arguments say whether to take it.
STAGED: dict[Any, tuple[Callable[..., Any], slice, Callable[[Any], bool]]] = {
    itertools.takewhile: (takewhile, slice(1, 2), _rolls),
    itertools.dropwhile: (dropwhile, slice(1, 2), _rolls),
    itertools.filterfalse: (filterfalse, slice(1, 2), _rolls),
    itertools.compress: (compress, slice(0, 2), _has_items),
    itertools.chain: (chain, slice(None), _has_items),
    itertools.islice: (islice, slice(1), _has_items),
    itertools.pairwise: (pairwise, slice(1), _has_items),
    itertools.groupby: (groupby, slice(1), _has_items),
}


def staged_form(f: Any, args: tuple[Any, ...]) -> Callable[..., Any] | None:
    """The generator function that stands for a call of itertools, if a loop over what it passes on
    is one of the program."""
    if f not in STAGED or trace().tracing:
        return None
    function, place, is_asked_for = STAGED[f]
    return function if any(map(is_asked_for, args[place])) else None
