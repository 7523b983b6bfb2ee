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
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tapeless.transforms.frontend.trace.own_attributes import own_attribute
from tapeless.transforms.frontend.trace.plain_objects import is_described
from tapeless.transforms.frontend.trace.readers import (
    GONE,
    AttributeOf,
    CellOf,
    ClassEntry,
    ContentsOf,
    KeyOf,
    ValuesOf,
)
from tapeless.transforms.frontend.trace.recorded_reads import SIMPLE, Constants, Guard

#: Methods that builtin functions and containers call without a hook.
COMPARISONS = ("__eq__", "__ne__", "__hash__", "__lt__", "__le__", "__gt__", "__ge__")
MANY = 64  # functions that a comparison calls
#: Names of what reads attributes of which the code does not tell the names.
BY_NAME = frozenset({"vars", "getattr", "__dict__", "astuple", "asdict", "attrgetter"})


def compared_attributes(cls: Any) -> frozenset[str] | None:
    """Names that may be attributes which the comparisons of a class read; None if all may be."""
    codes = [f.__code__ for f in compared_functions(cls)]
    names = {name for code in map(_codes, codes) for c in code for name in c.co_names}
    return None if names & BY_NAME or len(codes) > MANY else frozenset(names)


def compared_functions(cls: Any) -> tuple[FunctionType, ...]:
    """The functions that comparisons of a class run, those of the class or module that they call
    by name among them."""
    if not is_described(cls):
        return ()
    methods = (getattr(cls, method, None) for method in COMPARISONS)
    return _called_functions(cls, tuple(f for f in methods if isinstance(f, FunctionType)))


@functools.lru_cache(1024)
def _called_functions(cls: Any, methods: tuple[FunctionType, ...]) -> tuple[FunctionType, ...]:
    functions: list[FunctionType] = []
    pending = [*methods]
    while pending and len(functions) <= MANY:
        function = pending.pop()
        if function in functions:
            continue
        functions.append(function)
        for name in {name for code in _codes(function.__code__) for name in code.co_names}:
            for other in (getattr(cls, name, None), function.__globals__.get(name)):
                other = getattr(other, "fget", other)
                if isinstance(other, FunctionType):
                    pending.append(other)
    return tuple(functions)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code and those in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def variables(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Variables around a function that it reads, with what reads them."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, CellOf(cell)
    for name in {name for code in _codes(function.__code__) for name in code.co_names}:
        if name in function.__globals__:
            yield name, KeyOf(function.__globals__, name)


def compared_parts(value: Any, is_own: Callable[[Any, str], bool]) -> Iterator[Any]:
    """What comparisons of the value rely on, as guards by their keys.

    is_own(obj, name)  whether the program gave an attribute its value
    """
    pending: list[tuple[Any, frozenset[str] | None]] = [(value, frozenset())]
    seen = set[int]()
    while pending:
        item, names = pending.pop()  # and what comparisons of what it is in read of it
        if isinstance(item, SIMPLE) or id(item) in seen or own_attribute(item, "tail") is not None:
            continue  # what loops put into a list are numbers
        seen.add(id(item))
        if isinstance(item, (list, tuple, set, frozenset)):
            pending += [(x, names) for x in item]
            continue
        if isinstance(item, dict):
            pending += [(x, names) for x in (*item, *item.values())]
            continue
        own = compared_attributes(type(item))
        names = None if names is None or own is None else names | own
        for name in _attributes(item) if names is None else names:
            part = getattr(item, name, None)
            if callable(part) or not hasattr(item, name):
                continue
            pending.append((part, names))
            if not is_own(item, name):
                label = f"{type(item).__name__}.{name}"
                yield from _guards((id(item), name), label, AttributeOf(item, name), part)
        functions = compared_functions(type(item))
        for name in dict.fromkeys((*COMPARISONS, *(f.__name__ for f in functions))):
            if isinstance(getattr(type(item), name, None), FunctionType) and functions:
                entry = ClassEntry(type(item), name)
                yield ("compared by", type(item), name), Guard(name, entry, entry())
        for function in functions:
            for name, get in variables(function):
                try:
                    part = get()
                except GONE:
                    continue
                if not isinstance(part, ModuleType):
                    yield from _guards((id(function), name), name, get, part)


def _guards(key: Any, label: str, get: Any, part: Any) -> Iterator[Any]:
    if isinstance(part, np.ndarray):
        get, part = ContentsOf(get), ContentsOf(get)()
    yield ("compared", *key), Guard(label, get, part)
    if isinstance(part, (list, dict)):
        held = ValuesOf(get)
        yield ("compared in", *key), Constants(label, held, held())


def _attributes(item: Any) -> Iterator[str]:
    yield from getattr(item, "__dict__", ())
    for cls in type(item).__mro__:
        slots = vars(cls).get("__slots__", ())
        yield from (slots,) if isinstance(slots, str) else slots
