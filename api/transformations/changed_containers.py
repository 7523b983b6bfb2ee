"""Writes what a function in C leaves in containers of its caller, for the wrapper in Python.

def step(state, u): state["x"] = f(state["x"], u)
    becomes, around the call in C,
held = (state,); ...; held[0]["x"] = new[0]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tapeless.dispatch.container_writeback import ArgumentPlace, Change, New, containers, value_at
from tapeless.lazy_import import lazy_module
from tapeless.transforms.c.records import ContainerStores
from tapeless.transforms.errors import UnsupportedError

if TYPE_CHECKING:
    from tapeless.transforms.frontend.arrays import symbols
    from tapeless.transforms.frontend.heap import lists as staged_list
else:
    staged_list, symbols = (
        lazy_module("tapeless.transforms.frontend.heap.lists"),
        lazy_module("tapeless.transforms.frontend.arrays.symbols"),
    )

Path = tuple[Any, ...]


@dataclass(frozen=True)
class Container:
    """A container of the caller before the call: of which kind it is, and its keys."""

    kind: str
    keys: tuple[Any, ...]


def containers_of(arguments: Any) -> dict[Path, Container]:
    """The containers in the arguments, by their places."""
    return {
        path: Container(_kind(value), tuple(items)) for path, value, items in containers(arguments)
    }


def _kind(value: Any) -> str:
    if isinstance(value, staged_list.StagedList):
        return value.stands_for.__name__
    if isinstance(value, symbols.Symbol):
        return "number"
    for kind in (tuple, list, dict, deque):
        if isinstance(value, kind):
            return kind.__name__
    return "object"


def store_lines(
    changes: Sequence[Change], before: dict[Path, Container], arguments: Sequence[str]
) -> ContainerStores | None:
    """What the wrapper does after the call; None if nothing changes.

    before     the containers of the caller
    arguments  what positional arguments are called in the wrapper
    """
    writer = _Lines(before, arguments)
    lines = [line for change in changes for line in writer.of_change(change)]
    return ContainerStores(tuple(writer.held), tuple(lines)) if lines else None


class _Lines:
    """Writes the lines; `held` are the expressions of what they read of the arguments, as long as
    these hold what they held."""

    def __init__(self, before: dict[Path, Container], arguments: Sequence[str]) -> None:
        self.before, self.arguments = before, arguments
        self.held: list[str] = []

    def of_change(self, change: Change) -> Iterator[str]:
        container = self.before[change.path]
        target = self.place(change.path)
        values = {
            key: f"new[{source.number}]" if isinstance(source, New) else self.place(source.path)
            for key, source in change.items
        }
        match container.kind:
            case "number":
                yield f"{target}[()] = {values[()]}"
            case "list" | "deque" | "dict" | "object" if tuple(values) == container.keys:
                for key, source in change.items:
                    if source != ArgumentPlace((*change.path, key)):
                        yield f"{target}{_part(container, key)} = {values[key]}"
            case "list":
                yield f"{target}[:] = [{', '.join(values.values())}]"
            case "deque":
                yield f"{target}.clear()"
                yield f"{target}.extend(({', '.join(values.values())},))"
            case "dict":
                pairs = ", ".join(f"{_key(key)}: {value}" for key, value in values.items())
                yield f"{target}.clear()"
                yield f"{target}.update({{{pairs}}})"
            case _:
                raise UnsupportedError(
                    f"a function that changes a {container.kind} of its caller has no form in C",
                    "return what changes",
                )

    def place(self, path: Path) -> str:
        """What is at a place in the arguments before the call."""
        text = self.text(path)
        if text not in self.held:
            self.held.append(text)
        return f"held[{self.held.index(text)}]"

    def text(self, path: Path) -> str:
        kind, key, *keys = path
        text = self.arguments[key] if kind == 0 else str(key)
        for k, part in enumerate(keys, 2):
            text += _part(self.before[path[:k]], part)
        return text


def _part(container: Container, key: Any) -> str:
    return f".{key}" if container.kind == "object" else f"[{_key(key)}]"


def _key(key: Any) -> str:
    """A key as text: the style is double quotes, where none stand inside."""
    plain = isinstance(key, str) and repr(key) == f"'{key}'"
    return f'"{key}"' if plain and '"' not in key else repr(key)


def new_values(changes: Sequence[Change], arguments: Any) -> tuple[Any, ...]:
    """The values that containers have got, of the arguments after a call."""
    values = {}
    for change in changes:
        place = _place_after(change.path, changes)
        for key, source in change.items:
            if isinstance(source, New):
                parts = place if key == () else (*place, key)
                values[source.number] = value_at(arguments, parts)
    return tuple(value for _, value in sorted(values.items(), key=lambda item: item[0]))


def _place_after(path: Path, changes: Sequence[Change]) -> Path:
    """Where a container is after the call."""
    *parent, key = path
    if len(path) == 2:  # it is an argument itself
        return path
    for change in changes:
        keys = [k for k, source in change.items if source == ArgumentPlace(path)]
        if keys:
            return (*_place_after(change.path, changes), keys[0])
        if change.path == tuple(parent):
            raise UnsupportedError(
                "a container that is changed and taken out of an argument has no test program",
                "return it",
            )
    return (*_place_after(tuple(parent), changes), key)
