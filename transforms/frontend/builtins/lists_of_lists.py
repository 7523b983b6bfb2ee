"""Stages lists of empty lists of which run-time values say which one grows, as linked lists in
arrays.

cells = [[] for _ in range(n)]; cells[int(x)].append(v)
    becomes      cells = Rows(n); cells.append(int(x), v)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.control_flow.iteration import len_
from tapeless.transforms.frontend.control_flow.loop_iterators import Through
from tapeless.transforms.frontend.control_flow.loop_ranges import lists_of
from tapeless.transforms.frontend.heap.lists import StagedList
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.container_aliases import StaleKey, require_current
from tapeless.transforms.prelude.containers.appended_lists import Grown
from tapeless.transforms.prelude.containers.hashed_containers import Keys, View
from tapeless.transforms.prelude.containers.linked_lists import Part, Row, Rows

COPY = "put a copy there: list(...)"


def rows_of(hooks: Any, name: str, make_rows: Callable[[], Any], spans: Any) -> Any:
    """What a display or comprehension makes; `spans` are what it runs over, or lengths."""
    key = (make_rows.__code__.co_filename, make_rows.__code__.co_firstlineno, name)
    if key not in trace().decisions.rows:
        rows = make_rows()
        if rows.tail is not None or all(type(x) is StagedList for x in rows):
            rows.rows_key = key
        return rows
    items = [span() for span in spans]
    shape = tuple(x if type(x) is int else len_(hooks, x) for x in items)
    return hooks.call(Part, hooks.call(Rows, shape), ())


def empty_list(hooks: Any, name: str) -> Any:
    """[], which holds rows of its own if lists of different lengths are appended to it."""
    if name in trace().decisions.rows:
        return hooks.call(Grown)
    empty = trace().born(StagedList())
    empty.grows_key = name
    return empty


def given_away(items: Any) -> None:
    """A list is kept in another by its items: under its own name it is out of date."""
    t = trace()
    birth = t.birth(items)
    if isinstance(items, tuple):
        return
    if not isinstance(items, list) or not birth or id(items) in t.containers.read_only:
        raise UnsupportedError("a list that is not new is put in lists of data", COPY)
    require_current(items)
    t.memory.stale[StaleKey(id(items), birth)] = "was put in a list or a dictionary of data"


def kept_still(items: Any, outer_list: Any, place: Any) -> Any:
    """Remembers of a list what it was taken from, which must not change while a loop runs over
    the list in its place."""
    items.taken_from = outer_list, place
    return items


@contextmanager
def running_over(value: Any) -> Iterator[None]:
    """Rows, dictionaries and sets must not grow while a loop runs over them."""
    running_lists = list(_run_over(value))
    before = [(outer_list, outer_list.running) for outer_list, _ in running_lists]
    for outer_list, place in running_lists:
        object.__setattr__(outer_list, "running", (*outer_list.running, place))
    try:
        yield
    finally:
        for outer_list, running in reversed(before):
            object.__setattr__(outer_list, "running", running)


def _run_over(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Row):
        yield value.rows, value.place
    elif isinstance(value, (Grown, Keys, View)):
        yield (value.whole if isinstance(value, View) else value), 0
    else:
        items = value.items if isinstance(value, Through) else value
        yield from (x.taken_from for x in lists_of(items) if x.taken_from is not None)


def as_lists(value: Any) -> Any:
    """The lists that rows stand for; other values as they are."""
    if isinstance(value, (Part, Row, Keys, View)):
        return trace().enter(type(value).lists, value)
    return value
