"""Writes the structure and types of arguments as text that is the same in all processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless import tree
from tapeless.dispatch.specialisation import leaf_key
from tapeless.transforms.frontend.trace.plain_objects import is_plain_object

CONSTANTS = frozenset({bool, int, float, complex, str, bytes, type(None)})


class NoSignatureError(Exception):
    """Something that is not described: nothing is kept of such a function."""


def literal(value: Any) -> str:
    """A constant as text from which `ast.literal_eval` makes it again."""
    text = repr(value)
    finite = type(value) not in (float, complex) or np.isfinite(value)
    if type(value) is tuple:
        for part in value:
            literal(part)
    elif type(value) not in CONSTANTS or not finite:
        raise NoSignatureError(f"the constant {text}")
    return text


def refuse_object(x: Any) -> str:
    kind = x if isinstance(x, type) else type(x)
    raise NoSignatureError(f"an argument of type {kind.__name__}")


def signature(value: Any, describe: Callable[[Any], str] = refuse_object) -> str:
    """The containers of an argument, in order, and the keys of its leaves; `describe` tells objects
    of users' classes, and the classes of those with fields."""
    kind = type(value)
    if value is None:
        return "None"
    if kind in (tuple, list):
        return f"{kind.__name__}({', '.join(signature(v, describe) for v in value)})"
    if kind is dict:
        if not all(type(k) in (str, int) for k in value):
            raise NoSignatureError("a dict with other keys than text and integers")
        return "{" + ", ".join(f"{k!r}: {signature(v, describe)}" for k, v in value.items()) + "}"
    key = leaf_key(value)
    if isinstance(key, type):
        return f"{key.__module__}.{key.__name__}"
    if kind is np.ndarray and isinstance(key, tuple):
        return f"{key[0].str}{key[1:]}"
    if kind in (str, bytes, bool):
        return f"{kind.__name__} {value!r}"
    names = getattr(kind, "_fields", None) if isinstance(value, tuple) else tree.fields(kind)
    if is_plain_object(value):
        return describe(value)
    if names is None:
        raise NoSignatureError(f"an argument of type {kind.__name__}")
    parts = (f"{name}={signature(getattr(value, name), describe)}" for name in names)
    return f"{describe(kind)}({', '.join(parts)})"
