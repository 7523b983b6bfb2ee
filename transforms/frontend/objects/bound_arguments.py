"""Reads arguments that a function has before it is called: defaults, and those of
functools.partial.

def f(x, w=np.ones(3)): ...      w is read from f.__defaults__ at each call, as Python does
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.transforms.frontend.objects.capture import CONTAINERS, outer
from tapeless.transforms.frontend.trace.provenance import name_of
from tapeless.transforms.frontend.trace.recorded_reads import is_constant
from tapeless.transforms.frontend.trace.trace import trace
from tapeless.transforms.frontend.values.structure import has_symbols


def defaults(f: types.FunctionType) -> tuple[tuple[Any, ...] | None, dict[str, Any] | None]:
    """What the program sees of the defaults of a function from outside: arrays and containers are
    read anew at each call."""
    values, named = f.__defaults__ or (), f.__kwdefaults__ or {}
    names = f.__code__.co_varnames[: f.__code__.co_argcount][-len(values or (0,)) :]

    def place(attribute: str, key: Any) -> Callable[[], Any]:
        return lambda: getattr(f, attribute)[key]

    seen = tuple(
        _program_value(v, place("__defaults__", k), f"{f.__name__}.{name}")
        for k, (name, v) in enumerate(zip(names, values, strict=False))
    )
    by_name = {
        name: _program_value(v, place("__kwdefaults__", name), f"{f.__name__}.{name}")
        for name, v in named.items()
    }
    return seen or f.__defaults__, by_name or f.__kwdefaults__


def fixed_arguments(f: functools.partial[Any]) -> tuple[list[Any], dict[str, Any]]:
    """The same of the arguments that a partial function has."""
    if trace().birth(f):
        return list(f.args), f.keywords
    name = name_of(f)
    first = [
        _program_value(v, lambda k=k: f.args[k], f"{name}.args[{k}]")  # type: ignore[misc]
        for k, v in enumerate(f.args)
    ]
    named = {
        k: _program_value(v, lambda k=k: f.keywords[k], f"{name}.{k}")  # type: ignore[misc]
        for k, v in f.keywords.items()
    }
    return first, named


def _program_value(value: Any, get: Callable[[], Any], name: str) -> Any:
    """What the program sees of such an argument: what may change in place is read anew."""
    kinds = (np.ndarray, *CONTAINERS)
    if not isinstance(value, kinds) or has_symbols(value) or trace().birth(value):
        return value
    constants = isinstance(value, (tuple, frozenset)) and is_constant((*value,))
    return value if constants else outer(value, get, name)
