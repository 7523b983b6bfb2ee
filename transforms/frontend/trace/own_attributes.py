"""Reads attributes of the frontend's own objects, which objects of a program may have by chance."""

from __future__ import annotations

from typing import Any

PACKAGE = __name__.split(".")[0] + "."


def own_attribute(value: Any, name: str) -> Any:
    """An attribute of an object that the frontend makes; None of the user's, which may have one of
    this name, or answer to any."""
    return getattr(value, name, None) if type(value).__module__.startswith(PACKAGE) else None
