"""Finds what a class of the user's is made of, as far as a program may depend on it."""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Iterator
from typing import Any

OF_CLASSES = """
    __annotations__ __abstractmethods__ _abc_impl __annotate__ __annotate_func__
    __annotations_cache__ __dataclass_fields__ __dataclass_params__ __dict__ __doc__
    __firstlineno__ __module__ __orig_bases__ __parameters__ __static_attributes__ __weakref__
"""
OF_ENUMERATIONS = """
    _generate_next_value_ _hashable_values_ _member_map_ _member_names_ _member_type_ _new_member_
    _sort_order_ _unhashable_values_ _unhashable_values_map_ _use_args_ _value2member_map_
    _value_repr_ __new_member__
"""
SKIPPED = frozenset((OF_CLASSES + OF_ENUMERATIONS).split())


def attributes(x: Any) -> list[Any]:
    """The values of the attributes of an object."""
    slots = (slot for cls in type(x).__mro__ for slot in _slots(cls))
    return [*getattr(x, "__dict__", {}).values(), *(getattr(x, s) for s in slots if hasattr(x, s))]


def _slots(cls: type) -> Iterator[str]:
    named = vars(cls).get("__slots__", ())
    yield from (named,) if isinstance(named, str) else named


def wrapped_functions(x: Any) -> tuple[Any, ...] | None:
    """The functions that a property or a method of a class is made of; None for what is neither."""
    if isinstance(x, (staticmethod, classmethod)):
        return (x.__func__,)
    if type(x) is property:
        return (x.fget, x.fset, x.fdel)
    return (x.func,) if type(x) is functools.cached_property else None


def entries(cls: type) -> Iterator[tuple[str, Any]]:
    """The names in a class, and what they stand for."""
    yield "type", type(cls)
    yield "bases", cls.__bases__
    members = getattr(cls, "__members__", {}) if issubclass(cls, enum.Enum) else {}
    for name, value in vars(cls).items():
        if name not in SKIPPED and name not in members:
            yield name, value
    for name, member in members.items():
        yield name, member.name
        yield f"value of {name}", member._value_
    for field in vars(cls).get("__dataclass_fields__", {}).values():
        flags = (field.init, field.repr, field.hash, field.compare, field.kw_only)
        yield f"field {field.name}", (str(field.type), *map(str, flags))
        for value in (field.default, field.default_factory):
            yield "default", None if value is dataclasses.MISSING else value
