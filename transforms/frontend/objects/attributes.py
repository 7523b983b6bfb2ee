"""Reads attributes in a staged run, and watches what an object from outside, or a class, may have
changed by the next call.
"""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np

from tapeless.transforms.frontend.arrays.python_scalars import has_attribute
from tapeless.transforms.frontend.arrays.symbols import Symbol
from tapeless.transforms.frontend.heap.absent_attributes import note_absence, presence
from tapeless.transforms.frontend.objects.capture import outer
from tapeless.transforms.frontend.objects.derived_arrays import user_class
from tapeless.transforms.frontend.trace.provenance import LIBRARIES, name_of
from tapeless.transforms.frontend.trace.readers import (
    ABSENT,
    AttributeOf,
    ClassEntry,
    FunctionOf,
    HasAttribute,
    KeyOf,
    KeysOf,
)
from tapeless.transforms.frontend.trace.recorded_reads import Guard
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import Incompatible


def unchanging(owner: Any) -> bool:
    """Whether a module or a class is of a library, or was made by the program."""
    name = owner.__name__ if isinstance(owner, types.ModuleType) else owner.__module__
    root = (name or "").partition(".")[0]
    return root in LIBRARIES or root == "tapeless" or bool(trace().birth(owner))


def seen(obj: Any, name: str, value: Any) -> Any:
    """What the program sees of `value`, which it reads as obj.name."""
    if isinstance(value, Incompatible):
        raise value.refusal()
    if is_written_here(obj, name):
        return value
    if isinstance(obj, types.ModuleType):
        if unchanging(obj) and not (obj is sys and isinstance(value, list)):  # sys.argv
            return value
        return outer(value, AttributeOf(obj, name), f"{obj.__name__}.{name}", obj)
    owner = _owner(obj, name)
    if owner is None:
        return value
    label = f"{name_of(obj)}.{name}"
    if isinstance(value, (types.MethodType, types.BuiltinMethodType)) and not _own(obj, name):
        _watch_method(owner, name, value, label)
        return value
    if callable(value) and getattr(owner, name, None) is not value:
        return value  # it is made anew each time that it is asked for
    return outer(value, AttributeOf(owner, name), label, owner)


def namespace(obj: Any, values: dict[str, Any]) -> dict[str, Any]:
    """The `__dict__` of an object from outside, as the program sees it now."""
    t = trace()
    read = KeysOf(AttributeOf(obj, "__dict__"))
    now = tuple(name for name in values if not is_written_here(obj, name))
    t.reads["attributes", id(obj)] = Guard(f"the attributes of {name_of(obj)}", read, now)
    contents = {name: seen(obj, name, v) for name, v in values.items()}
    before = {name: (values[name], value) for name, value in contents.items()}
    items = t.containers.namespace_of(obj)
    if items is None:
        items = t.made_ahead({})
    items.clear()
    items.update(contents)
    t.containers.namespaces[id(items)] = (items, obj, before)
    return items


def is_written_here(obj: Any, name: str) -> bool:
    """Whether the program itself gave an attribute the value that it has."""
    key = ("attribute", id(obj), name)
    return any(key in journal.old for journal in trace().journals)


def _owner(obj: Any, name: str) -> Any:
    """Whose attribute may be another one at the next call: an object from outside, or the class
    of one that was made inside; None if nobody's."""
    if isinstance(obj, super):
        parts: Any = obj
        cls = parts.__self_class__
        return None if unchanging(cls) else super(parts.__thisclass__, cls)
    if isinstance(obj, np.ndarray):  # a copy, or made inside: others are symbols
        return None
    if not trace().birth(obj):
        return obj
    owner = ClassEntry(type(obj), name)()
    values = isinstance(owner, (types.FunctionType, classmethod, staticmethod))
    if _own(obj, name) or unchanging(type(obj)) or not (values or owner is not ABSENT):
        return None
    return type(obj) if values or not hasattr(type(owner), "__get__") else None


def _own(obj: Any, name: str) -> bool:
    return not isinstance(obj, super) and name in getattr(obj, "__dict__", ())


def _watch_method(owner: Any, name: str, value: Any, label: str) -> None:
    function = _unbound(value)
    cls = owner if isinstance(owner, (type, super)) else type(owner)
    if isinstance(cls, type) and unchanging(cls):
        return
    if _unbound(getattr(owner, name, None)) is function:
        watch(owner, label, FunctionOf(owner, name), function)


def _unbound(method: Any) -> Any:
    return getattr(method, "__func__", method)


def watch(owner: Any, label: str, get: Any, value: Any) -> None:
    """The program relies on `get()` giving `value`."""
    trace().reads.setdefault(("guard", label, id(owner), id(value)), Guard(label, get, value))


def watch_function(f: types.FunctionType) -> None:
    """The program relies on the code of a function, and on its defaults."""
    watch(f, f"the code of {f.__name__}", AttributeOf(f, "__code__"), f.__code__)
    if trace().birth(f):
        return
    if f.__defaults__:
        watch(f, f"the defaults of {f.__name__}", AttributeOf(f, "__defaults__"), f.__defaults__)
    if f.__kwdefaults__:
        named = AttributeOf(f, "__kwdefaults__")
        watch(f, f"the keyword defaults of {f.__name__}", named, named())
        for name, value in named().items():
            watch(f, f"the default of {name}", KeyOf(named(), name), value)


def watch_class(cls: type, name: str) -> None:
    """The program relies on what stands in a class of the user's under a name."""
    cls = user_class(cls)
    if not unchanging(cls):
        entry = ClassEntry(cls, name)
        watch(cls, f"{cls.__name__}.{name}", entry, entry())


def has(obj: Any, name: str) -> Any:
    """hasattr(obj, name): a bool, or a symbol where run-time values decide."""
    if isinstance(obj, Symbol):
        return has_attribute(obj, name)
    note_absence(obj, name)
    if (there := presence(obj, name)) is not None:
        return there
    exists = hasattr(obj, name)
    if is_written_here(obj, name):
        return exists
    owner = type(obj) if trace().birth(obj) else obj
    if isinstance(owner, (type, types.ModuleType)) and unchanging(owner):
        return exists
    label = f"whether {name_of(obj)} has '{name}'"
    watch(owner, label, HasAttribute(owner, name), hasattr(owner, name))
    return exists
