"""Starts and stops traces."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tapeless.profiler.chrome import write
from tapeless.profiler.instrumentation import Probes
from tapeless.profiler.recorder import Recorder, record_to
from tapeless.transforms.errors import ArgumentError, UnsupportedError

_lock = threading.Lock()
_open: list[tuple[Path, Probes, bool]] = []


def start_trace(
    log_dir: str | os.PathLike[str],
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: Any = None,
) -> None:
    """Begins to record what tapeless does, in all threads, until `stop_trace`.

    log_dir                a folder for the trace; it is made if there is none
    create_perfetto_link   of JAX; False: open the file at ui.perfetto.dev
    create_perfetto_trace  whether `perfetto_trace.json.gz` is written as well, as JAX names it
    profiler_options       of JAX; None

    Raises RuntimeError where a trace runs already.

    >>> import tempfile
    >>> from tapeless import grad
    >>> folder = tempfile.TemporaryDirectory()
    >>> start_trace(folder.name)
    >>> grad(lambda x: x * x)(3.0)
    6.0
    >>> stop_trace()
    >>> folder.cleanup()
    """
    if create_perfetto_link:
        raise UnsupportedError(
            "start_trace: create_perfetto_link", "open the file that is written at ui.perfetto.dev"
        )
    if profiler_options is not None:
        raise ArgumentError(
            f"start_trace: profiler_options is {profiler_options!r}", "leave it out"
        )
    with _lock:
        if _open:
            raise TraceError("a trace is running already", "end it with stop_trace()")
        recorder = Recorder()
        probes = Probes(recorder)
        probes.install()
        record_to(recorder)
        _open.append((Path(log_dir), probes, create_perfetto_trace))


def stop_trace() -> None:
    """Ends the trace, and writes it.

    `plugins/profile/<time>/<host>.xplane.pb` under the folder is what TensorBoard's profile plugin
    reads, and `<host>.trace.json.gz` what the plugins of older TensorBoards read; `trace.json` next
    to them is the same for ui.perfetto.dev and chrome://tracing.

    Raises RuntimeError where no trace runs.
    """
    with _lock:
        if not _open:
            raise TraceError("no trace is running", "begin one with start_trace(folder)")
        folder, probes, perfetto = _open.pop()
        record_to(None)
        probes.remove()
    write(folder, probes.recorder, perfetto)


class TraceError(ArgumentError, RuntimeError):
    """A trace is begun twice, or ended without having begun."""


@contextmanager
def trace(
    log_dir: str | os.PathLike[str],
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: Any = None,
) -> Iterator[None]:
    """Records what tapeless does inside; the arguments are those of `start_trace`.

    >>> import pathlib, tempfile
    >>> from tapeless import jit
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with trace(folder):
    ...         y = jit(lambda x: x + 1)(1.0)
    ...     sorted(p.name.partition(".")[2] for p in pathlib.Path(folder).rglob("*.json*"))
    ['json', 'trace.json.gz']
    """
    start_trace(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    try:
        yield
    finally:
        stop_trace()
