"""Calls user code from our own: through the hooks while staging, so that it may branch."""

from __future__ import annotations

from types import FunctionType
from typing import Any, cast

from tapeless.transforms.core.builder import active
from tapeless.transforms.frontend.hooks.hooks import Hooks


def call_user(fun: Any, /, *args: Any, **kwargs: Any) -> Any:
    """fun(*args, **kwargs)."""
    if not active():
        return fun(*args, **kwargs)
    return Hooks(cast("FunctionType", _calling_function)).call(fun, *args, **kwargs)


def _calling_function() -> None:
    """Stands in for the calling function where hooks are used without one."""
