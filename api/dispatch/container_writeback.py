"""Stores to containers of the caller what a compiled function leaves in lists, dicts and objects.

def f(p): p["w"] = p["w"] * 2      becomes      new = f(p); p["w"] = new

Arrays without axes are containers of one number: compiled code gets the number.
The staged run works on copies. What they hold afterwards is described by places in the arguments
and by new values, which are results; after each call the containers of the caller get the same.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeless import tree
from tapeless.lazy_import import lazy_module
from tapeless.staging.device_list import device_get
from tapeless.transforms.core.on_gpu import on_gpu
from tapeless.transforms.dataclass import dataclass
from tapeless.transforms.errors import ArgumentError, UnsupportedError

if TYPE_CHECKING:
    from tapeless.transforms.frontend.arrays import symbols
    from tapeless.transforms.frontend.heap import list_results as returned_lists
    from tapeless.transforms.frontend.heap import lists as staged_list
else:
    returned_lists, staged_list, symbols = (
        lazy_module("tapeless.transforms.frontend.heap.list_results"),
        lazy_module("tapeless.transforms.frontend.heap.lists"),
        lazy_module("tapeless.transforms.frontend.arrays.symbols"),
    )

Path = tuple[Any, ...]


@dataclass(frozen=True)
class ArgumentPlace:
    """What the caller has at a place."""

    path: Path


@dataclass(frozen=True)
class New:
    """One of the results."""

    number: int


@dataclass(frozen=True)
class Change:
    """What a container at a place holds after the call, in order."""

    path: Path
    items: tuple[tuple[Any, ArgumentPlace | New], ...]


def contents(container: Any) -> dict[Any, Any] | None:
    """What a container holds; None for other values."""
    if isinstance(container, staged_list.StagedList):
        returned_lists.with_known_lists(container)
    if isinstance(container, (list, tuple, deque)):
        return dict(enumerate(container))
    if isinstance(container, dict):
        return dict(container)
    if dataclasses.is_dataclass(container) and not isinstance(container, type):
        return dict(vars(container))
    if isinstance(container, symbols.Symbol) and container.mutable and not container.type.shape:
        return {(): container.value()}
    return None


def containers(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any, dict[Any, Any]]]:
    """Containers in a tree: places, themselves, and what they hold now."""
    held = contents(value)
    if held is not None:
        yield path, value, held
        for key, part in held.items() if not isinstance(value, symbols.Symbol) else ():
            yield from containers(part, (*path, key))


class Stores:
    """Notes what a staged run changes. `new` are the values that containers get."""

    def __init__(self, arguments: Any) -> None:
        self.before = list(containers(arguments))
        self.places = {id(c): path for path, c, _ in self.before}
        for path, _, held in self.before:
            for key, part in held.items():
                if isinstance(part, symbols.Symbol):
                    self.places.setdefault(id(part), (*path, key))
        self.new: list[Any] = []

    def changes(self) -> tuple[Change, ...]:
        changes = []
        for path, container, held in self.before:
            now = contents(container) or {}
            if list(now) != list(held) or any(now[k] is not held[k] for k in now):
                items = tuple((k, self.source(path, k, v, held)) for k, v in now.items())
                changes.append(Change(path, items))
        return tuple(changes)

    def source(self, path: Path, key: Any, value: Any, held: dict[Any, Any]) -> ArgumentPlace | New:
        if key in held and held[key] is value:
            return ArgumentPlace((*path, key))
        if id(value) in self.places:
            return ArgumentPlace(self.places[id(value)])
        if tree.has_registered(value):
            raise UnsupportedError(
                f"an object of {type(value).__name__} is stored to an argument, and is compiled",
                "return it instead",
            )
        self.new.append(symbols.wrap(value) if key == () else value)
        return New(len(self.new) - 1)


# -- at a call


def value_at(arguments: Any, path: Path) -> Any:
    """What is at a place in the arguments."""
    for key in path:
        container = isinstance(arguments, (list, tuple, deque, dict))
        arguments = arguments[key] if container else vars(arguments)[key]
    return arguments


def refuse_shared(
    changes: Iterable[Change], arguments: Any, outside: Iterable[tuple[str, Any]]
) -> None:
    """Refuses containers that are passed twice, or that the function reads from `outside`, too, if
    they are stored to: the program takes them for two."""
    seen = [id(c) for _, c, _ in containers(arguments) if not isinstance(c, tuple)]
    for change in changes:
        container = value_at(arguments, change.path)
        if seen.count(id(container)) > 1:
            raise ArgumentError(
                f"a {type(container).__name__} is passed twice, and the function stores to it",
                "pass a copy of it at one place",
            )
        refuse_read_outside([container], outside)


def refuse_read_outside(stored: Iterable[Any], outside: Iterable[tuple[str, Any]]) -> None:
    """Refuses containers that are stored to as arguments, and read by names from outside."""
    mine = set(map(id, stored))
    for name, get in outside:
        if id(get()) in mine:
            raise ArgumentError(
                f"an argument that the function stores to is '{name}', which it reads, too",
                "pass a copy of it",
            )


def refuse_passed(held: Iterable[Any], arguments: Any) -> None:
    """Refuses containers that the function changes by names from outside, and gets, too."""
    mine = {id(h) for h in held if isinstance(h, (list, dict, set, deque))}
    if mine and any(id(c) in mine for _, c, _ in containers(arguments)):
        raise ArgumentError(
            "an argument is what the function changes by a name from outside",
            "pass a copy of it",
        )


def store(changes: Iterable[Change], arguments: Any, new: Any) -> None:
    """Does to the containers of the caller what the function did to its own."""

    def value(source: ArgumentPlace | New) -> Any:
        return new[source.number] if isinstance(source, New) else value_at(arguments, source.path)

    new_items = [
        (value_at(arguments, change.path), {key: value(source) for key, source in change.items})
        for change in changes
    ]
    for container, items in new_items:
        _fill(container, items)


def _fill(container: Any, items: dict[Any, Any]) -> None:
    if isinstance(container, (list, deque)):
        container.clear()
        container.extend(items.values())
        return
    if isinstance(container, np.ndarray):
        container[()] = device_get(items[()])
        return
    if on_gpu(container):
        container[()] = items[()]
        return
    held = container if isinstance(container, dict) else vars(container)
    if list(held) != list(items):
        held.clear()
    if held is container:
        held.update(items)
        return
    for name, value in items.items():
        object.__setattr__(container, name, value)
