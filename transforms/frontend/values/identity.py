"""Tells whether two objects of the user's are so much alike that one can stand for both."""

from __future__ import annotations

from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np
from optree import PyTreeSpec

from tapeless.transforms.frontend.source.tree_building import HOOKS

NUMBERS = (bool, int, float, complex, np.generic)
#: Equal ones of these are as good as one.
VALUES = (str, bytes, type(None), type(Ellipsis), slice, range, np.dtype, frozenset, PyTreeSpec)


class Variables:
    """The local variables of one call: those of two calls are the same if they hold the same."""


def is_same(a: Any, b: Any) -> bool:
    """Whether `a` and `b` are one object, equal values, or functions that do the same."""
    return _are_same(a, b, set())


def _are_same(a: Any, b: Any, assumed: set[tuple[int, int]]) -> bool:
    if a is b or (id(a), id(b)) in assumed:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, VALUES):
        return bool(a == b)
    assumed.add((id(a), id(b)))  # functions may see themselves
    if isinstance(a, MethodType):
        return a.__self__ is b.__self__ and _are_same(a.__func__, b.__func__, assumed)
    if isinstance(a, FunctionType):
        return a.__code__ is b.__code__ and _all_same(_seen_by(a), _seen_by(b), assumed)
    return False


def _seen_by(f: FunctionType) -> dict[Any, Any]:
    """The defaults of a function, and the contents of its cells."""
    captured: dict[Any, Any] = dict(enumerate(f.__defaults__ or ()))
    captured |= f.__kwdefaults__ or {}
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        content = _contents(cell)
        content = content.function if name == HOOKS else content  # through which it reads names
        captured |= {name: content} if content is not cell else {(name, "empty"): None}
    return captured


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return cell


def _all_same(a: dict[Any, Any], b: dict[Any, Any], assumed: set[tuple[int, int]]) -> bool:
    """Whether functions see the same: numbers by their values, variables by what they hold."""
    return a.keys() == b.keys() and all(_seen_same(v, b[k], assumed) for k, v in a.items())


def _seen_same(p: Any, q: Any, assumed: set[tuple[int, int]]) -> bool:
    if isinstance(p, NUMBERS) and type(p) is type(q):
        return bool(p == q)
    if isinstance(p, Variables) and isinstance(q, Variables):
        if p is q or (id(p), id(q)) in assumed:
            return True
        assumed.add((id(p), id(q)))
        return _all_same(vars(p), vars(q), assumed)
    return _are_same(p, q, assumed)
