"""Lists of empty lists of which data says which one grows: they are made as linked lists in arrays.

cells = [[] for _ in range(n)]; cells[int(x)].append(v)
    becomes      cells = Rows(n); cells.append(int(x), v)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapeless.transforms.frontend.iteration import len_
from tapeless.transforms.frontend.staged_list import StagedList
from tapeless.transforms.frontend.trace import trace
from tapeless.transforms.written.rows import Part, Row, Rows


def rows_of(hooks: Any, name: str, made: Callable[[], Any], spans: Any) -> Any:
    """What a display or comprehension makes; `spans` are what it runs over, or lengths."""
    key = (made.__code__.co_filename, made.__code__.co_firstlineno, name)
    if key not in trace().decisions.rows:
        found = made()
        if found.tail is not None or all(type(x) is StagedList for x in found):
            found.rows_key = key
        return found
    items = [span() for span in spans]
    shape = tuple(x if type(x) is int else len_(hooks, x) for x in items)
    return hooks.call(Part, hooks.call(Rows, shape), ())


@contextmanager
def running_over(value: Any) -> Iterator[None]:
    """Rows must not grow while a loop runs over them."""
    if not isinstance(value, Row):
        yield
        return
    before = value.rows.running
    object.__setattr__(value.rows, "running", (*before, value.place))
    try:
        yield
    finally:
        object.__setattr__(value.rows, "running", before)


def listed(value: Any) -> Any:
    """The lists that rows stand for; other values as they are."""
    if isinstance(value, (Part, Row)):
        return trace().enter(type(value).lists, value)
    return value
