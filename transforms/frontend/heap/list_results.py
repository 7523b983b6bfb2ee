"""Gives lists that a function returns to a transformation as many leaves as elements."""

from __future__ import annotations

from typing import Any

from tapeless.transforms.core.builder import atom_of_size
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.heap.lists import as_list
from tapeless.transforms.frontend.trace.dependence import can_be_known
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.prelude.containers.linked_lists import Part, Row


def with_known_lists(value: Any) -> Any:
    """The value with lists of known elements: loops that fill one are unrolled, or it is
    refused."""
    listing = own_attribute(value, "listing")
    value = as_list(value)
    if isinstance(value, (Part, Row)):
        raise by_data()
    tail = own_attribute(value, "tail") if isinstance(value, list) else None
    if tail is not None:
        return _with_items(value, tail, (listing or tail).loops)
    if isinstance(value, dict):
        items = {k: with_known_lists(v) for k, v in value.items()}
    elif isinstance(value, (list, tuple)):
        items = dict(enumerate(map(with_known_lists, value)))
    else:
        return value
    if all(v is value[k] for k, v in items.items()):
        return value
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", None)
        return tuple(items.values()) if fields is None else type(value)(*items.values())
    put = dict.__setitem__ if isinstance(value, dict) else list.__setitem__
    for k, v in items.items():
        put(value, k, v)  # no store of the function's
    return value


def _with_items(value: Any, tail: Any, loops: Any) -> Any:
    why = "a list that it fills is returned"
    trace().decisions.unroll_all(dict.fromkeys(loops, why))
    if tail.length is not None and can_be_known(atom_of_size(tail.length)):
        items = list(value)
        value.tail = None
        list.extend(value, items)
        return value
    raise by_data()


def by_data() -> UnsupportedError:
    return UnsupportedError(
        "a list is returned whose length depends on the contents of arrays",
        "return an array: np.array(...) of the list",
    )
