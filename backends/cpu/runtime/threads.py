"""Runs kernels for parts of the rows in several threads.

The rows are cut into parts whose sizes follow from the work alone, so a result has the same bits
whatever the number of threads: TAPELESS_NUM_THREADS, or the cores that the process may use. What is
little work is not cut.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

PART = 1 << 20  # additions in a part, which take some 10 to 50 µs
FEWEST = 16  # parts that are worth a second thread, which begins and ends in 20 to 50 µs
MOST = 64  # parts, so that they cost little for what is large
ROWS = 64  # parts of more rows have a multiple of these, for vectors of all widths
SHARE = 16  # a part does so many additions for each number that is put together afterwards

Arrays = tuple[np.ndarray[Any, Any], ...]
JOIN: dict[str, np.ufunc] = {
    "sum": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "any": np.logical_or,
    "all": np.logical_and,
}


def in_parallel(
    kernel: Callable[..., Any],
    rows: int,
    work: int,
    *args: Any,
    own: Arrays = (),
    sums: Arrays = (),
    join: str = "",
) -> Any:
    """Calls a kernel for all rows; threads share them where there is much to do.

    kernel  a function of the first row, the one after the last, and what follows here
    rows    how many there are
    work    how much is done for one, in additions
    args    what each call gets as it is
    own     arrays that hold what belongs to one row: each call gets its own
    sums    arrays that each call makes anew, for its rows; they are put together in order
    join    how these, and then the numbers that calls return, are put together: words of `JOIN`, or
            "first" for numbers that all calls return alike
    """
    size = cut(rows, work, sums)
    together = not sums and join in ("", "first")  # parts need not be put together
    if size >= rows or (together and threads() == 1):
        return kernel(0, rows, *args, *own, *sums)

    sums_of_parts: list[Arrays] = [sums]
    sums_of_parts += [tuple(map(np.empty_like, sums)) for _ in range(size, rows, size)]

    def part(k: int) -> Any:
        first = k * size
        mine = own if k == 0 else map(np.empty_like, own)
        return kernel(first, min(first + size, rows), *args, *mine, *sums_of_parts[k])

    results = share(part, len(sums_of_parts))
    words = join.split()
    for word, total, *others in zip(words, *sums_of_parts, strict=False):
        for other in others:
            JOIN[word](total, other, out=total)
    return _join_results(words[len(sums) :], results)


def cut(rows: int, work: int, sums: Arrays = ()) -> int:
    """The number of rows in a part."""
    total = rows * work
    if total < FEWEST * PART:
        return rows
    part = max(PART, total // MOST, SHARE * sum(x.size for x in sums))
    size = max(1, part // work)
    return size - size % ROWS if size > ROWS else size


def _join_results(words: Sequence[str], results: list[Any]) -> Any:
    """What the kernel returns for all rows, from what it returned for parts."""
    if not words:
        return None
    if len(words) == 1:
        return _join_values(words[0], results)
    return tuple(map(_join_values, words, zip(*results, strict=True)))


def _join_values(word: str, values: Sequence[Any]) -> Any:
    if word == "first":
        return values[0]
    with np.errstate(all="ignore"):
        return type(values[0])(JOIN[word].reduce(np.asarray(values)))


# -- threads


def threads() -> int:
    """How many threads may work at a time."""
    setting = os.environ.get("TAPELESS_NUM_THREADS", "")
    if setting.isdecimal() and int(setting):
        return int(setting)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def share(task: Callable[[int], Any], count: int) -> list[Any]:
    """[task(0), task(1), ...]: the caller and idle threads each take the next one. Of several
    errors, the first in this order is raised."""
    job = TaskQueue(task, count)
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


class TaskQueue:
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


class ThreadTeam:
    """Threads that wait for jobs, started when they are first needed."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[TaskQueue] = queue.SimpleQueue()
        self.size, self.lock = 0, threading.Lock()

    def call(self, job: TaskQueue, helpers: int) -> None:
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


_team = ThreadTeam()


def _after_fork() -> None:
    """Threads are not copied with a process."""
    global _team
    _team = ThreadTeam()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
