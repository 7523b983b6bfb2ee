"""Postpones Python's search for unreachable cycles while modules are imported, and functions staged
and compiled: nearly all objects that are made then stay in use, and searching through them again
and again takes a tenth of the time."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Iterator

MANY = 500_000  # new objects, which are searched whatever goes on: garbage does not pile up
MODULES = 40  # that are imported inside: most of the new objects are theirs then, and stay
_lock = threading.Lock()
#: For each block that is under way, the thresholds and the number of modules before.
_open: list[tuple[tuple[int, int, int], int]] = []


@contextlib.contextmanager
def gc_postponed() -> Iterator[None]:
    """Inside, a search begins after many new objects only. After many imports the new objects count
    as old, which only the search through all objects looks at. The last of several threads that
    leave sets back what the first found.

    >>> before = gc.get_threshold()
    >>> with gc_postponed():
    ...     gc.get_threshold()[0]
    500000
    >>> gc.get_threshold() == before
    True
    """
    with _lock:
        _open.append(_open[0] if _open else (gc.get_threshold(), len(sys.modules)))
        most, *older = _open[0][0]
        if most:  # 0: the user has turned it off
            gc.set_threshold(max(most, MANY), *older)
    try:
        yield
    finally:
        with _lock:
            thresholds, modules = _open.pop()
            if not _open:
                if len(sys.modules) - modules >= MODULES and gc.get_freeze_count() == 0:
                    gc.freeze()  # of all generations; what a user froze would not stay so
                    gc.unfreeze()  # as the oldest generation
                gc.set_threshold(*thresholds)
