"""Records the spans of a trace: what was done, when, and in which thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

MOST = 1_000_000  # spans; later ones are counted, not kept


@dataclass(frozen=True)
class TimeSpan:
    """Something that took time; nanoseconds of `time.perf_counter_ns`."""

    name: str
    category: str
    start: int
    stop: int
    thread: int  # its number in the trace
    about: dict[str, Any] = field(default_factory=dict)


class Recorder:
    """The spans of one trace. Threads may add to it at the same time."""

    def __init__(self) -> None:
        self.start = time.perf_counter_ns()
        self.spans: list[TimeSpan] = []
        self.threads: list[str] = []  # the names of those that did something
        self.mine = threading.local()  # the number of a thread: its id is free again when it ends
        self.lock = threading.Lock()
        self.dropped = 0

    def add(self, name: str, category: str, start: int, about: dict[str, Any]) -> None:
        """A span that ends now."""
        stop = time.perf_counter_ns()
        if len(self.spans) < MOST:
            self.spans.append(TimeSpan(name, category, start, stop, self.thread(), about))
        else:
            self.dropped += 1

    def thread(self) -> int:
        """The number of the thread that asks."""
        if not hasattr(self.mine, "number"):
            with self.lock:
                self.mine.number = len(self.threads)
                self.threads.append(threading.current_thread().name)
        return int(self.mine.number)

    @contextmanager
    def span(self, name: str, category: str, **about: Any) -> Iterator[None]:
        start = time.perf_counter_ns()
        try:
            yield
        finally:
            self.add(name, category, start, about)


_now: list[Recorder] = []


def recorder() -> Recorder | None:
    """What records now; None while no trace runs."""
    return _now[0] if _now else None


def record_to(new: Recorder | None) -> None:
    _now[:] = [] if new is None else [new]
