"""Notes files and folders that are read while a function is staged: the program relies on what they
hold.

Python tells of each that is opened, whoever opens it (audit events, PEP 578): zip files, databases
of SQLite, tables of pandas, memory maps.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from tapeless.transforms.frontend.objects.attributes import watch

OPENED = frozenset({"open", "sqlite3.connect", "os.listdir", "os.scandir"})
WRITES = os.O_WRONLY | os.O_RDWR
#: Source of functions, which is read to stage them.
CODE = (".py", ".pyw")
IMPORTING = "<frozen importlib"  # what Python's own search for modules is told to be a file of
#: paths: what this thread has opened, if that is noted; outside: the frame that wants it noted.
HERE = threading.local()


@contextmanager
def reads_noted() -> Iterator[dict[Any, None]]:
    """Notes the files and folders that this thread opens for reading inside."""
    _listen()
    before: dict[Any, None] | None = getattr(HERE, "paths", None)
    outside = getattr(HERE, "outside", None)
    paths: dict[Any, None] = {}
    HERE.paths, HERE.outside = paths, sys._getframe(2)
    try:
        yield paths
    finally:
        HERE.paths, HERE.outside = before, outside
        if before is not None:
            before.update(paths)


@contextmanager
def reads_not_noted() -> Iterator[None]:
    """Inside, files are opened that the program reads anew at each call."""
    before, HERE.paths = getattr(HERE, "paths", None), None
    try:
        yield
    finally:
        HERE.paths = before


def rely_on(paths: dict[Any, None]) -> None:
    """The program relies on what these files and folders hold."""
    for path in paths:
        if _is_data(path):
            watch(
                os.environ,
                f"the contents of {path!r}",
                functools.partial(_holds, path),
                _holds(path),
            )


@functools.cache
def _listen() -> None:
    sys.addaudithook(_heard)


def _heard(event: str, args: tuple[Any, ...]) -> None:
    if event not in OPENED or getattr(HERE, "paths", None) is None:
        return
    path, *how = args
    if (event == "open" and not _only_reads(*how)) or _imports(sys._getframe(1)):
        return
    if path is None or isinstance(path, (str, bytes, os.PathLike)):
        HERE.paths[os.fsdecode(path or ".")] = None


def _imports(frame: FrameType | None) -> bool:
    """Whether a module is imported: what is read for it, by itself too, later calls do not read."""
    while frame is not None and frame is not HERE.outside:
        if frame.f_code.co_filename.startswith(IMPORTING):
            return True
        frame = frame.f_back
    return False


def _only_reads(mode: Any, flags: Any) -> bool:
    if isinstance(mode, str):
        return not set(mode) & set("wax+")
    return isinstance(flags, int) and not flags & WRITES


def _is_data(path: str) -> bool:
    """Whether a path is one of a file or folder that may change between calls."""
    full = os.path.abspath(path)
    return not full.endswith(CODE) and not full.startswith((*_library_folders(), "/proc/", "/sys/"))


@functools.cache
def _library_folders() -> tuple[str, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple(os.path.join(sysconfig.get_path(name), "") for name in names)


def _holds(path: str) -> Any:
    """What a file or folder holds: a digest, or the names."""
    try:
        if os.path.isdir(path):
            return tuple(sorted(os.listdir(path)))
        if os.path.isfile(path):  # no pipe, which would be read away
            with open(path, "rb") as file:
                return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        pass
    return None  # staging says what is wrong
