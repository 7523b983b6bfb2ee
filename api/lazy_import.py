"""Imports modules when something of them is first used.

    if TYPE_CHECKING:
        from tapeless.staging import subprogram
    else:
        subprogram = later("tapeless.staging.subprogram")

What stages and transforms takes long to import, and a process that finds its functions in the cache
does without it.
"""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any

from tapeless.backends.fork_safe_locks import IMPORTING
from tapeless.backends.postponed_gc import gc_postponed

#: When modules of this package began to be imported.
STARTED = time.time()


class Later:
    """Stands for a module that nobody has needed yet."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: Any = None

    def __getattr__(self, name: str) -> Any:
        if self._module is None:
            self._module = imported(self._name)
        return getattr(self._module, name)

    def __repr__(self) -> str:
        return f"<{self._name}, imported when it is used>"


def imported(name: str) -> Any:
    """A module, imported by one thread and not while the process is copied."""
    if name in sys.modules:
        with IMPORTING:
            return importlib.import_module(name)
    with IMPORTING, gc_postponed():
        return importlib.import_module(name)


def lazy_module(name: str) -> Any:
    """The module of this name, as far as its attributes go."""
    return Later(name)
