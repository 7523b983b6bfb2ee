"""Variables of the environment that a staged run reads: they are looked at again at each call."""

from __future__ import annotations

import os
from typing import Any

from tapeless.transforms.frontend.attributes import watch

GETTERS = (os.getenv, type(os.environ).get, type(os.environ).__getitem__)


def reads_environment(f: Any) -> bool:
    """Whether a function gives the value of a variable of the environment."""
    return any(getattr(f, "__func__", f) is g for g in GETTERS)


def watched(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What it gives; the program relies on that."""
    found = f(*args, **kwargs)
    watch(os.environ, f"{f.__name__}{args[-2:]}", lambda: f(*args, **kwargs), found)
    return found
