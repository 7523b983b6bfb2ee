"""Runs shards on threads: all at once, since they meet, and the first error ends all."""

from __future__ import annotations

import contextvars
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from tapeless.backends.spmd.rendezvous import Broken

_idle: dict[int, list[ThreadPoolExecutor]] = defaultdict(list)  # pools by size, each of one call


def run_together(work: Callable[[int], Any], count: int, abort: Callable[[], None]) -> list[Any]:
    """work(0), work(1), ... at once; the first of them in this thread.

    Raises the first error of any of them, after all have ended; `abort` lets those end that wait.
    """
    if count == 1:
        return [work(0)]
    errors: list[BaseException] = []

    def run_task(k: int) -> Any:
        try:
            return work(k)
        except BaseException as e:  # noqa: BLE001 (ends the others, and is raised below)
            errors.append(e)
            abort()
            return None

    with _pool(count - 1, abort) as pool, _one_thread_for_each_product():
        others = [pool.submit(contextvars.copy_context().run, run_task, k) for k in range(1, count)]
        first = run_task(0)
        wait(others)
    if errors:
        raise next((e for e in errors if not isinstance(e, Broken)), errors[0])
    return [first, *(other.result() for other in others)]


@contextmanager
def _pool(size: int, abort: Callable[[], None]) -> Iterator[ThreadPoolExecutor]:
    """Threads that nobody else has: shards that wait for each other must all be running."""
    try:
        pool = _idle[size].pop()
    except IndexError:
        pool = ThreadPoolExecutor(size, "tapeless-shard")
    try:
        yield pool
    except BaseException:  # the caller was interrupted while others work
        abort()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    _idle[size].append(pool)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # threads are not copied with a process

_lock = threading.Lock()
_calls: list[Any] = []  # the limits of the calls that run now; the first was set
_libraries: dict[bool, Any] = {}


@contextmanager
def _one_thread_for_each_product() -> Iterator[None]:
    """BLAS uses one thread for each shard while shards run, as they have the cores already."""
    with _lock:
        _calls.append(None if _calls else _blas().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            if len(_calls) == 1:
                _calls[0].restore_original_limits()
                _calls.clear()
            else:
                _calls.pop()


def _blas() -> Any:
    """The libraries that are loaded; SciPy brings one of its own."""
    import threadpoolctl  # noqa: PLC0415 (takes time to import)

    scipy = "scipy.linalg" in sys.modules
    if scipy not in _libraries:
        _libraries[scipy] = threadpoolctl.ThreadpoolController()
    return _libraries[scipy]
