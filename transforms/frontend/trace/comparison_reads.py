"""Tells which attributes Python's own code reads where it compares, orders or hashes objects of
users' classes: nobody sees these reads, so that they are guarded as a whole.

>>> class Spin:
...     def __eq__(self, other):
...         return self.up == other.up
>>> compared_attributes(Spin)
frozenset({'up'})
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from tapeless.transforms.frontend.trace.plain_objects import is_described
from tapeless.transforms.frontend.trace.readers import AttributeOf, ContentsOf, ValuesOf
from tapeless.transforms.frontend.trace.recorded_reads import SIMPLE, Constants, Guard

#: Methods that builtin functions and containers call without a hook.
COMPARISONS = ("__eq__", "__ne__", "__hash__", "__lt__", "__le__", "__gt__", "__ge__")
MANY = 64  # functions that a comparison calls
#: Names of what reads attributes of which the code does not tell the names.
BY_NAME = frozenset({"vars", "getattr", "__dict__", "astuple", "asdict", "attrgetter"})


@functools.lru_cache(1024)
def compared_attributes(cls: Any) -> frozenset[str] | None:
    """Names that may be attributes which the comparisons of a class read; None if all may be."""
    names: set[str] = set()
    codes: list[CodeType] = []
    if not is_described(cls):
        return frozenset()
    for method in COMPARISONS:
        function = getattr(cls, method, None)
        if isinstance(function, FunctionType):
            _collect(cls, function, names, codes)
    return None if names & BY_NAME or len(codes) > MANY else frozenset(names)


def _collect(cls: Any, function: FunctionType, names: set[str], codes: list[CodeType]) -> None:
    """Adds the names that a function reads, and the functions of the class or module that it
    calls by these names."""
    pending = [function.__code__]
    while pending and len(codes) <= MANY:
        code = pending.pop()
        if code in codes:
            continue
        codes.append(code)
        names.update(code.co_names)
        pending += [c for c in code.co_consts if isinstance(c, CodeType)]
        for name in code.co_names:
            for other in (getattr(cls, name, None), function.__globals__.get(name)):
                other = getattr(other, "fget", other)
                if isinstance(other, FunctionType):
                    _collect(cls, other, names, codes)


def compared_parts(value: Any, is_own: Callable[[Any, str], bool]) -> Iterator[Any]:
    """What comparisons of the value rely on, as guards by their keys.

    is_own(obj, name)  whether the program gave an attribute its value
    """
    pending: list[tuple[Any, frozenset[str] | None]] = [(value, frozenset())]
    seen = set[int]()
    while pending:
        item, names = pending.pop()  # and what comparisons of what it is in read of it
        if isinstance(item, SIMPLE) or id(item) in seen or getattr(item, "tail", None) is not None:
            continue  # what loops put into a list are numbers
        seen.add(id(item))
        if isinstance(item, (list, tuple, set, frozenset)):
            pending += [(x, names) for x in item]
            continue
        if isinstance(item, dict):
            pending += [(x, names) for x in (*item, *item.values())]
            continue
        own = compared_attributes(type(item))  # type: ignore[arg-type]
        names = None if names is None or own is None else names | own
        for name in _attributes(item) if names is None else names:
            part = getattr(item, name, None)
            if callable(part) or not hasattr(item, name):
                continue
            pending.append((part, names))
            if not is_own(item, name):
                label = f"{type(item).__name__}.{name}"
                get: Any = AttributeOf(item, name)
                if isinstance(part, np.ndarray):
                    get, part = ContentsOf(get), ContentsOf(get)()
                yield ("compared", id(item), name), Guard(label, get, part)
                if isinstance(part, (list, dict)):
                    held = ValuesOf(get)
                    yield ("compared in", id(item), name), Constants(label, held, held())


def _attributes(item: Any) -> Iterator[str]:
    yield from getattr(item, "__dict__", ())
    for cls in type(item).__mro__:
        slots = vars(cls).get("__slots__", ())
        yield from (slots,) if isinstance(slots, str) else slots
