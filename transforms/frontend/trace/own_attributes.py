"""Reads attributes of the frontend's own objects, which objects of a program may have by chance."""

from __future__ import annotations

import functools
from typing import Any

PACKAGE = __name__.split(".")[0] + "."


def own_attribute(value: Any, name: str) -> Any:
    """An attribute of an object that the frontend makes; None of the user's, which may have one of
    this name, or answer to any."""
    return getattr(value, name, None) if is_own_class(type(value)) else None


def is_own_class(kind: type) -> bool:
    """Whether a class is one of the package, or made from one."""
    return _is_own(kind)


@functools.lru_cache(maxsize=4096)
def _is_own(kind: type) -> bool:
    return any(str(base.__module__).startswith(PACKAGE) for base in kind.__mro__)
