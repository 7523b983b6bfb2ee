"""Finds the attributes that an object holds, in its `__dict__` and by `__slots__` of its class."""

from __future__ import annotations

import dataclasses
import functools
import types
from typing import Any

from tapeless.transforms.frontend.trace.provenance import (
    is_library_class,
    makes_plain_objects,
    static_attribute,
)
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.prelude.numpy.matrices import Matrix


def attributes(obj: Any) -> tuple[str, ...]:
    """The attributes that an object was given; what it computes on demand is none of them."""
    cls = type(obj)
    fields = dataclasses.fields(obj) if dataclasses.is_dataclass(obj) else ()
    names = dict.fromkeys(f.name for f in fields)
    names |= dict.fromkeys(slots(cls))
    names |= dict.fromkeys(getattr(obj, "__dict__", ()))
    on_demand = functools.cached_property
    return tuple(
        n for n in names if not isinstance(static_attribute(cls, n), on_demand) and hasattr(obj, n)
    )


def is_record(value: Any) -> bool:
    """Whether a value is taken for what it holds: a dataclass, a matrix, or an object that the
    program makes of a class whose objects a loop replaces."""
    t = trace()
    if type(value) is Matrix:
        return True
    if t.decisions.is_value(type(value)):
        return t.birth(value) > 0
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def is_program_object(value: Any) -> bool:
    """Whether the program makes it, of a class of the user's whose objects can be taken apart."""
    cls = type(value)
    own = makes_plain_objects(cls) and not is_library_class(cls) and has_attributes(value)
    return own and trace().birth(value) > 0


def has_attributes(value: Any) -> bool:
    """Whether it is an object whose attributes can be told."""
    by_slots = any("__slots__" in base.__dict__ for base in type(value).__mro__)
    return by_slots or hasattr(value, "__dict__")


def slots(cls: type) -> list[str]:
    """The attributes that a class and its bases have by `__slots__`, under the names that objects
    have them by: Python writes the class into a private one."""
    members = types.MemberDescriptorType
    bases = [base for base in cls.__mro__ if "__slots__" in base.__dict__]
    return [n for base in bases for n, v in base.__dict__.items() if isinstance(v, members)]
