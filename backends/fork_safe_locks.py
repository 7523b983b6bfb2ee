"""Takes locks in one order while a process is copied, so that nobody holds one in the copy.

A copy has only the thread that made it: it would wait for ever for a lock that another one held, or
for a module that another one was importing.
"""

from __future__ import annotations

import os
import threading

STAGING = threading.RLock()  # a staged run writes to outer objects and takes it back
SHARING = threading.RLock()  # of what transformed functions are found by
COMPILING = threading.RLock()  # one compilation at a time
IMPORTING = threading.RLock()  # of modules of this package that are needed late
ORDER = (STAGING, SHARING, COMPILING, IMPORTING)


def _take() -> None:
    for lock in ORDER:
        lock.acquire()


def _leave() -> None:
    for lock in reversed(ORDER):
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take, after_in_parent=_leave, after_in_child=_leave)
