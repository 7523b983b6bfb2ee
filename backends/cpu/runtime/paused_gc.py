"""Python's search for objects that only refer to each other, put off while a kernel is compiled:
Numba makes a million objects that are all in use, and the search takes a tenth of its time."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

_lock = threading.Lock()
_open: list[bool] = []  # for each compilation that is under way, whether the search was on before


@contextlib.contextmanager
def gc_paused() -> Iterator[None]:
    """The last of several threads that leave turns the search on, if the first found it so.

    >>> with gc_paused():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    with _lock:
        _open.append(_open[0] if _open else gc.isenabled())
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            if _open.pop() and not _open:
                gc.enable()
