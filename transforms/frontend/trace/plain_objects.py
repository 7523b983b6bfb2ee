"""Tells the objects whose attributes programs read, one of which is as good as another one."""

from __future__ import annotations

import enum
import functools
import struct
import sys
from types import FunctionType
from typing import Any

NAMESPACES = frozenset({("types", "SimpleNamespace"), ("argparse", "Namespace")})
#: Methods that libraries and builtin functions call where nobody sees what they read; what
#: comparisons read is guarded (`comparison_reads`).
UNSEEN = (
    *("__index__", "__reversed__", "__length_hint__", "__fspath__", "__buffer__"),
    *("__array_ufunc__", "__array_function__", "__array_interface__", "__array_struct__"),
)
POINTER = struct.calcsize("P")
OF_LIBRARIES = frozenset({"numpy", "scipy", "tapeless", "builtins", *sys.stdlib_module_names})


def is_described(cls: type) -> bool:
    """Whether a class is described by what stands in it: one that a user has written."""
    module = str(getattr(cls, "__module__", ""))
    # `__main__` is a module of Python, and the user's
    return module == "__main__" or module.partition(".")[0] not in OF_LIBRARIES


def holds_attributes_only(cls: type) -> bool:
    """Whether objects of a class hold nothing that is no attribute, as those of `dict` do."""
    return not any(base.__module__ == "builtins" and base is not object for base in cls.__mro__)


def is_plain_object(x: Any) -> bool:
    """Whether x is an object of a class that a user has written, or a namespace, and holds nothing
    but attributes, all of which are read where it can be seen.

    >>> class Body:
    ...     pass
    >>> is_plain_object(Body()), is_plain_object([1])
    (True, False)
    """
    cls: Any = type(x)
    if (cls.__module__, cls.__qualname__) in NAMESPACES:
        return True
    return _makes_plain_objects(cls) and not isinstance(x, (type, enum.Enum))


@functools.lru_cache
def _makes_plain_objects(cls: type) -> bool:
    """Whether a class, and all that it is derived from, are classes of Python."""
    if not (is_described(cls) and holds_attributes_only(cls)):
        return False
    if any(getattr(cls, name, None) is not getattr(object, name, None) for name in UNSEEN):
        return False
    new: Any = cls.__new__
    if new is not object.__new__ and not isinstance(new, FunctionType):
        return False
    slots = sum(len(_slots(base)) for base in cls.__mro__)
    of_attributes = POINTER * (slots + 2)  # and `__dict__`, `__weakref__`
    return cls.__itemsize__ == 0 and cls.__basicsize__ <= object.__basicsize__ + of_attributes


def _slots(cls: type) -> tuple[str, ...]:
    named = vars(cls).get("__slots__", ())
    return (named,) if isinstance(named, str) else tuple(named)
