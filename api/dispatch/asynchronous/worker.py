"""Runs calls one after another in a thread of their own.

call = Call(work)
call.for_results(results)      which are filled with what work() gives, one after another
submit(call)                   returns at once
call.result()                  waits, and raises what `work` raised

Leaving the interpreter waits for all calls, and so does copying the process.
"""

from __future__ import annotations

import atexit
import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any
from weakref import ref

from tapeless.transforms.errors import TapelessError

MOST = 32  # calls that have not been done: who hands over more waits for the first of them


class ForkedError(TapelessError, RuntimeError):
    """A call was left to the process that this one is a copy of."""


class OwnResultError(TapelessError, RuntimeError):
    """A result is needed for what it is computed from."""


class PendingCall:
    """One call: what is to be done, in the context of the caller, and who waits for it."""

    def __init__(self, work: Callable[[], Iterable[Any]], calls_python: bool = False) -> None:
        self.work: Callable[[], Iterable[Any]] | None = work
        self.calls_python = calls_python
        self.context = contextvars.copy_context()
        self.results: list[ref[Any]] = []
        self.finished = self.told = False
        self.error: BaseException | None = None
        self.traceback: TracebackType | None = None  # without the frames of those who look
        self.done = threading.Lock()
        self.done.acquire()

    def for_results(self, results: Iterable[Any]) -> None:
        """Says what is filled; what nobody has any more is not."""
        self.results = [ref(x) for x in results]

    def perform(self) -> None:
        """Does the work, and gives the results what was computed."""
        try:
            assert self.work is not None
            for result, value in zip(self.results, self.context.run(self.work), strict=True):
                if (waiting := result()) is not None:
                    waiting.fill(value)
        except BaseException as e:  # noqa: BLE001 (raised where a result is looked at)
            self.fail(e)
        else:
            self.finish()

    def fail(self, error: BaseException) -> None:
        """Says what is raised where a result is looked at."""
        if error.__traceback__ is not None:  # its first frame is of `perform`, which holds this
            self.traceback = error.__traceback__.tb_next
        self.error = error.with_traceback(self.traceback)
        self.finish()

    def finish(self) -> None:
        self.work, self.results, self.finished = None, [], True
        self.done.release()

    def wait(self) -> None:
        """Returns when it is done, well or not. The thread that does the calls does others
        meanwhile: the function of a callback may look at what stands behind its own call."""
        while not self.finished and _worker.is_here():
            _worker.next().perform()
        if not self.finished:
            with self.done:
                pass

    def result(self) -> None:
        """Waits until it is done; raises what it raised."""
        if not self.finished:
            self.wait()
        if self.error is not None:
            self.told = True
            raise self.error.with_traceback(self.traceback)

    def __del__(self) -> None:
        """An error that nobody has seen is told as Python tells errors of finalisers."""
        if self.error is not None and not self.told:
            raise self.error


class Worker:
    """The thread, which is started when it is first needed, and the calls that it has to do."""

    def __init__(self) -> None:
        self.calls: SimpleQueue[PendingCall] = SimpleQueue()
        self.given: deque[PendingCall] = deque()  # those that may not have been done
        self.thread: threading.Thread | None = None

    def is_here(self) -> bool:
        """Whether this is the thread that does the calls."""
        return self.thread is not None and self.thread.ident == threading.get_ident()

    def start(self) -> None:
        if self.thread is None:
            self.thread = threading.Thread(target=self.serve, name="tapeless-calls", daemon=True)
            self.thread.start()

    def serve(self) -> None:
        while True:
            self.calls.get().perform()
            while self.given and self.given[0].finished:
                self.given.popleft()

    def next(self) -> PendingCall:
        """The next call, for a function that one of them has called."""
        try:
            return self.calls.get(block=False)
        except Empty:
            raise OwnResultError(
                "a callback looks at the result of the call that it belongs to",
                "give it what it needs as an argument",
            ) from None

    def take(self, call: PendingCall) -> None:
        """Does a call after those that were given before."""
        self.start()
        self.given.append(call)
        self.calls.put(call)


_worker = Worker()
ENABLED = [True]
LENDING = threading.RLock()  # arrays are lent in the order in which calls are made


def enable(on: bool) -> None:
    """Whether calls are handed over from now on; those that were are done in any case."""
    ENABLED[0] = on


def is_here() -> bool:
    """Whether the caller is the thread that does the calls: a function that one has called."""
    return _worker.is_here()


def submit(call: PendingCall) -> None:
    """Has a call done by the thread; the caller holds `LENDING`."""
    _worker.take(call)


def make_room() -> None:
    """Waits while many calls are to be done: each keeps its arguments alive."""
    submitted = [*_worker.given]
    if len(submitted) >= MOST:
        submitted[-MOST].wait()


def wait_for_all() -> None:
    """Waits until all calls are done. Errors remain for those who look at the results."""
    _wait(lambda call: True)


def wait_for_callbacks() -> None:
    """Waits for calls that call Python functions: these may need what the caller is about to hold,
    as the lock of staged runs."""
    _wait(lambda call: call.calls_python)


def _wait(chosen: Callable[[PendingCall], bool]) -> None:
    if _worker.is_here():  # which would wait for itself
        return
    for call in [*_worker.given]:
        if chosen(call):
            call.wait()


# -- the ends of a process, and copies of it


def _before_fork() -> None:
    LENDING.acquire()
    wait_for_all()


def _after_fork_in_child() -> None:
    """Threads are not copied: what a callback has left undone is done by the other process."""
    global _worker
    submitted, _worker = _worker.given, Worker()
    LENDING.release()
    for call in submitted:
        if not call.finished:
            what = "the array is computed by the process that this one was forked from"
            call.fail(ForkedError(what, "look at it before os.fork()"))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=LENDING.release,
        after_in_child=_after_fork_in_child,
    )
atexit.register(wait_for_all)
