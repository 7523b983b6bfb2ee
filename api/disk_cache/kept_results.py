"""Writes as text how each call puts together what it gives back, and leaves in the caller's
containers, of the results of the emitted function.

    Point(x=..., y=...)      becomes      ["object", the class, 0, ["x", "y"], [["leaf"], ["leaf"]]]
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tapeless.disk_cache.argument_signature import NoSignatureError, literal
from tapeless.dispatch.container_writeback import ArgumentPlace, Change, New
from tapeless.lazy_import import lazy_module

if TYPE_CHECKING:
    from tapeless.transforms.frontend.heap import lists
    from tapeless.transforms.frontend.staging import results
    from tapeless.transforms.frontend.values import structure as structures
    from tapeless.transforms.frontend.values.structure import Structure
else:
    lists = lazy_module("tapeless.transforms.frontend.heap.lists")
    results = lazy_module("tapeless.transforms.frontend.staging.results")
    structures = lazy_module("tapeless.transforms.frontend.values.structure")

Text = list[Any]
BUILTIN = {kind.__name__: kind for kind in (list, tuple, dict)}


def structure_text(structure: Structure, class_text: Callable[[type], Text]) -> Text:
    """A structure as text; `class_text` says how a class is found. Raises UnknownError for kinds
    of results that only the process knows that has staged them."""
    kind, value = structure.kind, structure.value
    children = [structure_text(c, class_text) for c in structure.children]
    if kind == "leaf":
        return ["leaf"]
    if kind == "static":
        return ["static", literal(value)]
    if kind == "again":
        return ["again", value.number]
    if isinstance(value, results.NthObject):
        return ["object", class_text(kind), value.number, [*structure.keys], children]
    staged_list = kind is lists.StagedList and type(value) is kind
    if kind in (tuple, dict) or staged_list:
        name = "list" if staged_list else kind.__name__
        return [name, [literal(k) for k in structure.keys], children]
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return ["namedtuple", class_text(kind), children]
    raise NoSignatureError(f"a result of {kind}")


def structure_of(text: Text, class_of: Callable[[Text], type]) -> Structure:
    """The structure that a text describes."""
    kind, *parts = text
    structure = structures.Structure
    if kind == "leaf":
        return structure("leaf", None)
    if kind == "static":
        return structure("static", ast.literal_eval(parts[0]))
    if kind == "again":
        return structure("again", results.NthObject(parts[0]))
    children = tuple(structure_of(child, class_of) for child in parts[-1])
    if kind == "object":
        number = results.NthObject(parts[1])
        return structure(class_of(parts[0]), number, tuple(parts[2]), children)
    if kind == "namedtuple":
        return structure(class_of(parts[0]), (), (), children)
    keys = tuple(map(ast.literal_eval, parts[0]))
    return structure(BUILTIN[kind], BUILTIN[kind](), keys, children)


def changes_text(changes: Iterable[Change]) -> Text:
    """What becomes of containers of the caller, as text."""
    return [
        [literal(change.path), [[literal(key), *_source(source)] for key, source in change.items]]
        for change in changes
    ]


def changes_of(text: Iterable[Text]) -> tuple[Change, ...]:
    return tuple(
        Change(
            ast.literal_eval(path),
            tuple(
                (
                    ast.literal_eval(key),
                    ArgumentPlace(ast.literal_eval(place)) if kind == "at" else New(place),
                )
                for key, kind, place in items
            ),
        )
        for path, items in text
    )


def _source(source: ArgumentPlace | New) -> Text:
    return (
        ["at", literal(source.path)]
        if isinstance(source, ArgumentPlace)
        else ["new", source.number]
    )
