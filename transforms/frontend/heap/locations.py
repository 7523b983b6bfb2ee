"""Represents the locations that Python code can overwrite: attributes, outer variables, the
contents of containers.
"""

from __future__ import annotations

import functools
import itertools
import types
from array import array
from collections import deque
from collections.abc import Callable
from typing import Any

from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import UnsupportedError
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.trace.journals import Location, is_identical
from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.provenance import static_attribute
from tapeless.transforms.frontend.trace.recorded_reads import Guard
from tapeless.transforms.frontend.trace.run_state import Containers
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.container_aliases import MUTABLE as CONTAINERS
from tapeless.transforms.frontend.values.container_writes import before_write, write_back
from tapeless.transforms.frontend.values.structure import MISSING, Incompatible, Structure, flatten
from tapeless.transforms.frontend.values.structure_errors import variable_of
from tapeless.transforms.frontend.values.uneven_contents import (
    FlaggedContents,
    UnevenContents,
    contents_of,
    set_contents,
)


@dataclass(frozen=True, eq=False)
class ListContents:
    """The elements of a list, and those that rolled loops appended to it."""

    items: tuple[Any, ...]
    tail: Any

    def spec(self, part: Callable[[Any], Structure] = flatten) -> Structure:
        parts = flatten(self.items, part)
        return Structure(tuple, self.items, (id(self.tail), *parts.keys), parts.children)


class ContentsLocation(Location):
    """The contents of a list, dict or set."""

    def __init__(self, obj: Any) -> None:
        self.obj, self.key, self.birth = obj, ("contents", id(obj)), trace().birth(obj)

    def get(self) -> Any:
        if (contents := contents_of(self.obj)) is not None:
            return contents
        if isinstance(self.obj, deque):
            return ListContents(tuple(self.obj), None)
        if isinstance(self.obj, list):
            return ListContents(tuple(list.__iter__(self.obj)), own_attribute(self.obj, "tail"))
        return dict(self.obj) if isinstance(self.obj, dict) else frozenset(self.obj)

    def set(self, value: Any) -> None:
        uneven = value if isinstance(value, (UnevenContents, FlaggedContents)) else None
        set_contents(self.obj, uneven)
        fill(self.obj, value if uneven is None else uneven.items)

    def stem(self) -> str:
        return variable_of(self.obj) if isinstance(self.obj, dict) else ""

    def holds(self, old: Any) -> bool:
        now, before = _parts(self.get()), _parts(old)
        return len(now) == len(before) and all(map(is_identical, now, before))


def _parts(contents: Any) -> tuple[Any, ...]:
    """What a container holds, one after the other."""
    if isinstance(contents, ListContents):
        return (*contents.items, contents.tail)
    if isinstance(contents, UnevenContents):
        return (*contents.items, contents.length)
    if isinstance(contents, FlaggedContents):
        return (*contents.items, *contents.flags)
    return tuple(itertools.chain(*contents.items())) if isinstance(contents, dict) else (*contents,)


def fill(obj: Any, value: Any) -> None:
    """Gives a container its contents."""
    if isinstance(obj, deque):
        obj.clear()
        obj.extend(value.items if isinstance(value, ListContents) else value)
        return
    if isinstance(obj, list):
        items = value.items if isinstance(value, ListContents) else value
        list.__setitem__(obj, slice(None), items)
        if isinstance(value, ListContents) and hasattr(obj, "tail"):
            obj.tail = value.tail
        return
    obj.clear()
    obj.update(value)


def before_change(obj: Any) -> None:
    """Must be called before a container of Python's changes."""
    if isinstance(obj, CONTAINERS):
        before_write(obj)
        trace().touch(ContentsLocation(obj))
    elif isinstance(obj, (bytearray, array)):
        what = f"changes a {type(obj).__name__} that is made outside of it"
        trace().only_once(what, "use a list or an array of NumPy", trace().birth(obj))


class OuterLocation(Location):
    """What may be there before a call."""

    def rely(self, old: Any) -> None:
        if not self.birth and old is not MISSING:
            trace().reads["as it was", self.key] = Guard(self.name, self.get, old)


