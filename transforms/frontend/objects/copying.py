"""Stages copy.copy and copy.deepcopy of what holds values of a staged run."""

from __future__ import annotations

import copy
import types
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.heap.lists import StagedList, as_list
from tapeless.transforms.frontend.objects import capture
from tapeless.transforms.frontend.objects.special_methods import special
from tapeless.transforms.frontend.trace.provenance import LIBRARIES, name_of
from tapeless.transforms.frontend.trace.readers import AttributeOf, ItemOf, KeysOf
from tapeless.transforms.frontend.trace.recorded_reads import Guard
from tapeless.transforms.frontend.trace.trace import trace

REBUILDING = ("__new__", "__reduce__", "__reduce_ex__")
DICTS = (dict, OrderedDict, defaultdict, Counter)


class Copier:
    """One call of copy.copy or copy.deepcopy; an object met again has the same copy."""

    def __init__(self, deep: bool) -> None:
        self.deep = deep
        self.memo: dict[int, tuple[Any, Any]] = {}

    def part(self, x: Any) -> Any:
        """What a container that is copied holds in the place of x."""
        return self.copy(x) if self.deep else x

    def copy(self, x: Any) -> Any:
        if id(x) not in self.memo:
            self.keep(x, self.copy_object(x))
        return self.memo[id(x)][1]

    def keep(self, x: Any, copied: Any) -> Any:
        self.memo[id(x)] = (x, copied)
        return copied

    def copy_object(self, x: Any) -> Any:
        x = as_list(x)
        if isinstance(x, Symbol):
            return copy.deepcopy(x)
        if isinstance(x, StagedList) and x.tail is not None:
            return x.copy()
        if type(x) is list or isinstance(x, StagedList):
            empty = x.with_items(()) if isinstance(x, StagedList) else StagedList()
            items = self.keep(x, trace().born(empty))
            items.extend(map(self.part, x))
            return items
        if type(x) in DICTS or type(x) is deque:
            return self.copy_container(x)
        if isinstance(x, tuple):
            return self.of_tuple(x)
        method = special(x, "__deepcopy__" if self.deep else "__copy__")
        if method is not None:
            return trace().enter(method, x, *([{}] if self.deep else []))
        return self.of_object(x) if is_plain(x) else trace().born(self.native(x))

    def native(self, x: Any) -> Any:
        return copy.deepcopy(x) if self.deep else copy.copy(x)

    def copy_container(self, x: Any) -> Any:
        """A dict or deque."""
        copied = self.keep(x, trace().born(copy.copy(x)))
        if isinstance(x, dict):
            dict.update(copied, {k: self.part(v) for k, v in x.items()})  # a Counter's own one adds
        else:
            copied.clear()
            copied.extend(map(self.part, x))
        return copied

    def of_tuple(self, x: Any) -> Any:
        parts = [self.part(v) for v in x]
        if all(a is b for a, b in zip(parts, x, strict=True)):
            return x
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)

    def of_object(self, x: Any) -> Any:
        """An object of a user's class: its attributes, those of outer ones as they are read."""
        copied = self.keep(x, trace().born(object.__new__(type(x))))
        for name, value in attributes(x).items():
            copied.__dict__[name] = self.part(value)
        return copied


def is_plain(x: Any) -> bool:
    """Whether an object is what its attributes are, as Python's copy module takes it to be."""
    cls = type(x)
    return (
        hasattr(x, "__dict__")
        and not isinstance(x, (type, types.FunctionType, types.ModuleType, BaseException))
        and (cls.__module__ or "").partition(".")[0] not in LIBRARIES
        and all(getattr(cls, name) is getattr(object, name) for name in REBUILDING)
        and not hasattr(cls, "__setstate__")
        and special(x, "__getstate__") is None
    )


def attributes(x: Any) -> dict[str, Any]:
    """The attributes of an object, where it is an outer one as inputs and guarded values."""
    values = vars(x)
    if trace().birth(x):
        return dict(values)
    names = Guard(
        f"the attributes of {name_of(x)}", KeysOf(AttributeOf(x, "__dict__")), tuple(values)
    )
    trace().reads["attributes", id(x)] = names

    def read(name: str) -> Any:
        get = ItemOf(AttributeOf(x, "__dict__"), name)
        return capture.outer(values[name], get, f"{name_of(x)}.{name}", x)

    return {name: read(name) for name in values}


def copy_(hooks: Any, x: Any) -> Any:
    """copy.copy"""
    return Copier(deep=False).copy(x)


def deep_copied(hooks: Any, x: Any, *memo: Any) -> Any:
    """copy.deepcopy"""
    return Copier(deep=True).copy(x)
