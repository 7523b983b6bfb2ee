"""Kernels over parts of arrays, by several threads.

The rows of the arrays (their first axes) are cut into parts whose sizes follow from the shapes
alone, so a result has the same bits whatever the number of threads: TAPELESS_NUM_THREADS, or the
cores that the process may use. Small arrays are not cut.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeless.backends.numba.kernel import Kernel

PART = 1 << 17  # numbers in a part; handing one to another thread takes as long as a tenth of it
ROWS = 64  # parts of more rows have a multiple of these, for vectors of all widths

Whole = tuple[Any, ...]
Function = Callable[..., Any]


def in_parallel(kernel: Function, *views: Any, whole: Whole = (), work: float = 1) -> None:
    """Runs a kernel over all rows of the views.

    kernel  a function of the views, then of what is whole
    views   arrays with first axes of one length, of which the kernel gets the same rows; numbers
    whole   arguments that each call gets as they are
    work    how much is done for a number, compared with an addition
    """
    rows, count = cut(kernel, views, work)
    if count < 2:
        kernel(*views, *whole)
    else:
        share(_on_parts(kernel, views, whole, rows), count)


def partials(kernel: Function, *views: Any, whole: Whole = (), work: float = 1) -> list[Any]:
    """What a kernel returns for each part of the rows of the views, in order."""
    rows, count = cut(kernel, views, work)
    if count < 2:
        return [kernel(*views, *whole)]
    return share(_on_parts(kernel, views, whole, rows), count)


def accumulated(
    kernel: Function, out: Any, *views: Any, whole: Whole = (), work: float = 1
) -> None:
    """Runs a kernel that adds to its last argument. Each part adds to zeros of its own, which are
    added to `out` in order."""
    rows, count = cut(kernel, views, work, least=16 * out.size)
    if count < 2:
        kernel(*views, *whole, out)
        return
    sums = [np.zeros_like(out) for _ in range(count)]
    each = _on_parts(kernel, views, whole, rows)
    share(lambda k: each(k, sums[k]), count)
    for part in sums:
        out += part


def cut(kernel: Function, views: tuple[Any, ...], work: float, least: int = 0) -> tuple[int, int]:
    """Rows in a part, and the number of parts."""
    if isinstance(kernel, Kernel):
        kernel.split = True  # now or at another size: one compilation serves both
    size, length = 0, 0
    for x in views:
        if isinstance(x, np.ndarray) and x.ndim:
            size, length = max(size, x.size), x.shape[0]
    part = max(PART / work, least)
    if size <= part or length < 2:
        return length, 1
    rows = max(1, int(part * length / size))
    rows -= rows % ROWS if rows > ROWS else 0
    return rows, -(-length // rows)


def _on_parts(kernel: Function, views: Any, whole: Whole, rows: int) -> Function:
    """The kernel as a function of the number of a part."""
    lengths = {x.shape[0] for x in views if isinstance(x, np.ndarray) and x.ndim}
    if len(lengths) > 1:
        raise ValueError(f"views of a kernel have first axes of lengths {sorted(lengths)}")

    def run(k: int, *more: Any) -> Any:
        at = slice(k * rows, (k + 1) * rows)
        parts = [x[at] if isinstance(x, np.ndarray) and x.ndim else x for x in views]
        return kernel(*parts, *whole, *more)

    return run


# -- threads


def threads() -> int:
    """How many threads may work at a time."""
    given = os.environ.get("TAPELESS_NUM_THREADS", "")
    if given.isdecimal() and int(given):
        return int(given)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def share(task: Callable[[int], Any], count: int) -> list[Any]:
    """[task(0), task(1), ...]: the caller and idle threads each take the next one. Of several
    errors, the first in this order is raised."""
    job = Job(task, count)
    helpers = min(threads(), count) - 1
    if helpers:
        _team.call(job, helpers)
    try:
        job.work()
    finally:
        job.close()
    for k in sorted(job.errors):
        raise job.errors[k]
    return job.results


class Job:
    """Tasks that are taken one after another by whoever is free. The caller works too, so it never
    waits for a thread that has not begun: nesting and many callers cannot block each other."""

    def __init__(self, task: Callable[[int], Any], count: int) -> None:
        self.task, self.count = task, count
        self.next = itertools.count().__next__
        self.results: list[Any] = [None] * count
        self.errors: dict[int, BaseException] = {}
        self.open, self.busy = True, 0
        self.changed = threading.Condition()

    def help(self) -> None:
        """What a thread of the team does."""
        with self.changed:
            if not self.open:
                return
            self.busy += 1
        self.work()
        with self.changed:
            self.busy -= 1
            self.changed.notify_all()

    def work(self) -> None:
        """Takes tasks until there are none, or one has failed."""
        while not self.errors and (k := self.next()) < self.count:
            try:
                self.results[k] = self.task(k)
            except BaseException as e:  # noqa: BLE001  # the caller raises it
                self.errors[k] = e

    def close(self) -> None:
        """Waits for those who help; others need not begin."""
        with self.changed:
            self.open = False
            while self.busy:
                self.changed.wait()


class Team:
    """Threads that wait for jobs, started when they are first needed."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self.size, self.lock = 0, threading.Lock()

    def call(self, job: Job, helpers: int) -> None:
        """Asks so many threads to help."""
        with self.lock:
            while self.size < helpers:
                self.size += 1
                name = f"tapeless-{self.size}"
                threading.Thread(target=self.serve, name=name, daemon=True).start()
        for _ in range(helpers):
            self.jobs.put(job)

    def serve(self) -> None:
        while True:
            self.jobs.get().help()


_team = Team()


def _after_fork() -> None:
    """Threads are not copied with a process."""
    global _team
    _team = Team()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