#: Descriptors that read what is stored, and compute nothing.
OF_MEMORY = (types.MemberDescriptorType, types.GetSetDescriptorType)
METHODS = (types.FunctionType, staticmethod, classmethod, types.MethodDescriptorType)


class AttributeLocation(OuterLocation):
    refusable = True

    def __init__(self, obj: Any, name: str) -> None:
        self.obj, self.name, self.key = obj, name, ("attribute", id(obj), name)
        self.birth = trace().birth(obj)
        self.owner, self.containers = type(obj).__name__, trace().containers

    def get(self) -> Any:
        """What is stored, or a method, without running what a class computes on demand: its cached
        properties, other descriptors and `__getattr__`, which are for what an object lacks."""
        if isinstance(self.obj, type):
            return getattr(self.obj, self.name, MISSING)
        kind = type(static_attribute(type(self.obj), self.name))
        if hasattr(kind, "__get__") and not issubclass(kind, (*OF_MEMORY, *METHODS)):
            return getattr(self.obj, "__dict__", {}).get(self.name, MISSING)
        try:
            return object.__getattribute__(self.obj, self.name)
        except AttributeError:
            return MISSING

    def set(self, value: Any) -> None:
        if value is MISSING:
            if self.get() is not MISSING:  # not where setting it failed
                delattr(self.obj, self.name)
        else:
            (type if isinstance(self.obj, type) else object).__setattr__(self.obj, self.name, value)
        update_namespaces(self.containers, self.obj, self.name)


def update_namespaces(containers: Containers, obj: Any, name: str) -> None:
    """Must be called after an attribute changed: what the program has read as the `__dict__` of an
    object from outside shows it."""
    for items, owner, before in containers.namespaces.values():
        if owner is not obj:
            continue
        if name not in obj.__dict__:
            items.pop(name, None)
            continue
        value = obj.__dict__[name]
        was, read = before.get(name, (MISSING, MISSING))
        items[name] = read if value is was else value


#: What sets attributes as objects of Python's classes do.
PLAIN_SETTERS: tuple[Any, ...] = (
    object.__setattr__,
    types.SimpleNamespace.__setattr__,
    BaseException.__setattr__,
    functools.partial.__setattr__,
)


def _refuse_native(obj: Any, name: str) -> None:
    own = type(obj).__setattr__
    native = isinstance(own, types.WrapperDescriptorType) and not isinstance(obj, type)
    if native and own not in PLAIN_SETTERS:
        raise UnsupportedError(
            f"'{name}' of an object of {type(obj).__module__}.{type(obj).__qualname__}, which is "
            "no Python class, is set",
            "set it outside",
        )


def put_attribute(obj: Any, name: str, value: Any, put: Callable[..., None] = setattr) -> None:
    """Sets an attribute with `put`; what was there comes back at the end of a block."""
    if not isinstance(obj, Symbol):
        _refuse_native(obj, name)
        before_write(obj)
        trace().touch(AttributeLocation(obj, name))
    namespace = trace().containers.own_namespace(obj)
    if namespace is not None:
        before_write(namespace)
    put(obj, name, value)
    update_namespaces(trace().containers, obj, name)
    write_back(obj)
    if namespace is not None:
        write_back(namespace)


class GlobalLocation(OuterLocation):
    def __init__(self, values: dict[str, Any], name: str) -> None:
        self.values, self.name, self.key = values, name, ("global", id(values), name)

    def get(self) -> Any:
        return self.values.get(self.name, MISSING)

    def set(self, value: Any) -> None:
        if value is MISSING:
            self.values.pop(self.name, None)
        else:
            self.values[self.name] = value


class ClosureLocation(OuterLocation):
    def __init__(self, cell: Any, name: str) -> None:
        self.cell, self.name, self.key = cell, name, ("closure", id(cell))

    def get(self) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:
            return MISSING

    def set(self, value: Any) -> None:
        self.cell.cell_contents = value


def entry_spec(loc: Location, value: Any, part: Callable[[Any], Structure] = flatten) -> Structure:
    """What a location holds, taken apart; `part` does so with a value."""
    if isinstance(value, ListContents):
        return value.spec(part)
    return Structure("static", value) if isinstance(value, Incompatible) else part(value)
